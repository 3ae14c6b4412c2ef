"""The leaderboard: its differences are those of `compare`, its page sorts and obeys no name."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.measures.grid import Estimate
from gest_dataset.runs.comparison import compare
from gest_dataset.statistics import holm
from gest_dataset.sweep import board, page
from gest_dataset.sweep.grid import DONE, Cell, Row
from gest_dataset.sweep.looking import Look
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.steps import panels
from gest_dataset.sweep.suite import Subject, suite_of
from gest_dataset.sweep.whole import sweep
from tests.conftest import in_one_thread
from tests.support.browser import chromium
from tests.support.herd import bred
from tests.sweep.conftest import Here

NAMES = ("calm", "plain", "strong")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, looked_here: None) -> Iterator[tuple[Path, list[Row]]]:
    """Three models with weights of different size, on one config."""
    base = tmp_path_factory.mktemp("board")
    for number, name in enumerate(NAMES):
        bred(base / name, seed=number, stretch=0.5 + number / 2)
    entries = [{"model": str(base / name), "label": name} for name in NAMES]
    told = {"title": "Three models", "configs": "demo_en", "templates": [1, 3], "models": entries}
    with in_one_thread():
        rows = sweep(suite_of(told, "three"), Place(str(base / "out")), Here(), command=["gest", "sweep"])
        yield base / "out", list(rows.values())


def test_the_differences_are_those_that_compare_finds(swept: tuple[Path, list[Row]]) -> None:
    folder, _ = swept
    lines = list(csv.DictReader(io.StringIO((folder / "differences.csv").read_text())))
    assert [(line["name"], line["beside"]) for line in lines] == [
        ("calm", "plain"),
        ("calm", "strong"),
        ("plain", "strong"),
    ]
    runs = [folder / "runs" / name / "demo_en" for name in NAMES]
    for line, pair in zip(lines, ((0, 1), (0, 2), (1, 2)), strict=True):
        (found,) = compare([runs[pair[1]], runs[pair[0]]]).differences
        assert float(line["difference"]) == pytest.approx(found.found.difference)
        assert float(line["low"]) == pytest.approx(found.found.low)
        assert (line["templates"], int(line["n"])) == ("1+3", found.n)
    adjusted = holm([float(line["p"]) for line in lines])
    assert [float(line["p_holm"]) for line in lines] == pytest.approx(adjusted)


def test_enough_draws_for_holm_to_show_something() -> None:
    """The least p-value of as many pairs as there can be is still below 5 % when it is corrected."""
    number = board.MOST * (board.MOST - 1) // 2
    draws = board._DRAWS_A_PAIR * number
    assert holm([2 / (draws + 1)] * number)[0] < 0.05


def test_a_run_is_counted_in_pairs(swept: tuple[Path, list[Row]]) -> None:
    assert board.number_of_pairs(swept[1]) == 3


def test_the_strongest_comes_first_and_what_has_no_number_last() -> None:
    values = {"low": 0.9, "none": None, "high": 1.4}
    lines = board.lines_of([made(name, value) for name, value in values.items()])["en"]
    assert [line.name for line in lines] == ["high", "low", "none"]


def made(name: str, value: float | None, **about: Any) -> Row:
    """A row with one finished cell."""
    subject: Subject = suite_of({"configs": "en", "models": [{"model": "m", "label": "x"}]}, "s").subjects[0]
    subject = Subject(**{**vars(subject), "name": name, **about})
    bounds = [None] * 3 if value is None else [value, value - 0.1, value + 0.1]
    facts = {
        "measure": "templates",
        "number": "g_s",
        "symbol": "g_s",
        "estimate": bounds,
        "zone": [0.9, 1.1] if value else [None, None],
        "verdict": "not shown",
        "templates": {"1": bounds},
        "signature": "s",
        "revision": None,
        "scored": 10,
        "asked": 12,
        "parameters": 1000,
        "dtype": "float32",
    }
    return Row(subject, Look("masked", 1), {"en": Cell(DONE, facts=facts)})


def test_a_cell_without_a_number_is_shown_without_one() -> None:
    text = page.rendered("None", [made("some", 1.2), made("none", None)], [], [])
    assert text.count("<circle") == 1
    assert math.isnan(board.estimate_of(None).value)


def test_checkpoints_make_a_figure_of_their_steps() -> None:
    rows = [
        made(f"m@step{step}", 1 + step / 1000, family="m", revision=f"step{step}", step=step)
        for step in (100, 10, 1)
    ]
    rows.append(made("other", 2.0))
    (panel,) = panels(rows)
    assert [row[1] for row in panel.rows] == [1, 10, 100]
    assert Estimate(*panel.rows[2][2:5]) == Estimate(1.1, 1.0, pytest.approx(1.2))
    assert "m: g_s over training, en" in panel.title
    assert panel.csv in (panel.csv, page.rendered("steps", rows, [], []))
    assert "figure-steps-1" in page.rendered("steps", rows, [], [])


def test_no_figure_of_a_single_checkpoint() -> None:
    assert panels([made("m@step1", 1.2, family="m", step=1), made("other", 1.1)]) == []


def test_names_of_others_are_text() -> None:
    name = "<script>alert(1)</script>\x1b[31m"
    text = page.rendered("<b>title</b>", [made(name, 1.2)], [], ["gest", name])
    assert "<script>alert" not in text
    assert "<b>title" not in text
    assert "\x1b" not in text


def test_the_page_sorts_and_loads_nothing(swept: tuple[Path, list[Row]]) -> None:
    folder, _ = swept
    text = (folder / "leaderboard.html").read_text()
    assert "http://" not in text.replace("http://www.w3.org", "")
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1200, "height": 900})
        faults: list[str] = []
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.goto((folder / "leaderboard.html").as_uri())
        first = tab.locator("table").first
        column = "tbody tr > :nth-child(2)"
        values = [float(text.replace("−", "-")) for text in first.locator(column).all_inner_texts()]
        assert values == sorted(values, reverse=True)
        first.locator("thead button").nth(0).click()
        assert first.locator("tbody th").all_inner_texts() == sorted(NAMES)
        assert tab.locator("table").nth(1).locator("tbody tr").count() == 3
        assert tab.evaluate("document.scrollingElement.scrollWidth") <= 1200
        assert faults == []
