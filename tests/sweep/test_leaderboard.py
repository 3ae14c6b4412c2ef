"""The leaderboard: its numbers are those of the runs and of `gest compare`."""

from __future__ import annotations

import csv
import html
import io
import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from gest_dataset.measures.grid import Estimate
from gest_dataset.runs.comparison import compare
from gest_dataset.runs.folder import read_run
from gest_dataset.runs.manifest import RESULT
from gest_dataset.statistics import holm
from gest_dataset.sweep import leaderboard
from gest_dataset.sweep.leaderboard import Score, checkpoint_panels, compare_models, render_page, table_lines
from gest_dataset.sweep.run import DONE, FAILED, LEFT_OUT, Cell, Engine, Output, sweep
from gest_dataset.sweep.suite import ScoreSettings, SuiteModel, parse_suite
from tests.conftest import in_one_thread
from tests.support.browser import chromium
from tests.support.herd import bred

NAMES = ("calm", "plain", "strong")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Cell]]]:
    """Three models with weights of different size, on one config."""
    base = tmp_path_factory.mktemp("leaderboard")
    for number, name in enumerate(NAMES):
        bred(base / name, seed=number, stretch=0.5 + number / 2)
    entries = [{"model": str(base / name), "label": name} for name in NAMES]
    suite = parse_suite({"configs": "demo_en", "templates": [1, 3], "models": entries}, "three")
    with in_one_thread():
        cells = sweep(suite, Output(str(base / "out")), Engine())
        leaderboard.write_leaderboard("Three models", cells, base / "out", ["gest", "sweep"])
        yield base / "out", cells


def score_of(name: str, value: float | None, **model: Any) -> Score:
    """A score without a run."""
    cell = Cell(
        SuiteModel(name, "m", model.pop("revision", None), ScoreSettings((), Any), **model), "en", DONE
    )
    bounds = (None, None) if value is None else (value - 0.1, value + 0.1)
    result = {"g_s": value, "g_s_low": bounds[0], "g_s_high": bounds[1], "verdict": "not shown"}
    result |= {"zone_low": 0.9, "zone_high": 1.1} if value else {}
    metadata = {"revision": "c0ffee", "scored": 10, "asked": 12, "parameters": 1000, "dtype": "float32"}
    return Score(cell, SimpleNamespace(measure="templates", metadata=metadata, signature="s"), result)


def page(*scores: Score, title: str = "title", command: tuple[str, ...] = ()) -> str:
    return render_page(title, [score.cell for score in scores], {"en": scores}, [], command)


def test_the_tables_have_the_numbers_of_the_runs(swept: tuple[Path, list[Cell]]) -> None:
    folder, _ = swept
    lines = pq.read_table(folder / "leaderboard.parquet").to_pylist()
    assert [(line["name"], line["template"]) for line in lines] == [
        (name, template) for name in NAMES for template in ("", "1", "3")
    ]
    for line in lines:
        result = read_run(folder / "runs" / line["name"] / "demo_en").result["result"]
        part = result["by_template"][line["template"]] if line["template"] else result
        assert [line[column] for column in ("value", "low", "high")] == [
            part[name] for name in ("g_s", "g_s_low", "g_s_high")
        ]
        assert (line["metric"], line["status"]) == ("g_s", "done")
        assert line["verdict"] == (None if line["template"] else result["verdict"])
    assert (folder / "leaderboard.csv").read_text().splitlines()[0].split(",") == list(lines[0])


def test_cells_without_a_score_have_a_line_with_the_reason() -> None:
    score = score_of("m@main", 1.2, revision="main")
    cells = [
        score.cell,
        replace(score.cell, config="sk_pairs", status=FAILED, reason="no memory"),
        replace(score.cell, config="crows", status=LEFT_OUT, reason="needs a masked model"),
    ]
    lines = table_lines(cells, {"en": [score]})
    assert [(line["config"], line["status"], line["reason"]) for line in lines] == [
        ("en", "done", ""),
        ("sk_pairs", "failed", "no memory"),
        ("crows", "left out", "needs a masked model"),
    ]
    assert (lines[0]["revision"], lines[0]["commit"]) == ("main", "c0ffee")
    text = render_page("title", cells, {"en": [score]}, [], [])
    assert "1 of 2 cells are done, 1 failed" in text
    assert "no memory" in text
    assert "needs a masked model" in text


def test_differences_are_those_of_compare(swept: tuple[Path, list[Cell]]) -> None:
    folder, _ = swept
    lines = list(csv.DictReader(io.StringIO((folder / "differences.csv").read_text())))
    assert [(line["name"], line["baseline"]) for line in lines] == [
        ("calm", "plain"),
        ("calm", "strong"),
        ("plain", "strong"),
    ]
    runs = {name: folder / "runs" / name / "demo_en" for name in NAMES}
    for line in lines:
        (one,) = compare([runs[line["baseline"]], runs[line["name"]]]).differences
        assert float(line["difference"]) == pytest.approx(one.comparison.difference)
        assert float(line["low"]) == pytest.approx(one.comparison.low)
        assert (line["templates"], int(line["n"])) == ("1+3", one.n)
    adjusted = holm([float(line["p"]) for line in lines])
    assert [float(line["p_holm"]) for line in lines] == pytest.approx(adjusted)


