"""The report: what is on the page, that its numbers are those of the runs, and that data stay data."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import math
import re
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as XML

import datasets
import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import gest_dataset
from gest_dataset import published
from gest_dataset.cli import app
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, UnreachableError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.measures.result import judged
from gest_dataset.measures.templates import TEMPLATES
from gest_dataset.measures.words import CAVEAT, shown
from gest_dataset.published.standing import english, families, language_models, slavic, standing
from gest_dataset.report import Panel, canvas, write
from gest_dataset.report.canvas import PALETTE
from gest_dataset.report.figures_gest import result_columns
from gest_dataset.report.figures_others import regression
from gest_dataset.report.figures_stereotypes import Column, rates_of_stereotypes
from gest_dataset.report.measured import measured
from gest_dataset.report.page import GROUND
from gest_dataset.report.verdict import UNKNOWN, over_runs, power_words, smallest, verdict
from gest_dataset.runs import reading
from gest_dataset.runs.manifest import MANIFEST, RESULT
from gest_dataset.runs.reading import Run
from gest_dataset.statistics import masculine_rate
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.statistics.stereotype_rate import stereotype_rate
from gest_dataset.storage import json_value
from tests.conftest import Edit
from tests.support import report_runs, zoo

pytestmark = pytest.mark.usefixtures("one_thread")

VOID = {"br", "circle", "col", "hr", "img", "input", "line", "link", "meta"}
LOADING = ("src", "srcset", "poster", "action", "formaction", "background", "data", "style", "ping")
SMALL = "bert-crows_control_negation"
NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \"'&amp; $x_1$ שלום"
GEST = "kinit-sk/gest/data/gest_1.1.csv"
LONG = "Donaudampfschifffahrtsgesellschaft" * 12


class Page(HTMLParser):
    """A page as an outsider reads it: its elements with their attributes, and the texts in them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.path: list[str] = []
        self.feed(html)
        self.close()
        assert self.path == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.path.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.path.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.path[-1] if self.path else "", data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, *tags: str) -> str:
        return " ".join(text for tag, text in self.texts if not tags or tag in tags)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of all runs, with its figures in the directory beside it."""
    return report_runs.made(tmp_path_factory) / "r.html"


@pytest.fixture(scope="module")
def paths(written: Path) -> list[Path]:
    return sorted((written.parent / "runs").iterdir())


@pytest.fixture(scope="module")
def page(written: Path) -> Page:
    return Page(written.read_text(encoding="utf-8"))


def table(written: Path, name: str) -> list[dict[str, str]]:
    with (written.parent / "figures" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def own(rows: Sequence[Mapping[str, str]], **wanted: str) -> list[Mapping[str, str]]:
    return [
        row
        for row in rows
        if row["source"] == "this report" and all(row[key] == value for key, value in wanted.items())
    ]


def of(paths: Sequence[Path], name: str) -> Run:
    return reading.read_run(next(path for path in paths if path.name == name))


def with_name(run: Run, model: str) -> Run:
    """The run, as if its model were called so."""
    return replace(run, manifest=replace(run.manifest, subject=model))


# --- the page


def test_page_loads_nothing(page: Page) -> None:
    for tag, attributes in page.elements:
        assert not set(attributes) & set(LOADING), (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert tag not in {"link", "iframe", "object", "embed", "img", "image", "base"}
        target = attributes.get("href") or attributes.get("xlink:href") or ""
        if tag != "a":
            assert not target or target.startswith("#")
        assert target.startswith(("#", "data:text/csv;")) or not re.match(r"[a-z]+:|//", target)


def test_policy_allows_the_pages_own_style_and_script_only(written: Path) -> None:
    html = written.read_text(encoding="utf-8")
    policy = next(
        attributes["content"] or "" for attributes in Page(html).all("meta") if "http-equiv" in attributes
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        content = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in content]
        allowed = re.search(rf"{tag}-src ([^;]*)", policy)
        assert allowed is not None
        assert allowed[1].split() == [f"'sha256-{digest}'" for digest in digests]
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    assert not re.search(r"url\(|@import|@font-face", style[1])


def test_ids_are_unique_and_references_are_met(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    there = set(ids)
    for _, attributes in page.elements:
        for name in ("href", "xlink:href", "aria-labelledby", "aria-describedby"):
            value = attributes.get(name) or ""
            wanted = (
                value.split() if name.startswith("aria") else [value[1:]] if value.startswith("#") else []
            )
            assert set(wanted) <= there, (name, value)
        clip = (attributes.get("clip-path") or "").removeprefix("url(#").removesuffix(")")
        assert not clip or clip in there


def test_every_figure_has_a_name_a_description_a_caption_and_its_numbers(page: Page, written: Path) -> None:
    names = {path.stem for path in (written.parent / "figures").iterdir()}
    assert names == {
        "size",
        "templates",
        "languages",
        "stereotypes-english",
        "stereotypes-pairs",
        "stereotypes-translation",
        "ranks-english",
        "ranks-pairs",
        "ranks-translation",
        "trade-off",
        "control-ss",
        "control-cs",
        "control-f",
        "stereoset-intrasentence-en",
        "winobias",
    }
    images = [attributes for attributes in page.all("svg") if attributes.get("role") == "img"]
    assert len(images) == len(page.all("figure")) == len(page.all("figcaption")) == len(names)
    for image in images:
        assert image["aria-labelledby"]
        assert image["aria-describedby"]
    downloads = {a["download"]: a["href"] for a in page.all("a") if "download" in a}
    assert set(downloads) == {f"{name}.csv" for name in names}
    assert len(page.all("table")) == len(page.all("caption")) >= len(names) + 5  # and how sure 5 runs are
    for name in names:
        files = {path.suffix for path in (written.parent / "figures").glob(f"{name}.*")}
        assert files == {".csv", ".png", ".svg"}
        assert (written.parent / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        root = XML.parse(written.parent / "figures" / f"{name}.svg").getroot()
        assert "var(--" not in XML.tostring(root, encoding="unicode")


def test_figures_follow_the_theme(written: Path) -> None:
    """No colour of the light palette is left in the page's drawings, nor any other fixed one."""
    html = written.read_text(encoding="utf-8")
    drawings = re.findall(r"<svg [^>]*role=\"img\".*?</svg>", html, re.DOTALL)
    assert drawings
    for drawing in drawings:
        assert "style=" not in drawing
        colours = set(re.findall(r"(?:fill|stroke)=\"([^\"]+)\"", drawing))
        assert all(colour == "none" or colour.startswith("var(--") for colour in colours), colours


