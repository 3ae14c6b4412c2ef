"""What a study yields: its tables, its folder, and what is read from there again."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from gest_dataset.errors import DataError, OutputError
from gest_dataset.measures.grid import Estimate
from gest_dataset.report import canvas
from gest_dataset.report.panel import Panel
from gest_dataset.studies import Study, Table, keep, read_study
from gest_dataset.studies.study import PAGE, STUDY

TABLE = Table(
    "correlations",
    "Like table 3 <of> a paper",
    ("model", "r", "n", "the paper"),
    (("bert", Estimate(0.5, 0.25, 0.75), 16, "0.50"), ("=gpt", Estimate(0.5, math.nan, math.nan), None, "")),
    "A note.",
)


def drawn(name: str = "dots") -> Panel:
    figure, (axes,) = canvas.canvas(2.0)
    canvas.mark(axes, [1, 2], [2, 1], "two", color=canvas.LIGHT["ink"], marker="o")
    return Panel(name, "Dots", figure, "Two dots.", "Two dots.", ["x", "y"], [[1, 2], [2, 1]])


STUDY_OF = Study("toy", "A toy", (TABLE,), (drawn(),), ("It is so.",), ("One was left out.",), {"a": "1"})


def test_a_column_of_estimates_is_three_in_the_file_and_two_for_people() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.csv)))
    assert rows[0] == ["model", "r", "r_low", "r_high", "n", "the paper"]
    assert rows[1] == ["bert", "0.5", "0.25", "0.75", "16", "0.50"]
    assert rows[2] == ["'=gpt", "0.5", "", "", "", ""]  # no formula of a spreadsheet
    headings, texts = TABLE.texts()
    assert headings == ["model", "r", "95 %", "n", "the paper"]
    assert texts == [["bert", "0.500", "0.250 to 0.750", "16", "0.50"], ["=gpt", "0.500", "–", "–", ""]]


def test_a_table_has_a_name_for_its_file_and_whole_rows() -> None:
    with pytest.raises(ValueError, match="small letters"):
        replace(TABLE, name="../x")
    with pytest.raises(ValueError, match="4 cells"):
        replace(TABLE, rows=(("bert",),))


def test_a_study_is_read_again_as_it_was_kept(tmp_path: Path) -> None:
    page = keep(STUDY_OF, tmp_path / "toy", ["gest", "study", "toy"])
    assert page == tmp_path / "toy" / PAGE
    names = {path.name for path in page.parent.iterdir()}
    assert names == {STUDY, PAGE, "correlations.csv", "dots.csv", "dots.svg"}
    again = read_study(page.parent)
    assert again.tables[0].csv == TABLE.csv
    assert (again.sentences, again.notes) == (STUDY_OF.sentences, STUDY_OF.notes)
    assert again.signature == STUDY_OF.signature
    told = json.loads((page.parent / STUDY).read_text())
    assert told["command"] == ["gest", "study", "toy"]
    assert told["signature"].startswith("gest:study-toy|sources:1|hash:")
    assert told["versions"]["gest_dataset"]
    html = page.read_text()
    for text in (
        "Like table 3 &lt;of&gt; a paper",
        "0.250 to 0.750",
        "It is so.",
        "One was left out.",
        "<svg",
    ):
        assert text in html
    assert "http://" not in html.replace("http://www.w3.org", "")


def test_another_source_is_another_signature() -> None:
    assert replace(STUDY_OF, sources={"a": "2"}).signature != STUDY_OF.signature


def test_what_a_study_has_no_more_goes_and_what_is_not_its_stays(tmp_path: Path) -> None:
    folder = tmp_path / "toy"
    keep(STUDY_OF, folder, [])
    keep(replace(STUDY_OF, figures=(drawn("other"),)), folder, [])
    assert {path.suffix for path in folder.glob("dots.*")} == set()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"mine\.txt"):
        keep(STUDY_OF, folder, [])
    assert (folder / "mine.txt").read_text() == "mine"


def test_a_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    keep(STUDY_OF, tmp_path / "toy", [])
    with pytest.raises(OutputError, match="holds the study toy"):
        keep(replace(STUDY_OF, name="other"), tmp_path / "toy", [])


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        (None, OutputError, "holds no study.json"),
        ("{", DataError, "cannot be read"),
        ('{"format": 99}', OutputError, "not of this version"),
        ('{"format": 1, "name": 3}', DataError, "damaged"),
    ],
)
def test_a_folder_that_holds_no_study(
    tmp_path: Path, text: str | None, error: type[Exception], said: str
) -> None:
    if text is not None:
        (tmp_path / STUDY).write_text(text)
    with pytest.raises(error, match=said):
        read_study(tmp_path)
