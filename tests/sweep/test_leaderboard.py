"""The leaderboard: its numbers are those of the runs and of `gest compare`."""

from __future__ import annotations

import csv
import io
import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.measures import MEASURES
from gest_dataset.runs.comparison import compare
from gest_dataset.runs.folder import read_run
from gest_dataset.runs.manifest import RESULT
from gest_dataset.statistics import holm
from gest_dataset.sweep import leaderboard
from gest_dataset.sweep.leaderboard import (
    COLUMNS,
    Line,
    compare_models,
    read_lines,
    render_page,
)
from gest_dataset.sweep.run import DONE, FAILED, LEFT_OUT, Cell
from gest_dataset.sweep.suite import parse_suite
from tests.conftest import in_one_thread
from tests.support.herd import bred
from tests.sweep.conftest import run_suite

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
        cells = run_suite(suite, base / "out")
        leaderboard.write_leaderboard("Three models", cells, base / "out", ["gest", "sweep"])
        yield base / "out", cells


HEAD = MEASURES["templates"].headlines[0]


def line_of(name: str, value: float | None, **entries: Any) -> Line:
    """A line of a finished cell without a run."""
    bounds = (None, None, None, None) if value is None else (value - 0.1, value + 0.1, 0.9, 1.1)
    line = dict.fromkeys((*COLUMNS, "step"))
    line |= {"name": name, "family": name, "config": "en", "template": "", "status": DONE, "value": value}
    line |= dict(zip(("low", "high", "zone_low", "zone_high"), bounds, strict=True))
    return line | {"headline": HEAD, "verdict": "not shown", "interval": "", **entries}


def page(*lines: Line, title: str = "title", command: tuple[str, ...] = ()) -> str:
    return render_page(title, lines, [], {}, command)


def test_the_tables_have_the_numbers_of_the_runs(swept: tuple[Path, list[Cell]]) -> None:
    folder, _ = swept
    lines = list(csv.DictReader(io.StringIO((folder / "leaderboard.csv").read_text())))
    assert [(line["name"], line["template"]) for line in lines] == [
        (name, template) for name in NAMES for template in ("", "1", "3")
    ]
    for line in lines:
        result = read_run(folder / "runs" / line["name"] / "demo_en").result["result"]
        part = result["by_template"][line["template"]] if line["template"] else result
        assert [float(line[column]) for column in ("value", "low", "high")] == [
            part[name] for name in ("g_s", "g_s_low", "g_s_high")
        ]
        assert (line["metric"], line["status"]) == ("g_s", "done")
        assert line["verdict"] == ("" if line["template"] else result["verdict"])
    assert list(lines[0]) == list(COLUMNS)


def test_a_difference_of_g_s_that_d_contradicts_is_marked(swept: tuple[Path, list[Cell]]) -> None:
    folder, cells = swept
    lines = read_lines(cells, folder)
    differences, notes = leaderboard.compare_models(lines, folder)
    mark = "d differs in the opposite direction"
    for sign in (1, -1):  # d as g_s, and d against g_s
        for line in lines:
            line["d"] = sign * math.log(line["value"])
        text = render_page("title", lines, differences, notes, ())
        assert text.count(mark) == (0 if sign > 0 else len(differences))


def test_cells_without_a_score_have_a_reason(swept: tuple[Path, list[Cell]]) -> None:
    folder, cells = swept
    others = [
        replace(cells[0], config="sk_pairs", status=FAILED, reason="no memory"),
        replace(cells[0], config="crows", status=LEFT_OUT, reason="needs a masked model"),
    ]
    lines = read_lines([cells[0], *others], folder)
    assert [(line["config"], line["status"], line["reason"]) for line in lines if not line["template"]] == [
        ("demo_en", "done", ""),
        ("sk_pairs", "failed", "no memory"),
        ("crows", "left out", "needs a masked model"),
    ]
    text = page(*lines)
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
    differences, notes = compare_models(read_lines(cells, folder), folder)
    assert [(one.run, one.baseline) for one in differences] == [("calm", "plain")]
    assert "the other 1" in notes["demo_en"]


def test_a_damaged_run_is_a_failed_cell(swept: tuple[Path, list[Cell]], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(swept[0], tmp_path / "out"))
    (folder / "runs" / "calm" / "demo_en" / RESULT).write_text("{}")
    lines = leaderboard.write_leaderboard("damaged", swept[1], folder)
    cells = [line for line in lines if not line["template"]]
    assert [line["status"] for line in cells] == [FAILED, DONE, DONE]
    assert "damaged" in cells[0]["reason"]


def test_a_score_without_a_number_is_shown_without_one() -> None:
    assert page(line_of("some", 1.2), line_of("none", None)).count("<circle") == 1


def test_names_are_text() -> None:
    name = "<script>alert(1)</script>\x1b[31m"
    text = page(line_of(name, 1.2), title="<b>title", command=("gest", name))
    assert "<script>alert" not in text
    assert "<b>title" not in text
    assert "\x1b" not in text