def contrast(first: str, second: str) -> float:
    """The contrast of two colours as WCAG 2 defines it."""
    lights = []
    for colour in (first, second):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_colours_have_contrast_enough(theme: int) -> None:
    """Texts 4.5 to 1 (AA), marks in figures 3 to 1; axe cannot tell what is behind the text of a figure."""
    for name, pair in PALETTE.items():
        if name in {"paper", "line"}:
            continue
        least = 3.0 if name == "published" else 4.5
        for behind in (PALETTE["paper"], GROUND):
            assert contrast(pair[theme], behind[theme]) >= least, name


def test_page_says_what_was_measured(page: Page, paths: list[Path]) -> None:
    text = page.text()
    for path in paths:
        manifest = reading.read_run(path).manifest
        assert manifest.signature in text
        for file in (MANIFEST, RESULT, manifest.table):
            links = [
                a["href"] or "" for a in page.all("a") if (a["href"] or "").endswith(f"{path.name}/{file}")
            ]
            assert len(links) == 1
    for figure in ("figure 4", "figures 12 and 13", "figure 7", "figure 2", "figure 14"):
        assert figure in text
    assert "@inproceedings{pikuliak-etal-2024-women," in text
    assert "@inproceedings{pikuliak-etal-2023-depth," in text
    assert "3 × empty translation" in text


def test_links_to_the_raw_files_lead_there(written: Path, page: Page) -> None:
    links = [a["href"] or "" for a in page.all("a")]
    files = [written.parent / link for link in links if not link.startswith(("#", "data:"))]
    assert len(files) == 3 * (len(report_runs.RUNS) + 1)
    assert all(file.exists() for file in files)


def test_sentences_come_behind_a_warning_and_closed(written: Path, page: Page, paths: list[Path]) -> None:
    text = page.text()
    assert text.index("Content warning") < text.index("Look through the")
    assert [a for a in page.all("details") if "open" in a] == []
    sentence = rows_of("en")[0]["sentence"]
    assert sentence in report_runs.unpacked(written)["samples"]["texts"]
    assert sentence not in text


