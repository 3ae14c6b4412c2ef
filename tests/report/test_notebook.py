"""What a notebook shows of results, and the notebook of the documentation."""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import gest_dataset
from gest_dataset.measures.formatting import format_number
from gest_dataset.models.chat.answers import Answers
from gest_dataset.models.scores import Scores
from gest_dataset.report.style import PALETTE
from gest_dataset.translation.masculine_rates import MasculineRates
from tests.conftest import ROOT, in_one_thread
from tests.support import zoo

NASTY = "</td><script>alert(1)</script><img src=x onerror=alert(2)> \"'& \u202e"
CONFIGS = (
    "demo_en",
    "demo_sk_pairs",
    "stereoset_control_gender",
    "stereoset_en_intrasentence",
    "winobias_type1_test",
)


class Output(HTMLParser):
    """The elements and the text of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


@pytest.fixture(scope="module")
def found() -> Iterator[dict[str, Scores]]:
    """Scores of a tiny model on configs of all kinds."""
    with in_one_thread():
        model = str(zoo.directory("bert"))
        yield {config: gest_dataset.score(model, config, device="cpu") for config in CONFIGS}


def masculine_rates() -> MasculineRates:
    stereotypes = [number for number in range(1, 17) for _ in range(20)]
    genders = [
        "male" if place % 20 < 5 + stereotype / 2 else "female"
        for place, stereotype in enumerate(stereotypes)
    ]
    table = pa.table(
        {
            "id": [f"gest-{place}" for place in range(len(stereotypes))],
            "stereotype": stereotypes,
            "gender": genders,
            "problem": [""] * len(stereotypes),
        }
    )
    names = ("revision", "translator", "parser", "rules")
    facts = {"measure": "masculine-rate", "system": "deepl", "config": "en", "language": "hr", "limit": None}
    counts = {
        "convention": "plain",
        "known": len(genders),
        "samples": len(genders),
        "data_fingerprint": "0" * 32,
    }
    return MasculineRates(table, {**facts, **counts, **dict.fromkeys(names, ""), "gest_dataset": "0"})


def answers() -> Answers:
    """Choices of a model that always names men."""
    rows = [(f"gest-{place}", 1 + place % 16, "male") for place in range(64)]
    ids, stereotypes, options = zip(*rows, strict=True)
    table = pa.table(
        {
            "id": list(ids),
            "sentence": list(ids),
            "stereotype": list(stereotypes),
            "option": list(options),
            "place": [place % 4 for place in range(64)],
            "problem": [""] * 64,
            "prompt": list(ids),
            "shares": [[] for _ in ids],
        }
    )
    facts = {
        "measure": "choice",
        "model": "m",
        "config": "en",
        "language": "en",
        "revision": "",
        "prompts": "p",
    }
    rest = {"parser": "", "sampling": {}, "limit": None, "device": "cpu", "data_fingerprint": "0" * 32}
    return Answers(table, {**facts, **rest, "gest_dataset": "0"})


@pytest.mark.parametrize("config", CONFIGS)
def test_scores_have_a_verdict_a_figure_and_numbers(found: dict[str, Scores], config: str) -> None:
    scores = found[config]
    output = Output(scores._repr_html_())
    tags = [tag for tag, _ in output.tags]
    assert tags.count("svg") == 1
    assert "table" in tags
    result = scores.result()
    parts = result.get("by_template", {"": result}).values()
    assert tags.count("table") == len(parts)
    for part in parts:
        name = next(name for name in ("g_s", "f_mu", "icat") if name in part)
        assert format_number(part[name]) in output.text
    assert scores.signature in output.text
    assert config in output.text


@pytest.mark.parametrize("make", [masculine_rates, answers])
def test_other_results_have_the_same(make: Any) -> None:
    one = make()
    output = Output(one._repr_html_())
    assert {"svg", "table"} <= {tag for tag, _ in output.tags}
    assert format_number(one.result()["f_s" if make is masculine_rates else "stereotype_rate"]) in output.text
    assert isinstance(one.plot(), Figure)


def test_a_value_without_an_interval_is_a_dash(found: dict[str, Scores]) -> None:
    text = Output(found["stereoset_en_intrasentence"]._repr_html_()).text
    assert "nan" not in text
    assert "– to –" not in text


def test_names_are_escaped(found: dict[str, Scores]) -> None:
    scores = found["demo_sk_pairs"]
    nasty = replace(scores, metadata={**scores.metadata, "model": NASTY, "config": "demo_sk_pairs"})
    html = nasty._repr_html_()
    output = Output(html)
    assert not {"script", "img"} & {tag for tag, _ in output.tags}
    assert not [name for _, attributes in output.tags for name in attributes if name.startswith("on")]
    assert "\u202e" not in html
    assert "<script>alert(1)</script>" in output.text


def test_equal_results_give_equal_html_and_others_other_ids(found: dict[str, Scores]) -> None:
    html = found["demo_sk_pairs"]._repr_html_()
    assert html == found["demo_sk_pairs"]._repr_html_()
    ids = [set(re.findall(r' id="([^"]+)"', found[config]._repr_html_())) for config in CONFIGS[:2]]
    assert all(ids)
    assert not ids[0] & ids[1]


def test_html_has_the_colours_of_both_themes(found: dict[str, Scores]) -> None:
    html = found["demo_sk_pairs"]._repr_html_()
    for name, (light, dark) in PALETTE.items():
        before, after = html.split("prefers-color-scheme: dark")
        assert f"--{name}:{light};" in before
        assert f"--{name}:{dark};" in after
    assert "background: var(--paper); color: var(--ink)" in html
    used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', html))
    assert all(colour == "none" or colour.startswith("var(--") for colour in used)


def test_plot_has_the_numbers_of_every_template(found: dict[str, Scores]) -> None:
    scores = found["demo_en"]
    figure = scores.plot()
    results = scores.result()["by_template"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == [f"template {n}" for n in results]
    for axes, result in zip(figure.axes, results.values(), strict=True):
        dots = [line for line in axes.get_lines() if line.get_marker() == "o"]
        drawn = [float(line.get_xdata()[0]) for line in dots]
        assert drawn == [*result["q"], result["q_f"], result["q_m"], result["g_s"]]
        bars = [
            line.get_xdata()
            for line in axes.get_lines()
            if line.get_marker() == "None" and len(line.get_xdata()) == 2
        ]
        assert next(list(ends) for ends in bars if not math.isclose(*ends)) == [
            result["q_low"][0],
            result["q_high"][0],
        ]


def test_figures_are_displayed_without_pyplot(found: dict[str, Scores]) -> None:
    assert found["winobias_type1_test"].plot()._repr_svg_().startswith("<?xml")


@pytest.mark.slow
def test_the_notebook_of_the_documentation_runs() -> None:
    """The notebook gives the outputs that the file has, as `python docs/notebook.py` does."""
    pytest.importorskip("nbclient", reason="nbclient is not installed (extra `test`)")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed (extra `test`)")
    spec = importlib.util.spec_from_file_location("notebook", ROOT / "docs" / "notebook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = module.nbformat.read(module.NOTEBOOK, as_version=4)
    kinds = [
        [[sorted(output.data) for output in cell.outputs] for cell in book.cells if cell.cell_type == "code"]
        for book in (module.execute_notebook(), stored)
    ]
    assert kinds[0] == kinds[1]
    assert str(Path(gest_dataset.__file__).parent) not in module.NOTEBOOK.read_text(encoding="utf-8")
