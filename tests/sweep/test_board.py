"""The leaderboard: its differences are those of `compare`, its page sorts and obeys no name."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.measures.grid import Estimate
from gest_dataset.runs.comparison import Difference, compare, compare_pairs
from gest_dataset.runs.folder import Run, read_run
from gest_dataset.statistics import holm
from gest_dataset.statistics.comparison import DRAWS
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


def test_each_template_has_a_line_with_its_own_numbers(swept: tuple[Path, list[Row]]) -> None:
    folder, rows = swept
    lines = board.table_of(rows)
    for name in NAMES:
        parts = read_run(folder / "runs" / name / "demo_en").result["result"]["by_template"]
        own = {line["template"]: line for line in lines if line["name"] == name}
        assert set(own) == {"", "1", "3"}
        for template, part in parts.items():
            found = [own[template][column] for column in ("value", "low", "high")]
            assert found == [part["g_s"], part["g_s_low"], part["g_s_high"]]
            assert own[template]["verdict"] is None


def test_a_line_tells_the_revision_that_was_asked_and_the_commit_that_was_had() -> None:
    row = made("m", 1.2, revision="main")
    facts = {**row.cells["en"].facts, "revision": "c0ffee"}
    (line, _) = board.table_of([row.with_cell("en", Cell(DONE, facts=facts))])
    assert (line["revision"], line["commit"]) == ("main", "c0ffee")
    assert (line["zone_low"], line["zone_high"]) == (0.9, 1.1)


def test_of_many_models_the_first_ones_of_the_suite_are_compared(
    swept: tuple[Path, list[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, rows = swept
    monkeypatch.setattr(board, "MOST", 2)
    (pairs,) = board.differences_of(rows, Place(str(folder)))
    assert [(one.run, one.baseline) for one in pairs.differences] == [("calm", "plain")]
    assert pairs.left_out == ("strong",)
    assert board.number_of_pairs(rows) == 1


def test_more_pairs_have_more_draws(swept: tuple[Path, list[Row]], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, rows = swept
    asked: list[int] = []

    def noted(runs: Sequence[Run], draws: int) -> Iterator[Difference]:
        asked.append(draws)
        return compare_pairs(runs, 100)

    monkeypatch.setattr(board, "compare_pairs", noted)
    board.differences_of(rows, Place(str(folder)))
    monkeypatch.setattr(board, "DRAWS", 10)
    board.differences_of(rows, Place(str(folder)))
    assert asked == [DRAWS, 3 * board._DRAWS_A_PAIR]


def test_models_without_a_template_in_common_are_not_compared(
    swept: tuple[Path, list[Row]], tmp_path: Path
) -> None:
    entries = [
        {"model": swept[1][number].subject.model, "label": NAMES[number], "templates": [template]}
        for number, template in enumerate((1, 3))
    ]
    suite = suite_of({"configs": "demo_en", "limit": 40, "models": entries}, "apart")
    rows = list(sweep(suite, Place(str(tmp_path)), Here()).values())
    (pairs,) = board.differences_of(rows, Place(str(tmp_path)))
    assert (pairs.differences, bool(pairs.problem)) == ((), True)
    assert pairs.problem in html.unescape((tmp_path / "leaderboard.html").read_text())


def test_the_page_goes_by_the_corrected_p(swept: tuple[Path, list[Row]]) -> None:
    folder, rows = swept
    (pairs,) = board.differences_of(rows, Place(str(folder)))
    for p, adjusted, words, differs in (
        (0.01, 0.2, "0.200", "not shown"),
        (0.01, 0.049, "0.049", "yes"),
        (0.0001, 0.0004, "< 0.001", "yes"),
    ):
        one = pairs.differences[0]
        one = replace(one, found=replace(one.found, p_value=p), adjusted=adjusted)
        told = page._pair(one)
        assert (told["p_text"], told["differs"]) == (words, differs)
        assert told["value"] == one.found.times[0]  # g_s is a ratio: so many times