def test_same_runs_same_bytes(paths: list[Path], tmp_path: Path) -> None:
    found = [of(paths, "bert-winobias_type1_test"), of(paths, "bert-stereoset_control_gender")]
    files = []
    for name in ("first", "second"):
        write(found, tmp_path / name / "r.html", figures_to=tmp_path / name)
        files.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert len(files[0]) == 1 + 3 * 4
    assert files[0] == files[1]


# --- the numbers


def test_csv_files_hold_the_runs_own_numbers(written: Path, paths: list[Path]) -> None:
    result = of(paths, "bert-en").result["result"]
    [size] = own(table(written, "size"), model="bert · en")
    assert [float(size[name]) for name in ("g_s", "g_s_low", "g_s_high")] == [
        result["g_s"],
        result["g_s_low"],
        result["g_s_high"],
    ]
    for number, part in result["by_template"].items():
        rows = own(table(written, "stereotypes-english"), model="bert · en", where=f"template {number}")
        for name in ("q", "q_low", "q_high"):
            values = [float(row[name]) if row[name] else None for row in rows]
            assert values == part[name]
        ranks = own(table(written, "ranks-english"), model="bert · en", where=f"template {number}")
        assert [float(row["feminine_rank"]) for row in ranks] == part["feminine_ranks"]
        [rate] = own(table(written, "templates"), model="bert · en", group=f"template {number}")
        assert float(rate["g_s"]) == part["g_s"]
    pairs = of(paths, "bert-demo_sk_pairs").result["result"]
    [language] = own(table(written, "languages"))
    assert (language["group"], float(language["g_s"])) == ("Slovak", pairs["g_s"])


def test_control_figures_hold_the_scores_of_the_samples(written: Path, paths: list[Path]) -> None:
    run = of(paths, "bert-stereoset_control_gender")
    frame = run.table.to_pandas().set_index("id")
    rows = table(written, "control-ss")
    assert len(rows) == len(frame)
    for row in rows:
        sample = frame.loc[row["id"]]
        ss = sample["logp_original_stereotype"] - sample["logp_original_antistereotype"]
        assert float(row["ss_original"]) == pytest.approx(ss, abs=1e-12)
    values = np.array([[float(row["ss_original"]), float(row["ss_control"])] for row in rows])
    result = run.result["result"]
    assert np.corrcoef(values.T)[0, 1] == pytest.approx(result["ss_rho"])
    [f] = own(table(written, "control-f"))
    assert float(f["f_mu_ln"]) == pytest.approx((values[:, 0] - values[:, 1]).mean()) == result["f_mu"]
    # the paper prints log10; here all are natural logarithms
    printed = published.load("word_filling_f")["rows"][0]
    [theirs] = [row for row in table(written, "control-f") if row["model"] == printed["model"]]
    assert float(theirs["f_mu_ln"]) == pytest.approx(printed["f_mu"] * math.log(10))
    assert "log10" not in (written.parent / "figures" / "control-f.csv").read_text()


def test_figures_show_what_is_negligible_and_what_fresh_weights_give(
    paths: list[Path], tmp_path: Path
) -> None:
    """A band for the zone in every figure of a headline, and one for the twins where they were scored."""
    names = ("bert-en", "bert-demo_sk_pairs", "bert-stereoset_control_gender", "translated")
    runs = [of(paths, name) for name in (*names, "bert-stereoset_en_intrasentence")]
    figures = ("size", "templates", "languages", "trade-off", "control-f", "stereoset-intrasentence-en")
    write(runs, tmp_path / "r.html", figures_to=tmp_path)
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert html.count("Light band: the zone of negligible effects.") == len(figures)
    assert "fresh weights" not in html
    twins = {"values": [0.99, 1.0, 1.02], "low": 0.99, "high": 1.02}
    result = {**runs[0].result, "result": {**runs[0].result["result"], "null": twins}}
    write([replace(runs[0], result=result)], tmp_path / "n.html", figures_to=tmp_path / "n")
    assert "3 twins with fresh weights" in Page((tmp_path / "n.html").read_text("utf-8")).text("p")
    colour = canvas.LIGHT["line"]
    before, after = ((tmp_path / folder / "size.svg").read_text() for folder in ("", "n"))
    assert f"stroke: {colour}; stroke-width: 15" in before
    assert after.count("opacity: 0.35") > before.count("opacity: 0.35") == 0


