"""What a notebook shows of results, and the notebook of the documentation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import gest_dataset
from gest_dataset.measures.formatting import format_number
from gest_dataset.models.score_run import Scores
from tests.conftest import ROOT, in_one_thread
from tests.support import zoo
from tests.support.modules import load_script

NASTY = "</td><script>alert(1)</script><img src=x onerror=alert(2)> \"'& \u202e"
CONFIGS = (
    "demo_en",
    "demo_sk_pairs",
    "stereoset_control_gender",
    "stereoset_en_intrasentence",
)


@pytest.fixture(scope="module")
def found() -> Iterator[dict[str, Scores]]:
    """Scores of a tiny model on configs of all kinds."""
    with in_one_thread():
        model = str(zoo.directory("bert"))
        yield {config: gest_dataset.score(model, config, device="cpu") for config in CONFIGS}


@pytest.mark.parametrize("config", CONFIGS)
def test_scores_have_a_verdict_a_figure_and_numbers(found: dict[str, Scores], config: str) -> None:
    scores = found[config]
    html = scores._repr_html_()
    result = scores.result()
    parts = result.get("by_template", {"": result}).values()
    assert html.count("<svg") == 1
    assert html.count("<table>") == len(parts)
    for part in parts:
        name = next(name for name in ("g_s", "f_mu", "icat") if name in part)
        assert f"<td>{format_number(part[name])}</td>" in html
    assert scores.signature in html.replace("&#34;", '"')
    assert "nan" not in re.sub("<svg.*</svg>", "", html, flags=re.DOTALL)
    assert scores.plot()._repr_svg_().startswith("<?xml")


def test_names_are_escaped(found: dict[str, Scores]) -> None:
    scores = found["demo_sk_pairs"]
    nasty = replace(scores, metadata={**scores.metadata, "model": NASTY, "config": "demo_sk_pairs"})
    html = nasty._repr_html_()
    assert not re.search("<script|<img", html)
    assert "\u202e" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_plot_has_the_numbers_of_every_template(found: dict[str, Scores]) -> None:
    scores = found["demo_en"]
    figure = scores.plot()
    results = scores.result()["by_template"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == [f"template {n}" for n in results]
    for axes, result in zip(figure.axes, results.values(), strict=True):
        dots = [line for line in axes.get_lines() if line.get_marker() == "o"]
        drawn = [float(line.get_xdata()[0]) for line in dots]
        middle = math.sqrt(result["q_f"] * result["q_m"])
        assert drawn == pytest.approx([q / middle for q in result["q"]])


@pytest.mark.slow
def test_the_notebook_of_the_documentation_runs() -> None:
    """The notebook gives the outputs that the file has, as `python docs/notebook.py` does."""
    pytest.importorskip("nbclient", reason="nbclient is not installed (extra `test`)")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed (extra `test`)")
    module = load_script(ROOT / "docs" / "notebook.py")
    stored = module.nbformat.read(module.NOTEBOOK, as_version=4)
    kinds = [
        [[sorted(output.data) for output in cell.outputs] for cell in book.cells if cell.cell_type == "code"]
        for book in (module.execute_notebook(), stored)
    ]
    assert kinds[0] == kinds[1]
    assert str(Path(gest_dataset.__file__).parent) not in module.NOTEBOOK.read_text(encoding="utf-8")
