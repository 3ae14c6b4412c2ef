"""The list of the papers' tables and figures: whole, true to the package, and what can be computed agrees."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import sys
from types import ModuleType

import pytest

from gest_dataset import cli, published
from gest_dataset.cli import LINES
from gest_dataset.studies import papers
from gest_dataset.studies.papers import STATUSES, Checked, check, listed
from gest_dataset.studies.printed import CHECKS, Lacking, Pair, gest_data
from tests.conftest import ROOT
from tests.support.outside import needs, require

PAPERS, ITEMS = listed()
# Tables and figures in print
PRINTED = {"gest": (11, 14), "gest-first": (9, 13), "stereoset": (9, 2), "word-filling": (12, 2)}


def reproduce() -> ModuleType:
    """docs/reproduce.py, which makes the page."""
    spec = importlib.util.spec_from_file_location("reproduce", ROOT / "docs" / "reproduce.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_table_and_figure_is_listed_once() -> None:
    assert set(PAPERS) == set(PRINTED)
    for paper, (tables, figures) in PRINTED.items():
        own = [item.item for item in ITEMS if item.paper == paper]
        wanted = [f"table {n}" for n in range(1, tables + 1)] + [f"figure {n}" for n in range(1, figures + 1)]
        assert sorted(own) == sorted(wanted)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.paper} {item.item}")
def test_what_an_item_names_is_there(item: papers.Item) -> None:
    assert item.status in STATUSES
    assert set(item.checks) <= set(CHECKS)
    assert set(item.published) <= set(published.names())
    if item.status in ("data", "part"):
        assert item.checks
    if item.status in ("part", "models"):
        assert item.command
    if item.status != "data":
        assert item.why or item.command


def test_every_check_is_of_an_item() -> None:
    assert {name for item in ITEMS for name in item.checks} == set(CHECKS)


def test_commands_are_there_with_their_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    helps: dict[str, str] = {}
    for item in ITEMS:
        if not item.command:
            continue
        gest, *words = shlex.split(item.command)
        assert gest == "gest"
        line = max((name for name in LINES if words[: len(name.split())] == name.split()), key=len)
        if line not in helps:
            monkeypatch.setattr(sys, "argv", ["gest", *line.split(), "--help"])
            with pytest.raises(SystemExit, match="0"):
                cli.main()
            helps[line] = capsys.readouterr().out
        for option in (word for word in words if word.startswith("--")):
            assert option in helps[line], item.command


def test_the_page_is_made_from_the_list() -> None:
    """After a change: python docs/reproduce.py (with --compute where the checks gave something else)."""
    assert (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8") == reproduce().page()


def test_the_page_has_every_item_and_every_difference() -> None:
    page = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    found = json.loads((ROOT / "docs" / "reproduced.json").read_text(encoding="utf-8"))
    assert set(found) == set(CHECKS)
    for item in ITEMS:
        assert f"| {item.item} | {item.what} | {STATUSES[item.status]} |" in page
    for name, one in found.items():
        assert one["numbers"] - one["agree"] == len(one["differences"])
        for pair in one["differences"]:
            assert pair["why"], name
            assert f"| `{name}` | {pair['what']} |" in page


@pytest.mark.parametrize(
    ("ours", "printed", "agrees"),
    [
        (0.874, "0.87", True),
        (0.876, "0.87", False),
        (0.865, "0.87", True),  # a half may go either way
        (0.865, "0.86", True),
        (3015.8, "3016", True),
        (1.064e-5, "1.06e-5", True),
        (1.066e-5, "1.06e-5", False),
        (-0.0868, "-0.08", False),
        (float("nan"), "0.1", False),
    ],
)
def test_the_last_printed_digit(ours: float, printed: str, agrees: bool) -> None:
    assert Pair("", ours, printed).agrees == agrees


def test_a_study_of_the_papers_tells_what_it_could_not_compute(
    monkeypatch: pytest.MonkeyPatch, mirror: object
) -> None:
    """On the test mirror, which has other data, numbers differ and are listed; nothing stops."""
    monkeypatch.delenv("GEST_PAPER_SCORES", raising=False)
    found = papers.papers()
    assert {table.name for table in found.tables} == {*PRINTED, "differences", "checks"}
    assert any("gest-rates-masked" in note and "GEST_PAPER_SCORES" in note for note in found.notes)
    differing = {row[1]: row for row in found.table("differences").rows}
    assert differing["all samples"][2:4] == (34, "3565")
    assert "checks could not be made here" in found.sentences[-1]
    assert re.match(r"72 tables and figures: \d+ reproduced", found.sentences[0])


def test_a_difference_without_a_reason_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"gest-samples": Checked((Pair("a", 1, "1"), Pair("b", 1, "2"), Pair("c", 1, "3", "known")))}
    monkeypatch.setattr(papers, "check", lambda name, scores: one.get(name, Checked(lacking="no")))
    assert "2 others 1 are not explained" in papers.papers().sentences[1]


def test_checks_of_print_alone_need_no_data() -> None:
    """From the published tables: correlations, means, ranks, the p-value."""
    for name in ("gest-correlations", "gest-slavic-correlations", "gest-yields", "gest-winobias"):
        (*pairs,) = CHECKS[name](None)
        assert all(pair.agrees for pair in pairs), name
    assert [round(pair.ours, 4) for pair in CHECKS["gest-correlations"](None)] == [0.8728, 0.8336]


def test_a_wrong_number_in_the_tables_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the q_i of a third of the rows belong to other stereotypes."""
    whole = gest_data.rows

    def shifted(name: str) -> list[dict[str, object]]:
        rows = whole(name)
        for row in rows[::3]:
            if "mean_log10_ratio" in row:
                row["mean_log10_ratio"] = row["mean_log10_ratio"][3:] + row["mean_log10_ratio"][:3]
        return rows

    monkeypatch.setattr(gest_data, "rows", shifted)
    assert not any(pair.agrees for pair in CHECKS["gest-correlations"](None))


def test_without_files_a_check_says_what_it_needs() -> None:
    with pytest.raises(Lacking, match="GEST_PAPER_SCORES"):
        CHECKS["gest-rates-masked"](None)


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
@needs("GEST_PAPER_SCORES")
def test_the_checks_give_what_the_page_says() -> None:
    scores = require("GEST_PAPER_SCORES")
    found = json.loads((ROOT / "docs" / "reproduced.json").read_text(encoding="utf-8"))
    for name, told in found.items():
        one = check(name, scores)
        assert not one.lacking
        assert (len(one.pairs), one.agreeing) == (told["numbers"], told["agree"]), name
        assert [pair.what for pair in one.differing] == [pair["what"] for pair in told["differences"]]
        assert all(pair.why for pair in one.differing)