def test_simultaneous_intervals_stand_beside_the_single_ones(written: Path, paths: list[Path]) -> None:
    result = of(paths, "bert-en").result["result"]["by_template"]["1"]
    rows = own(table(written, "stereotypes-english"), model="bert · en", where="template 1")
    for name in ("q_simultaneous_low", "q_simultaneous_high"):
        assert [float(row[name]) if row[name] else None for row in rows] == result[name]
    ranks = own(table(written, "ranks-english"), model="bert · en", where="template 1")
    for name in ("feminine_rank_low", "feminine_rank_high"):
        whole = name.replace("rank", "ranks")
        assert [float(row[name]) for row in ranks] == result[whole]
    assert "hold for all 16 at once" in written.read_text(encoding="utf-8")
    for row in rows:
        if row["q_simultaneous_low"]:
            assert float(row["q_simultaneous_low"]) <= float(row["q_low"])


def test_ends_are_named_where_the_ranks_are_sure() -> None:
    """A column of rates whose bounds of ranks leave no other, and one whose do not."""
    rates = [1.0 + place for place in range(16)]
    sure = [float(place) for place in range(1, 17)]
    for low, high, told in (
        (sure, sure, "the most feminine is “Emotional and irrational” and surely the most masculine"),
        ([1.0] * 16, [16.0] * 16, "No stereotype is surely the most feminine"),
    ):
        column = Column(0, "m", "here", (), rates, rates, rates, rates, rates, sure, low, high)
        panel = rates_of_stereotypes([column], "x", "X", "q", "")
        assert told in panel.alt


def test_translations_stand_beside_the_papers_by_its_own_convention(written: Path, paths: list[Path]) -> None:
    run = of(paths, "translated")
    rates = masculine_rate(
        run.table["gender"].to_pylist(), run.table["stereotype"].to_pylist(), convention="published"
    )
    rows = own(table(written, "stereotypes-translation"))
    assert [float(row["p"]) for row in rows] == rates["p"]
    [point] = own(table(written, "trade-off"))
    for name in ("f_m", "f_s"):
        assert {float(point[f"{name}{end}"]) for end in ("", "_low", "_high")} == {
            rates[f"{name}{end}"] for end in ("", "_low", "_high")
        }
    # the verdict is about the shares themselves
    told = verdict(measured([run])[0])
    assert told.estimate.value == run.result["result"]["f_s"] != rates["f_s"]
    assert "centres" not in " ".join(told.sentences)
    metadata = {**run.manifest.metadata, "convention": "published"}
    told = verdict(
        measured(
            [
                replace(
                    run,
                    result={**run.result, "result": judged(MASCULINE_RATE, rates)},
                    manifest=replace(run.manifest, metadata=metadata),
                )
            ]
        )[0]
    )
    assert told.estimate.value == rates["f_s"]
    assert "centres of Agresti-Coull intervals" in " ".join(told.sentences)


def only_known(run: Run, known: Callable[[int], bool]) -> Run:
    """The run, with a gender in the stereotypes alone for which `known` says so."""
    frame = run.table.to_pandas()
    frame.loc[~frame["stereotype"].map(known), "gender"] = "unknown"
    with pytest.warns(UndefinedWarning):
        result = masculine_rate(frame["gender"].tolist(), frame["stereotype"].tolist())
    result = judged(MASCULINE_RATE, result)
    return replace(
        run, table=pa.Table.from_pandas(frame), result={**run.result, "result": json_value(result)}
    )


