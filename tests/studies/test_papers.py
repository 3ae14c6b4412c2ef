"""The list of the papers' tables and figures, and the comparison with print."""

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
from gest_dataset.measures.grid import Estimate
from gest_dataset.studies import papers
from gest_dataset.studies.papers import STATUSES, CheckResult, load_papers, run_check
from gest_dataset.studies.printed import CHECKS, Pair, Unavailable, gest
from gest_dataset.studies.stereoset import stereoset
from tests.conftest import ROOT
from tests.support.outside import needs, require

PAPERS, ITEMS = load_papers()
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


def test_items_name_existing_checks_and_tables() -> None:
    for item in ITEMS:
        assert item.status in STATUSES
        assert set(item.published) <= set(published.names())
        assert item.checks or item.status in ("models", "none")
        assert item.command or item.why or item.status == "data"
    assert {name for item in ITEMS for name in item.checks} == set(CHECKS)


def test_commands_and_options_exist(
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


def test_checks_without_data_are_listed(monkeypatch: pytest.MonkeyPatch, mirror: object) -> None:
    """On the test mirror, which has other data, numbers differ and are listed; nothing stops."""
    monkeypatch.delenv("GEST_PAPER_SCORES", raising=False)
    found = papers.papers_study()
    assert {table.name for table in found.tables} == {*PRINTED, "differences", "checks"}
    assert any("gest-rates-masked" in note and "GEST_PAPER_SCORES" in note for note in found.notes)
    differing = {row[1]: row for row in found.table("differences").rows}
    assert differing["all samples"][2:4] == (34, "3565")
    assert re.match(r"72 tables and figures: \d+ reproduced", found.notes[0])


def test_a_difference_without_a_reason_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    result = CheckResult((Pair("a", 1, "1"), Pair("b", 1, "2"), Pair("c", 1, "3", "known")))
    missing = CheckResult(unavailable="no")
    monkeypatch.setattr(papers, "run_check", lambda name, _: result if name == "gest-samples" else missing)
    assert "of the other 2, 1 have no explanation" in papers.papers_study().notes[1]


def test_checks_of_print_alone_need_no_data() -> None:
    """From the published tables: correlations, means, ranks, the p-value."""
    for name in ("gest-correlations", "gest-slavic-correlations", "gest-yields", "gest-winobias"):
        (*pairs,) = CHECKS[name](None)
        assert all(pair.agrees for pair in pairs), name
    assert [round(pair.computed, 4) for pair in CHECKS["gest-correlations"](None)] == [0.8728, 0.8336]


def test_shifted_tables_do_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the q_i of a third of the rows belong to other stereotypes."""
    original = gest.published_rows

    def shifted(name: str) -> list[dict[str, object]]:
        rows = original(name)
        for row in rows[::3]:
            if "mean_log10_ratio" in row:
                row["mean_log10_ratio"] = row["mean_log10_ratio"][3:] + row["mean_log10_ratio"][:3]
        return rows

    monkeypatch.setattr(gest, "published_rows", shifted)
    assert not any(pair.agrees for pair in CHECKS["gest-correlations"](None))


def test_checks_without_scores() -> None:
    for name in ("gest-rates-masked", "stereoset-table-2"):
        with pytest.raises(Unavailable, match="GEST_PAPER_SCORES"):
            CHECKS[name](None)


def test_printed_shares_are_agresti_coull_centres() -> None:
    """All 124 English ones; plain shares would have another ± in 14 of them."""
    pairs = [pair for number in (7, 9, 11) for pair in CHECKS[f"word-filling-table-{number}"](None)]
    shares = [pair for pair in pairs if "±" in pair.label]
    assert len(shares) == 124
    assert all(pair.agrees for pair in shares)


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
@needs("GEST_PAPER_SCORES")
def test_checks_match_the_page() -> None:
    scores = require("GEST_PAPER_SCORES")
    found = json.loads((ROOT / "docs" / "reproduced.json").read_text(encoding="utf-8"))
    totals = [sum(one[key] for one in found.values()) for key in ("agree", "numbers")]
    assert totals == [716, 757]
    for name, expected in found.items():
        result = run_check(name, scores)
        assert not result.unavailable
        assert (len(result.pairs), result.agreeing) == (expected["numbers"], expected["agree"]), name
        assert [pair.label for pair in result.differing] == [pair["what"] for pair in expected["differences"]]
        assert all(pair.why for pair in result.differing)


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
@needs("GEST_PAPER_SCORES")
def test_the_study_of_released_stereoset_scores_has_the_printed_numbers() -> None:
    """Every number of the three models but one, which is a misprint."""
    study = stereoset(scores=require("GEST_PAPER_SCORES"))
    different = []
    printed = 0
    for table in study.tables:
        for row in (dict(zip(table.columns, cells, strict=True)) for cells in table.rows):
            value, paper = row["value"], row["paper"]
            assert isinstance(value, Estimate)
            printed += bool(paper)
            if paper and round(value.value, 2) != float(str(paper)):
                different.append((table.name, row["language"], row["score"]))
    assert printed == 3 * (3 * 3 + 3 * 4) + 3  # three models, three tables of each kind; one row of table 7
    assert different == [("table-3", "tr", "LMS")]
