"""The list of the papers' tables and figures, and the comparison with print."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from types import ModuleType

import pytest

from gest_dataset import cli, published, studies
from gest_dataset.cli import LINES
from gest_dataset.published.released import Released
from gest_dataset.studies import papers
from gest_dataset.studies.papers import agrees, load_papers, run_checks
from tests.conftest import ROOT
from tests.support.modules import load_script
from tests.support.outside import needs, require

ITEMS = load_papers()["items"]
# Tables and figures in print
PRINTED = {"gest": (11, 14), "gest-first": (9, 13), "stereoset": (9, 2), "word-filling": (12, 2)}


def reproduce() -> ModuleType:
    """docs/reproduce.py, which makes the page."""
    return load_script(ROOT / "docs" / "reproduce.py")


def test_every_table_and_figure_is_listed_once() -> None:
    assert set(load_papers()["papers"]) == set(PRINTED)
    wanted = Counter(
        (paper, f"{kind} {number}")
        for paper, (tables, figures) in PRINTED.items()
        for kind, count in (("table", tables), ("figure", figures))
        for number in range(1, count + 1)
    )
    assert Counter((item["paper"], item["item"]) for item in ITEMS) == wanted
    for item in ITEMS:
        assert item["status"] in load_papers()["statuses"]
        assert set(item["published"]) <= set(published.names())
        assert item["checks"] or item["status"] in ("models", "none")
    assert {name for item in ITEMS for name in item["checks"]} == set(load_papers()["checks"])


def test_commands_and_options_exist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    helps: dict[str, str] = {}
    for item in ITEMS:
        if not item["command"]:
            continue
        gest, *words = shlex.split(item["command"])
        assert gest == "gest"
        line = max((name for name in LINES if words[: len(name.split())] == name.split()), key=len)
        if line not in helps:
            monkeypatch.setattr(sys, "argv", ["gest", *line.split(), "--help"])
            with pytest.raises(SystemExit, match="0"):
                cli.main()
            helps[line] = capsys.readouterr().out
        for option in (word for word in words if word.startswith("--")):
            assert option in helps[line], item["command"]


def test_the_page_is_made_from_the_list() -> None:
    """After a change: python docs/reproduce.py (with --compute where the checks gave something else)."""
    assert (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8") == reproduce().page()


@pytest.mark.parametrize(
    ("ours", "printed", "expected"),
    [
        (0.876, "0.87", False),
        (0.865, "0.86", True),  # a half may go either way
        (1.064e-5, "1.06e-5", True),
        (float("nan"), "0.1", False),
    ],
)
def test_the_last_printed_digit(ours: float, printed: str, expected: bool) -> None:
    assert agrees(ours, printed) == expected


@pytest.mark.usefixtures("mirror")
def test_checks_without_data_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the test mirror, which has other data, numbers differ and are listed; nothing stops."""
    monkeypatch.delenv("GEST_PAPER_SCORES", raising=False)
    found = papers.papers_study()
    assert {table.name for table in found.tables} == {*PRINTED, "differences", "checks"}
    assert any("gest-rates-masked" in note and "GEST_PAPER_SCORES" in note for note in found.notes)
    differing = {row[1]: row for row in found.table("differences").rows}
    assert differing["all samples"][2:4] == (34, "3565")
    assert found.notes[0].startswith("72 tables and figures: ")
    assert "have no explanation" in found.notes[1]


def test_checks_of_print_alone_need_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the published tables: correlations, means, the p-value, and the ± of the shares."""
    names = ("gest-correlations", "gest-slavic-correlations", "gest-yields", "gest-winobias")
    pairs, _ = run_checks(Released(None), names)
    assert pairs["agrees"].all()
    assert pairs["computed"].tolist()[:2] == pytest.approx([0.8728, 0.8336], abs=1e-4)
    # all 124 English shares are Agresti-Coull centres; plain shares would have another ± in 14 of them
    pairs, _ = run_checks(Released(None), [f"word-filling-table-{number}" for number in (7, 9, 11)])
    shares = pairs[pairs["label"].str.contains("±")]
    assert shares["agrees"].tolist() == [True] * 124
    # planted: the q_i of a third of the rows belong to other stereotypes
    original = papers._rows

    def shifted(name: str) -> list[dict[str, object]]:
        rows = original(name)
        for row in rows[::3]:
            if "mean_log10_ratio" in row:
                row["mean_log10_ratio"] = row["mean_log10_ratio"][3:] + row["mean_log10_ratio"][:3]
        return rows

    monkeypatch.setattr(papers, "_rows", shifted)
    assert not run_checks(Released(None), ["gest-correlations"])[0]["agrees"].any()


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream", "few_draws")
@needs("GEST_PAPER_SCORES")
def test_checks_match_the_page() -> None:
    scores = require("GEST_PAPER_SCORES")
    found = json.loads((ROOT / "docs" / "reproduced.json").read_text(encoding="utf-8"))
    totals = [sum(one[key] for one in found.values()) for key in ("agree", "numbers")]
    assert totals == [812, 853]
    pairs, unavailable = run_checks(Released(scores))
    assert {*unavailable} == {"gest-winobias-released"}  # these files are not at hand
    for name, own in pairs.groupby("check"):
        differing = own[~own["agrees"].astype(bool)]
        assert (len(own), len(own) - len(differing)) == (found[name]["numbers"], found[name]["agree"]), name
        assert differing["label"].tolist() == [pair["what"] for pair in found[name]["differences"]]
        assert differing["why"].all()
    # the study of StereoSet has every printed number of the three models but one, which is a misprint
    rows = [
        (table.name, dict(zip(table.columns, cells, strict=True)))
        for table in studies.stereoset(released=scores).tables
        for cells in table.rows
    ]
    printed = [(name, row) for name, row in rows if row["paper"]]
    assert len(printed) == 3 * (3 * 3 + 3 * 4) + 3  # three tables of each kind; one row of table 7
    different = [
        (name, row["language"], row["score"])
        for name, row in printed
        if round(row["value"].value, 2) != float(row["paper"])  # type: ignore[union-attr, arg-type]
    ]
    assert different == [("table-3", "tr", "LMS")]
