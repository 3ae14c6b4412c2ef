"""Tables and folders of a study."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from gest_dataset.errors import OutputError
from gest_dataset.measures.grid import Estimate
from gest_dataset.studies import Study, Table
from gest_dataset.studies.study import PAGE, STUDY

TABLE = Table(
    "correlations",
    "Like table 3 <of> a paper",
    ("model", "r", "n", "the paper"),
    (("bert", Estimate(0.5, 0.25, 0.75), 16, "0.50"), ("=gpt", Estimate(0.5, math.nan, math.nan), None, "")),
    "A note.",
)
TOY = Study("toy", "A toy", (TABLE,), ("One was left out.",), {"a": "1"})


def test_estimates_are_three_columns_in_the_file_and_two_for_people() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.csv)))
    assert rows[0] == ["model", "r", "r_low", "r_high", "n", "the paper"]
    assert rows[1] == ["bert", "0.5", "0.25", "0.75", "16", "0.50"]
    assert rows[2] == ["'=gpt", "0.5", "", "", "", ""]  # not a formula in a spreadsheet
    headings, texts = TABLE.texts()
    assert headings == ["model", "r", "95 %", "n", "the paper"]
    assert texts == [["bert", "0.500", "0.250 to 0.750", "16", "0.50"], ["=gpt", "0.500", "–", "–", ""]]


def test_write(tmp_path: Path) -> None:
    page = TOY.write(tmp_path / "toy", ["gest", "study", "toy"])
    assert page == tmp_path / "toy" / PAGE
    assert {path.name for path in page.parent.iterdir()} == {STUDY, PAGE, "correlations.csv"}
    content = json.loads((page.parent / STUDY).read_text())
    assert content["command"] == ["gest", "study", "toy"]
    assert content["tables"][0]["rows"][0] == ["bert", [0.5, 0.25, 0.75], 16, "0.50"]
    assert content["signature"].startswith("gest:study-toy|sources:1|hash:")
    assert replace(TOY, sources={"a": "2"}).signature != TOY.signature
    html = page.read_text()
    for text in ("Like table 3 &lt;of&gt; a paper", "0.250 to 0.750", "One was left out."):
        assert text in html
    assert "http://" not in html.replace("http://www.w3.org", "")


def test_a_new_version_replaces_the_old_files_and_nothing_else(tmp_path: Path) -> None:
    TOY.write(tmp_path, [])
    replace(TOY, tables=(replace(TABLE, name="other"),)).write(tmp_path, [])
    assert {path.name for path in tmp_path.glob("*.csv")} == {"other.csv"}
    with pytest.raises(OutputError, match=r"study: toy \(existing\), another \(new\)"):
        replace(TOY, name="another").write(tmp_path, [])
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"mine\.txt"):
        TOY.write(tmp_path, [])
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("text", ["{", '{"name": "toy"}', "[]"])
def test_a_damaged_study_is_not_overwritten(tmp_path: Path, text: str) -> None:
    (tmp_path / STUDY).write_text(text)
    with pytest.raises(OutputError, match="was not written by"):
        TOY.write(tmp_path, [])
    assert (tmp_path / STUDY).read_text() == text