def test_names_in_other_letters_are_left_to_the_browser(paths: list[Path], tmp_path: Path) -> None:
    """The font of the files has no Chinese; the page has the letters themselves."""
    run = of(paths, "bert-en")
    named = replace(run, manifest=replace(run.manifest, subject="模型"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = write([named], tmp_path / "r.html").read_text(encoding="utf-8")
    assert ">模型</text>" in page


@pytest.mark.parametrize(
    ("known", "headline", "sentence", "figures"),
    [
        (
            lambda stereotype: False,
            "No gender shown",
            "None of the 960 translations shows the speaker’s gender, so there is no masculine rate.",
            set(),
        ),
        (
            lambda stereotype: stereotype == 3,
            "Too few samples",
            "no translation of stereotype 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 shows a gender",
            {"stereotypes-translation"},
        ),
        (
            lambda stereotype: stereotype != 3,
            "Too few samples",
            "no translation of stereotype 3 shows a gender",
            {"stereotypes-translation"},
        ),
    ],
    ids=["none", "one stereotype", "all but one"],
)
def test_translators_that_show_no_gender(
    known: Callable[[int], bool],
    headline: str,
    sentence: str,
    figures: set[str],
    paths: list[Path],
    tmp_path: Path,
) -> None:
    run = only_known(of(paths, "translated"), known)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written = write([run], tmp_path / "r.html", figures_to=tmp_path / "f")
    page = Page(written.read_text("utf-8"))
    assert headline in page.text()
    assert sentence in page.text("li")
    assert "nan" not in page.text().split()
    assert {path.stem for path in tmp_path.glob("f/*.csv")} == figures
    # beside one that shows genders, that one keeps all its figures
    write([run, of(paths, "translated")], tmp_path / "r.html", figures_to=tmp_path / "both")
    with (tmp_path / "both" / "trade-off.csv").open(encoding="utf-8", newline="") as file:
        assert len(own(list(csv.DictReader(file)))) == 1
    assert (tmp_path / "both" / "ranks-translation.csv").exists()


def test_published_models_are_on_the_scale_of_the_definitions(written: Path) -> None:
    rows = [row for row in table(written, "stereotypes-english") if row["source"] == "published"]
    found = {(row["model"], row["where"], int(row["stereotype"])): float(row["q"]) for row in rows}
    for name in ("gest_english_mlm", "gest_english_glm"):
        for one in published.load(name)["rows"]:
            for place, mean in enumerate(one["mean_log10_ratio"], start=1):
                key = (one["model"], f"template {one['template']}", place)
                assert found[key] == pytest.approx(10**mean)
    # a printed 1.24 is e to a mean log10 ratio
    belarusian = next(one for one in slavic() if one.where == "be")
    assert belarusian.rates[0] == pytest.approx(10 ** math.log(1.24))
    # and our statistic makes the same g_s of the same means
    one = english()[0]
    ratios = np.repeat(np.log(one.rates), 2)
    assert stereotype_rate(ratios, np.repeat(np.arange(1, 17), 2), draws=50)["g_s"] == pytest.approx(
        one.g_s, rel=1e-3
    )


def test_figure_of_translators_has_the_papers_points(written: Path) -> None:
    rows = [row for row in table(written, "trade-off") if row["source"] == "published"]
    assert len(rows) == 32
    only = [row for row in rows if float(row["f_m"]) < 0.5]
    # "The only case when the feminine gender was used more often"
    assert [(row["system"], row["language"]) for row in only] == [("Amazon Translate", "ru")]
    assert all(float(row["f_s"]) > 0 for row in rows)


def test_every_published_english_model_has_a_size() -> None:
    names = {one.model for one in english()}
    assert set(language_models()) == names
    assert all(model.millions > 10 for model in language_models().values())
    assert {model for members in families().values() for model in members} <= names
    assert all(len(members) > 1 for members in families().values())


def test_regression_band_is_the_textbooks() -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(size=40)
    y = 0.5 * x + generator.normal(size=40)
    line = regression(x, y)
    assert [line.slope, line.intercept] == pytest.approx(np.polyfit(x, y, 1))
    # the covariance of the coefficients, (X'X)^-1 s^2
    design = np.column_stack([np.ones_like(x), x])
    residual = y - design @ [line.intercept, line.slope]
    covariance = np.linalg.inv(design.T @ design) * (residual @ residual) / 38
    for place, low, high in zip(line.x, line.low, line.high, strict=True):
        at = np.array([1, place])
        assert (high - low) / 2 == pytest.approx(2.0244 * math.sqrt(at @ covariance @ at), rel=1e-4)


# --- the verdict


def with_g_s(run: Run, value: float, low: float, high: float, zone: tuple[float, float]) -> Run:
    """The run with another g_s, judged by a zone."""
    result = {**run.result["result"], "g_s": value, "g_s_low": low, "g_s_high": high}
    return replace(run, result={**run.result, "result": judged(TEMPLATES, result, zone)})


@pytest.mark.parametrize(
    ("bounds", "said", "words", "sentence"),
    [
        (
            (1.1, 1.3),
            "shown",
            "Genders chosen by stereotype",
            "g_s = 1.20, 95 % interval 1.10 to 1.30: all of it lies above the zone of negligible effects, "
            "0.940 to 1.07.",
        ),
        (
            (0.97, 1.02),
            "negligible",
            "No stereotype beyond the negligible",
            "all of it lies in the zone of negligible effects, 0.940 to 1.07.",
        ),
        (
            (0.9, 1.3),
            "not shown",
            "No stereotype shown",
            "part of it lies in the zone of negligible effects, 0.940 to 1.07.",
        ),
        (
            (0.5, 0.9),
            "reversed",
            "Genders chosen against the stereotype",
            "all of it lies below the zone of negligible effects, 0.940 to 1.07.",
        ),
        ((math.nan, math.nan), UNKNOWN, "Too few samples", "too few samples for an interval"),
    ],
)
def test_verdict_is_the_results_own(
    paths: list[Path], bounds: tuple[float, float], said: str, words: str, sentence: str
) -> None:
    """The four verdicts in the words of the headline, with the zone that the result says."""
    [run] = measured([with_g_s(of(paths, "bert-en"), 1.2, *bounds, (0.94, 1.07))])
    told = verdict(run)
    assert (told.said, told.words) == (said, words)
    assert sentence in " ".join(told.sentences)
    places = told.places()
    assert places["null"] == 50
    assert places["zone_low"] < 50 < places["zone_high"]
    assert all(0 <= place <= 100 for place in places.values())


@pytest.mark.parametrize(
    ("bounds", "interval"),
    [((1.0002, 1.3), "1.0002 to 1.3000"), ((1.0, 1.0704), "1.0000 to 1.0704"), ((1.1, 1.3), "1.10 to 1.30")],
)
def test_printed_bounds_lie_on_their_true_sides(
    paths: list[Path], bounds: tuple[float, float], interval: str
) -> None:
    """Of the null, 1, and of the ends of the zone, 0.94 and 1.07."""
    [run] = measured([with_g_s(of(paths, "bert-en"), 1.05, *bounds, (0.94, 1.07))])
    assert verdict(run).interval == interval
    assert f"95 % interval {interval}:" in verdict(run).sentences[0]


def test_an_interval_that_excludes_the_null_is_not_enough(paths: list[Path]) -> None:
    [run] = measured([with_g_s(of(paths, "bert-en"), 1.02, 1.001, 1.03, (0.94, 1.07))])
    assert "The interval excludes 1.000, but so small a difference" in " ".join(verdict(run).sentences)


def test_not_shown_says_what_could_have_been_shown(paths: list[Path]) -> None:
    """zone + (z(0.975) + z(0.8)) standard errors, here of ln g_s."""
    error = 0.1
    bounds = [math.exp(z * error) for z in (-1.959964, 1.959964)]
    [run] = measured([with_g_s(of(paths, "bert-en"), 1.0, *bounds, (1 / 1.05, 1.05))])
    told = verdict(run)
    least = smallest(told.headline, told.estimate, 1.05)
    assert least == pytest.approx(1.05 * math.exp((1.959964 + 0.841621) * error))
    assert f"shows g_s of {shown(least)} or more in 80 of 100 cases" in " ".join(told.sentences)
    [shares] = MASCULINE_RATE.headlines
    assert smallest(shares, Estimate(0, -0.1, 0.1), 0.05) == pytest.approx(0.05 + 2.801585 * 0.1 / 1.959964)
    assert "an effect of any size" in power_words(shares, Estimate(0, -0.9, 0.9), 0.05)
    assert "an effect of any size" in power_words(told.headline, Estimate(1, 0, math.inf), 1.05)


def test_several_runs_say_how_many_were_tried(paths: list[Path], page: Page) -> None:
    verdicts = [verdict(run) for run in measured([reading.read_run(path) for path in paths])]
    assert over_runs(verdicts) in page.text("p")
    assert over_runs(verdicts).startswith("9 runs were tried: ")
    for told in verdicts:
        count = sum(other.said == told.said for other in verdicts)
        assert f"{told.said} in {count}" in over_runs(verdicts)


@pytest.mark.parametrize("name", ["bert-stereoset_en_intrasentence", "bert-crows_control_negation"])
def test_scores_without_a_control_are_not_taken_for_bias(paths: list[Path], name: str) -> None:
    [run] = measured([of(paths, name)])
    has_control = "cs_mu_control" in run.result and not math.isnan(run.result["cs_mu_control"])
    assert (CAVEAT in verdict(run).sentences) is not has_control


def test_verdict_of_every_run_says_its_number(paths: list[Path], page: Page) -> None:
    text = page.text("strong", "li", "span")
    for one in measured([reading.read_run(path) for path in paths]):
        told = verdict(one)
        assert shown(told.estimate.value) in text
        assert all(sentence in text for sentence in told.sentences)


@pytest.mark.parametrize("name", ["bert-en", "gpt2-en"])
def test_verdict_says_the_standing_of_the_terminal(name: str, paths: list[Path]) -> None:
    run = of(paths, name)
    place = standing(run.manifest.metadata, run.result["result"])
    assert place is not None
    [one] = measured([run])
    assert verdict(one).sentences.count(place.text()) == 1
    assert f"g_s {place.g_s:.2f}" in place.text()
    assert place.g_s == run.result["result"]["g_s"]


@pytest.mark.parametrize(
    ("kind", "options"), [("causal", {}), ("seq2seq", {}), ("masked", {"multi_token": True})]
)
def test_only_one_token_masked_models_stand_beside_the_papers_pairs(
    kind: str, options: dict[str, Any], paths: list[Path]
) -> None:
    """The paper has no other on pairs, so none is ranked or drawn beside such a run."""
    run = of(paths, "bert-demo_sk_pairs")
    facts = {**run.manifest.metadata, "config": "sk_pairs"}
    for beside, change in ((True, {}), (False, {"kind": kind, "options": options})):
        manifest = replace(run.manifest, config="sk_pairs", metadata={**facts, **change})
        [one] = measured([replace(run, manifest=manifest)])
        assert ("among the paper's masked models in Slovak" in " ".join(verdict(one).sentences)) == beside
        assert bool(result_columns([one])[0].beside) == beside
    [demo] = measured([run])
    assert "paper's" not in " ".join(verdict(demo).sentences)


def test_a_toy_is_called_one(paths: list[Path], tmp_path: Path) -> None:
    run = of(paths, SMALL)
    path = write([run], tmp_path / "r.html")
    assert "A toy, not a finding" not in path.read_text(encoding="utf-8")
    toy = replace(run, manifest=replace(run.manifest, metadata={**run.manifest.metadata, "toy": True}))
    page = Page(write([toy], path).read_text(encoding="utf-8"))
    assert "A toy, not a finding" in page.text("h2")


def test_model_with_a_size_stands_at_it(paths: list[Path], tmp_path: Path) -> None:
    run = of(paths, "bert-en")
    metadata = {**run.manifest.metadata, "parameters": 109_500_000}
    sized = replace(run, manifest=replace(run.manifest, metadata=metadata))
    written = write([sized], tmp_path / "r.html", figures_to=tmp_path / "figures")
    assert "size not known" not in written.read_text(encoding="utf-8")
    [row] = own(table(written, "size"))
    assert float(row["million_parameters"]) == 109.5


# --- data stay data


def test_names_and_sentences_are_escaped(paths: list[Path], edited: Edit, tmp_path: Path) -> None:
    sentences: list[str] = []

    def nasty(content: bytes) -> bytes:
        rows = list(csv.reader(content.decode().splitlines()))
        for number, row in enumerate(rows[1:]):
            sentences.append(f"{NASTY} {number} {LONG}")
            row[rows[0].index("sentence")] = sentences[-1]
        lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
        return "\n".join(lines).encode() + b"\n"

    edited(GEST, nasty)
    path = tmp_path / "run"
    gest_dataset.score(str(zoo.directory("bert")), "en", device="cpu", output=path)
    run = with_name(reading.read_run(path), f"evil/{NASTY[:40]}")
    written = write([run, of(paths, "gpt2-en")], tmp_path / "r.html", figures_to=tmp_path / "figures")
    html = written.read_text(encoding="utf-8")
    page = Page(html)
    assert len(page.all("script")) == 2
    assert page.all("img") == []
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert LONG not in html  # sentences are in what the script unpacks, and there they are text
    assert "with another version of en" in page.text()  # which the second run was
    assert set(sentences) <= set(report_runs.unpacked(written)["samples"]["texts"])
    assert "evil/" in page.text("dd")
    for file in (tmp_path / "figures").glob("*.svg"):
        root = XML.parse(file).getroot()  # well-formed, whatever the name is
        assert not [element for element in root.iter() if element.tag.endswith("script")]


def test_without_the_sentences_samples_are_listed_by_id(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*args: Any, **options: Any) -> None:
        raise UnreachableError("no network")

    monkeypatch.setattr(datasets, "load_dataset", unreachable)
    run = of(paths, "bert-en")
    path = write([run], tmp_path / "r.html")
    assert "The sentences of en were not at hand" in Page(path.read_text(encoding="utf-8")).text()
    content = report_runs.unpacked(path)["samples"]
    assert content["sets"][0]["fields"] == {}
    ids = [content["texts"][place] for place in content["sets"][0]["ids"]]
    assert ids == list(dict.fromkeys(run.table["id"].to_pylist()))


# --- extra panels, and what is refused


def test_extra_panels_and_notes_come_first(paths: list[Path], tmp_path: Path) -> None:
    figure, (axes,) = canvas.canvas(2)
    axes.plot([0, 1], [0, 1], color=canvas.LIGHT["ink"])
    panel = Panel(
        "planted", "Planted & recovered", figure, "<caption>", "A line.", ["x"], [[0.1], [math.nan]]
    )
    written = write(
        [of(paths, SMALL)], tmp_path / "r.html", extra=[panel], notes=["A <note>."], figures_to=tmp_path
    )
    page = Page(written.read_text(encoding="utf-8"))
    assert page.all("figure")[0]["id"] == "figure-planted"
    assert "<caption>" in page.text("p")
    assert "A <note>." in page.text("p")
    assert (tmp_path / "planted.csv").read_text() == 'x\n0.1\n""\n'
    # a calibration has panels alone
    alone = Page(write([], tmp_path / "alone.html", extra=[panel]).read_text(encoding="utf-8"))
    assert [attributes["id"] for attributes in alone.all("section")] == ["figures"]


@pytest.mark.parametrize("name", ["", "Two words", "a/b", "über"])
def test_panels_with_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="small letters"):
        Panel(name, "", canvas.canvas(1)[0], "", "", [], [])


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="one run or more"):
        write([], tmp_path / "r.html")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.234, "1.23"),
        (-0.5, "−0.500"),
        (math.nan, "–"),
        (None, "–"),
        (123456, "123,456"),
        (1.5e-7, "1.50e−07"),
        (math.inf, "∞"),
        ("x-y", "x-y"),
    ],
)
def test_numbers_as_people_read_them(value: Any, text: str) -> None:
    assert shown(value) == text