def test_there_are_enough_draws_for_corrected_p_values_below_5_percent() -> None:
    pairs = math.comb(leaderboard.MAX_COMPARED, 2)
    draws = leaderboard._DRAWS_PER_PAIR * pairs
    assert holm([2 / (draws + 1)] * pairs)[0] < 0.05


def test_only_the_first_models_are_compared(
    swept: tuple[Path, list[Cell]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cells = swept
    monkeypatch.setattr(leaderboard, "MAX_COMPARED", 2)
    (pairs,) = compare_models(cells, folder)
    assert [(one.run, one.baseline) for one in pairs.differences] == [("calm", "plain")]
    assert pairs.left_out == ["strong"]


def test_models_without_a_common_template_are_not_compared(
    swept: tuple[Path, list[Cell]], tmp_path: Path
) -> None:
    entries = [
        {"model": cell.model.model, "label": cell.model.name, "templates": [template]}
        for cell, template in zip(swept[1], (1, 3), strict=False)
    ]
    suite = parse_suite({"configs": "demo_en", "limit": 40, "models": entries}, "apart")
    cells = sweep(suite, Output(str(tmp_path)), Engine())
    (pairs,) = compare_models(cells, tmp_path)
    assert not pairs.differences
    leaderboard.write_leaderboard("apart", cells, tmp_path)
    assert pairs.problem in html.unescape((tmp_path / "leaderboard.html").read_text())


@pytest.mark.parametrize(
    ("adjusted", "text", "differs"),
    [(0.2, "0.200", "not shown"), (0.049, "0.049", "yes"), (0.0004, "&lt; 0.001", "yes")],
)
def test_the_page_goes_by_the_corrected_p_value(
    swept: tuple[Path, list[Cell]], adjusted: float, text: str, differs: str
) -> None:
    (pairs,) = compare_models(swept[1], swept[0])
    pairs = replace(pairs, differences=[replace(pairs.differences[0], p_holm=adjusted)])
    _, scores = leaderboard.read_scores(swept[1], swept[0])
    page = render_page("title", swept[1], scores, [pairs], [])
    assert f">{text}</td><td>{differs}</td>" in page


def test_a_damaged_run_is_a_failed_cell(swept: tuple[Path, list[Cell]], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(swept[0], tmp_path / "out"))
    (folder / "runs" / "calm" / "demo_en" / RESULT).write_text("{}")
    cells, scores = leaderboard.write_leaderboard("damaged", swept[1], folder)
    assert [cell.status for cell in cells] == [FAILED, DONE, DONE]
    assert "damaged" in cells[0].reason
    assert {score.name for score in scores["demo_en"]} == {"plain", "strong"}


def test_a_score_without_a_number_is_shown_without_one() -> None:
    assert page(score_of("some", 1.2), score_of("none", None)).count("<circle") == 1


def test_checkpoints_have_a_figure_over_training_steps() -> None:
    scores = [
        score_of(f"m@step{step}", 1 + step / 1000, family="m", revision=f"step{step}", step=step)
        for step in (100, 10, 1)
    ]
    scores.append(score_of("other", 2.0))
    (panel,) = checkpoint_panels({"en": scores})
    assert [row[1] for row in panel.rows] == [1, 10, 100]
    assert Estimate(*panel.rows[2][2:5]) == Estimate(1.1, 1.0, pytest.approx(1.2))
    assert "m: g_s over training, en" in panel.title
    assert "figure-steps-1" in page(*scores)
    assert checkpoint_panels({"en": scores[2:]}) == []


def test_names_are_text() -> None:
    name = "<script>alert(1)</script>\x1b[31m"
    text = page(score_of(name, 1.2), title="<b>title", command=("gest", name))
    assert "<script>alert" not in text
    assert "<b>title" not in text
    assert "\x1b" not in text


@pytest.mark.slow
def test_the_page_sorts_and_loads_nothing(swept: tuple[Path, list[Cell]]) -> None:
    text = (swept[0] / "leaderboard.html").read_text()
    assert "http://" not in text.replace("http://www.w3.org", "")
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        errors: list[str] = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto((swept[0] / "leaderboard.html").as_uri())
        first = tab.locator("table").first
        cells = first.locator("tbody tr > :nth-child(2)").all_inner_texts()
        values = [float(text.replace("−", "-")) for text in cells]
        assert values == sorted(values, reverse=True)
        first.locator("thead button").nth(0).click()
        assert first.locator("tbody th").all_inner_texts() == sorted(NAMES)
        assert tab.locator("table").nth(1).locator("tbody tr").count() == 3
        assert tab.evaluate("document.scrollingElement.scrollWidth") <= 1200
        assert errors == []
