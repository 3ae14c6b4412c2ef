"""The report: what is on the page, that its numbers are those of the runs, and that data are escaped."""

from __future__ import annotations

import base64
import csv
import hashlib
import math
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from gest_dataset import published
from gest_dataset.cli import app
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.gest import MASCULINE_RATE, TEMPLATES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import with_verdict
from gest_dataset.report import write_report
from gest_dataset.report.labels import label_runs, smallest_effect, verdict_of
from gest_dataset.report.page import write_badge
from gest_dataset.report.panels import regression
from gest_dataset.report.style import GROUND, PALETTE
from gest_dataset.runs import folder as reading
from gest_dataset.runs.folder import Run
from gest_dataset.runs.manifest import MANIFEST, RESULT
from gest_dataset.statistics import masculine_rate
from tests.support import report_runs

pytestmark = pytest.mark.usefixtures("one_thread")

VOID = {"br", "circle", "col", "hr", "img", "input", "line", "link", "meta"}
LOADING = ("src", "srcset", "poster", "action", "formaction", "background", "data", "style", "ping")
SMALL = "bert-crows_control_negation"


class Page(HTMLParser):
    """The elements of a page with their attributes, and the texts in them."""

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
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of all runs, with its figures in the folder next to it."""
    return report_runs.made(tmp_path_factory) / "r.html"


@pytest.fixture(scope="module")
def paths(page_file: Path) -> list[Path]:
    return sorted((page_file.parent / "runs").iterdir())


@pytest.fixture(scope="module")
def page(page_file: Path) -> Page:
    return Page(page_file.read_text(encoding="utf-8"))


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def own(rows: Sequence[Mapping[str, str]], **wanted: str) -> list[Mapping[str, str]]:
    return [
        row
        for row in rows
        if row["source"] == "this report" and all(row[key] == value for key, value in wanted.items())
    ]


def run_of(paths: Sequence[Path], name: str) -> Run:
    return reading.read_run(next(path for path in paths if path.name == name))


def with_manifest(run: Run, **changes: Any) -> Run:
    return replace(run, manifest=replace(run.manifest, **changes))


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


def test_policy_allows_only_the_style_and_scripts_of_the_page(page_file: Path) -> None:
    html = page_file.read_text(encoding="utf-8")
    policy = next(
        attributes["content"] or "" for attributes in Page(html).all("meta") if "http-equiv" in attributes
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "connect-src" not in policy
    for tag in ("style", "script"):
        content = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in content]
        allowed = re.search(rf"{tag}-src ([^;]*)", policy)
        assert allowed is not None
        assert allowed[1].split() == [f"'sha256-{digest}'" for digest in digests]


def test_ids_are_unique_and_references_exist(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    known = set(ids)
    assert len(ids) == len(known)
    for _, attributes in page.elements:
        for name in ("href", "xlink:href", "aria-labelledby", "aria-describedby"):
            value = attributes.get(name) or ""
            wanted = (
                value.split() if name.startswith("aria") else [value[1:]] if value.startswith("#") else []
            )
            assert set(wanted) <= known, (name, value)
        clip = (attributes.get("clip-path") or "").removeprefix("url(#").removesuffix(")")
        assert not clip or clip in known


def test_every_figure_has_a_name_a_description_a_caption_and_its_numbers(page: Page) -> None:
    names = "size templates languages stereotypes-english stereotypes-pairs stereotypes-translation "
    names += "ranks-english ranks-pairs ranks-translation trade-off control-ss control-cs control-f "
    names += "stereoset-intrasentence-en winobias"
    images = [attributes for attributes in page.all("svg") if attributes.get("role") == "img"]
    assert len(images) == len(page.all("figure")) == len(page.all("figcaption")) == len(names.split())
    assert all(image["aria-labelledby"] and image["aria-describedby"] for image in images)
    downloads = {a["download"]: a["href"] for a in page.all("a") if "download" in a}
    assert set(downloads) == {f"{name}.csv" for name in names.split()}
    assert len(page.all("table")) == len(page.all("caption")) >= len(images) + 5


def contrast(first: str, second: str) -> float:
    """The contrast of two colours as WCAG 2 defines it."""
    lights = []
    for colour in (first, second):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_colours_have_enough_contrast(theme: int) -> None:
    """4.5 to 1 for texts (AA), 3 to 1 for marks; axe cannot measure the text of a figure."""
    for name, pair in PALETTE.items():
        if name in {"paper", "line"}:
            continue
        least = 3.0 if name == "published" else 4.5
        for background in (PALETTE["paper"], GROUND):
            assert contrast(pair[theme], background[theme]) >= least, name


def test_page_names_what_was_measured(page_file: Path, page: Page, paths: list[Path]) -> None:
    text = page.text()
    for path in paths:
        manifest = reading.read_run(path).manifest
        assert manifest.signature in text
        for file in (MANIFEST, RESULT, manifest.table):
            links = [
                a["href"] or "" for a in page.all("a") if (a["href"] or "").endswith(f"{path.name}/{file}")
            ]
            assert len(links) == 1
            assert (page_file.parent / links[0]).exists()
    assert "@inproceedings{pikuliak-etal-2024-women," in text
    assert "@inproceedings{pikuliak-etal-2023-depth," in text
    assert "3 × empty translation" in text


def test_sentences_are_closed_and_after_a_warning(page_file: Path, page: Page) -> None:
    text = page.text()
    assert text.index("Content warning") < text.index("Browse the")
    assert [a for a in page.all("details") if "open" in a] == []
    sentence = rows_of("en")[0]["sentence"]
    assert sentence in report_runs.unpacked(page_file)["samples"]["texts"]
    assert sentence not in text


# --- the numbers


def test_csv_files_have_the_numbers_of_the_runs(page_file: Path, paths: list[Path]) -> None:
    folder = page_file.parent / "figures"
    result = run_of(paths, "bert-en").result["result"]
    [size] = own(table(folder, "size"), model="bert · en")
    names = ("g_s", "g_s_low", "g_s_high")
    assert [float(size[name]) for name in names] == [result[name] for name in names]
    for number, part in result["by_template"].items():
        where = {"model": "bert · en", "where": f"template {number}"}
        rows = own(table(folder, "stereotypes-english"), **where)
        for name in ("q", "q_low", "q_high", "q_simultaneous_low", "q_simultaneous_high"):
            assert [float(row[name]) if row[name] else None for row in rows] == part[name]
        ranks = own(table(folder, "ranks-english"), **where)
        for end in ("", "_low", "_high"):
            assert [float(row[f"feminine_rank{end}"]) for row in ranks] == part[f"feminine_ranks{end}"]
        [rate] = own(table(folder, "templates"), model="bert · en", group=f"template {number}")
        assert float(rate["g_s"]) == part["g_s"]
    pairs = run_of(paths, "bert-demo_sk_pairs").result["result"]
    [language] = own(table(folder, "languages"))
    assert (language["group"], float(language["g_s"])) == ("Slovak", pairs["g_s"])


def test_control_figures_have_the_scores_of_the_samples(page_file: Path, paths: list[Path]) -> None:
    folder = page_file.parent / "figures"
    run = run_of(paths, "bert-stereoset_control_gender")
    frame = run.table.to_pandas().set_index("id")
    rows = table(folder, "control-ss")
    assert len(rows) == len(frame)
    for row in rows:
        sample = frame.loc[row["id"]]
        ss = sample["logp_original_stereotype"] - sample["logp_original_antistereotype"]
        assert float(row["ss_original"]) == pytest.approx(ss, abs=1e-12)
    values = np.array([[float(row["ss_original"]), float(row["ss_control"])] for row in rows])
    result = run.result["result"]
    assert np.corrcoef(values.T)[0, 1] == pytest.approx(result["ss_rho"])
    [f] = own(table(folder, "control-f"))
    assert float(f["f_mu_ln"]) == pytest.approx((values[:, 0] - values[:, 1]).mean()) == result["f_mu"]
    # The paper prints log10; here all are natural logarithms
    printed = published.load("word_filling_f")["rows"][0]
    [theirs] = [row for row in table(folder, "control-f") if row["model"] == printed["model"]]
    assert float(theirs["f_mu_ln"]) == pytest.approx(printed["f_mu"] * math.log(10))


def test_translations_follow_the_convention_of_the_paper(page_file: Path, paths: list[Path]) -> None:
    folder = page_file.parent / "figures"
    run = run_of(paths, "translated")
    rates = masculine_rate(
        run.table["gender"].to_pylist(), run.table["stereotype"].to_pylist(), convention="published"
    )
    rows = own(table(folder, "stereotypes-translation"))
    assert [float(row["p"]) for row in rows] == rates["p"]
    [point] = own(table(folder, "trade-off"))
    for name in ("f_m", "f_s"):
        for end in ("", "_low", "_high"):
            assert float(point[f"{name}{end}"]) == rates[f"{name}{end}"]
    # The verdict is about the shares
    told = verdict_of(label_runs([run])[0])
    assert told.estimate.value == run.result["result"]["f_s"] != rates["f_s"]
    published_rows = [row for row in table(folder, "trade-off") if row["source"] == "published"]
    assert len(published_rows) == 32
    feminine = [row for row in published_rows if float(row["f_m"]) < 0.5]
    # "The only case when the feminine gender was used more often"
    assert [(row["system"], row["language"]) for row in feminine] == [("Amazon Translate", "ru")]


def test_regression_band_is_the_textbook_formula() -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(size=40)
    y = 0.5 * x + generator.normal(size=40)
    slope, places, heights, half = regression(x, y)
    coefficients = np.polyfit(x, y, 1)
    assert slope == pytest.approx(coefficients[0])
    assert heights == pytest.approx(np.polyval(coefficients, places))
    # The covariance of the coefficients, (X'X)^-1 s^2
    design = np.column_stack([np.ones_like(x), x])
    residual = y - np.polyval(coefficients, x)
    covariance = np.linalg.inv(design.T @ design) * (residual @ residual) / 38
    for place, width in zip(places, half, strict=True):
        at = np.array([1, place])
        assert width == pytest.approx(2.0244 * math.sqrt(at @ covariance @ at), rel=1e-4)


# --- the verdict


def with_g_s(run: Run, value: float, low: float, high: float, zone: tuple[float, float]) -> Run:
    """The run with another g_s and zone."""
    result = {**run.result["result"], "g_s": value, "g_s_low": low, "g_s_high": high}
    return replace(run, result={**run.result, "result": with_verdict(TEMPLATES, result, zone)})


def test_not_shown_names_the_smallest_effect(paths: list[Path]) -> None:
    """zone + (z(0.975) + z(0.8)) standard errors, here of ln g_s."""
    error = 0.1
    bounds = [math.exp(z * error) for z in (-1.959964, 1.959964)]
    [run] = label_runs([with_g_s(run_of(paths, "bert-en"), 1.0, *bounds, (1 / 1.05, 1.05))])
    found = verdict_of(run)
    smallest = smallest_effect(found.headline, found.estimate, 1.05)
    assert smallest == pytest.approx(1.05 * math.exp((1.959964 + 0.841621) * error))
    assert f"detects g_s of {format_number(smallest)} or more in 80 of 100 cases" in " ".join(found.sentences)
    [shares] = MASCULINE_RATE.headlines
    expected = 0.05 + 2.801585 * 0.1 / 1.959964
    assert smallest_effect(shares, Estimate(0, -0.1, 0.1), 0.05) == pytest.approx(expected)


# --- notes, and the command


def test_notes_come_first(paths: list[Path], tmp_path: Path) -> None:
    file = write_report([run_of(paths, SMALL)], tmp_path / "r.html", ["A <note>."])
    assert "A <note>." in Page(file.read_text(encoding="utf-8")).text("p")
    with pytest.raises(ConfigError, match="one run or more"):
        write_report([], tmp_path / "none.html")


def gest(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


def test_command_writes_pages_and_figures(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = shutil.copytree(run_of(paths, SMALL).path, tmp_path / "run")
    done = gest(run)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"Report: {run / 'report.html'}\n"
    assert (run / "report.html").exists()
    monkeypatch.chdir(tmp_path)
    runs = [run_of(paths, name).path for name in (SMALL, "bert-winobias_type1_test")]
    done = gest(*runs, "--figures", "figures")
    assert (done.stdout, done.stderr) == ("", "Figures: figures\nReport: report.html\n")
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "figures" / "winobias.csv").exists()


def test_command_refuses_unfinished_runs_and_wrong_options(paths: list[Path], tmp_path: Path) -> None:
    run = shutil.copytree(run_of(paths, SMALL).path, tmp_path / "run")
    manifest = run / MANIFEST
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace('"done"', '"running"'), encoding="utf-8")
    assert "is not finished" in str(gest(run).exception)
    assert isinstance(gest(tmp_path / "nothing").exception, Exception)
    assert gest().exit_code == 2


@pytest.mark.parametrize("name", ["run.json", "result.json", "scores.parquet"])
def test_a_report_does_not_overwrite_the_run(paths: list[Path], tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(paths[0], tmp_path / "run"))
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    done = gest(folder, "--output", folder / name)
    assert isinstance(done.exception, ConfigError)
    assert "is an input and would be overwritten" in str(done.exception)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_badge_has_the_headline_and_the_verdict(page_file: Path, tmp_path: Path) -> None:
    """Well-formed, and safe with any name."""
    run = reading.read_run(page_file.parent / "runs" / SMALL)
    hostile = replace(run, manifest=replace(run.manifest, model="<script>&\x07"))
    write_badge([hostile], tmp_path / "badge.svg")
    root = ElementTree.parse(tmp_path / "badge.svg").getroot()
    verdict = verdict_of(label_runs([run])[0])
    value = f"{verdict.headline.symbol} {format_number(verdict.estimate.value)}, {verdict.text}"
    texts = [element.text for element in root.iter() if (element.text or "").strip()]
    assert texts[1:] == [f"GEST {run.manifest.config}", value]
    assert str(texts[0]).startswith(f"<script>&\\u0007: {value}")
    with pytest.raises(ConfigError, match="A badge shows one run, and here are 2"):
        write_badge([run, run], tmp_path / "badge.svg")