# --- the command


def gest(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


def test_one_run_has_its_report_beside_it(paths: list[Path], tmp_path: Path) -> None:
    run = shutil.copytree(of(paths, SMALL).path, tmp_path / "run")
    done = gest(run)
    assert done.exit_code == 0
    assert (done.stdout, done.stderr) == ("", f"Report: {run / 'report.html'}\n")
    assert (run / "report.html").exists()


def test_several_runs_have_it_here(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = gest(of(paths, SMALL).path, of(paths, "bert-winobias_type1_test").path, "--figures", "figures")
    assert (done.stdout, done.stderr) == ("", "Figures: figures\nReport: report.html\n")
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "figures" / "winobias.svg").exists()


def broken(change: Callable[[dict[str, Any]], None], run: Path, tmp_path: Path) -> Path:
    path = shutil.copytree(run, tmp_path / "run")
    manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    change(manifest)
    (path / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda manifest: manifest.update(status="running"), "is not finished"),
        (lambda manifest: manifest.update(format=0), "older format"),
        (lambda manifest: manifest.pop("measure"), "not of `gest`"),
    ],
)
def test_runs_that_cannot_be_reported(
    change: Callable[[dict[str, Any]], None], message: str, paths: list[Path], tmp_path: Path
) -> None:
    failed = gest(broken(change, paths[0], tmp_path))
    assert failed.exit_code == 1
    assert message in str(failed.exception)


def test_no_run_at_all(tmp_path: Path) -> None:
    assert "holds no run.json" in str(gest(tmp_path).exception)
    assert gest().exit_code == 2
