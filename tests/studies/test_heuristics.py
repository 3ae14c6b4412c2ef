"""Sheets for people: what is drawn, what is read again, and planted accuracies that come back."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gest_dataset import studies
from gest_dataset.data.tables import read_lines
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.grid import Estimate
from gest_dataset.statistics.proportions import StratifiedCounts, rate_contrast
from gest_dataset.storage import csv_text
from gest_dataset.studies import sheets
from gest_dataset.studies.heuristics import (
    confusion_matrix,
    first_letter_outcome,
    parse_authors_labels,
    weighted_share,
)
from tests.support import planted

# Planted: how many translations of each language and outcome there are
POPULATION = {
    ("cs", "male"): 30,
    ("cs", "female"): 12,
    ("cs", "unknown"): 25,
    ("sk", "male"): 300,
    ("sk", "female"): 8,
    ("sk", "unknown"): 40,
}
Rows = list[dict[str, str]]


@pytest.fixture
def runs(tmp_path: Path, mirror: Path) -> list[Path]:
    paths = []
    for language in ("cs", "sk"):
        rows = [
            {
                "id": f"{outcome}-{number}",
                "stereotype": number % 16 + 1,
                "source": f"{outcome} source {number}",
                "translation": f"{language} {outcome} {number}, {number % 4}",
                "gender": outcome,
                "problem": "",
            }
            for (code, outcome), whole in POPULATION.items()
            if code == language
            for number in range(whole)
        ]
        rows.append(rows[0] | {"id": "broken", "gender": "unknown", "problem": "empty translation"})
        paths.append(planted.translated(tmp_path / "runs" / language, language, rows))
    return paths


def read(sheet: Path) -> Rows:
    with sheet.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(sheet: Path, rows: Rows) -> None:
    sheet.write_text(csv_text(list(rows[0]), [list(row.values()) for row in rows]), encoding="utf-8")


def fill(sheet: Path, label: Callable[[dict[str, str]], str]) -> None:
    write(sheet, [row | {"label": label(row)} for row in read(sheet)])


def planted_label(row: dict[str, str]) -> str:
    """Every fourth translation is not what was predicted: neutral, and of the unknown ones masculine."""
    outcome, wrong = row["translation"].split()[1], row["translation"].endswith(" 0")
    return {"male": "mN", "female": "FN", "unknown": "NM"}[outcome][wrong]


def test_draw_a_sheet(runs: list[Path], tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    drawn = studies.draw_sheet(sheet, runs, number=10)
    names = {"male": "M", "female": "F", "unknown": "U"}
    assert drawn == {
        (code, names[outcome]): (min(10, whole), whole) for (code, outcome), whole in POPULATION.items()
    }
    rows = read(sheet)
    assert list(rows[0]) == ["id", "language", "source", "translation", "label"]
    assert len(rows) == 58
    assert {row["label"] for row in rows} == {""}
    of = Counter((row["language"], row["translation"].split()[1]) for row in rows)
    assert of == {stratum: min(10, whole) for stratum, whole in POPULATION.items()}
    strata = [(row["language"], row["translation"].split()[1]) for row in rows]
    assert sum(a != b for a, b in pairwise(strata)) > 20
    assert json.loads(sheets.key_path(sheet).read_text())["seed"] == 0


def test_a_sheet_is_never_overwritten(runs: list[Path], tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    studies.draw_sheet(sheet, runs)
    before = sheet.read_text()
    with pytest.raises(ConfigError, match="may have labels"):
        studies.draw_sheet(sheet, runs, seed=1)
    assert sheet.read_text() == before
    with pytest.raises(ConfigError, match=r"end with \.csv"):
        studies.draw_sheet(tmp_path / "sheet.xlsx", runs)


def test_planted_accuracies(runs: list[Path], tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    studies.draw_sheet(sheet, runs, number=20)
    fill(sheet, planted_label)
    labelled = sheets.read(sheet)
    expected = Counter(
        (
            {"male": "M", "female": "F", "unknown": "U"}[row["translation"].split()[1]],
            planted_label(row).upper(),
        )
        for row in read(sheet)
    )
    assert confusion_matrix(labelled) == expected
    found = studies.heuristics(sheet)
    matrix = {str(row[0]): row for row in found.table("confusion").rows}
    for outcome in "MFU":
        own = [expected[outcome, label] for label in "MFN"]
        assert list(matrix[outcome][1:4]) == own
        right = expected[outcome, {"U": "N"}.get(outcome, outcome)] / sum(own)
        share = matrix[outcome][5]
        assert isinstance(share, Estimate)
        assert share.value == pytest.approx(100 * right)
        assert share.low < share.value < share.high
        assert matrix[outcome][6] == {"M": "179 0 1", "F": "3 177 0", "U": "30 10 140"}[outcome]
    assert [row[0] for row in found.table("languages").rows] == ["cs", "sk"]


def test_weighted_shares(runs: list[Path], tmp_path: Path) -> None:
    """Slovak masculine ones are most of all that are decided: the weighted share is nearly theirs."""
    sheet = tmp_path / "sheet.csv"
    studies.draw_sheet(sheet, runs, number=8)
    fill(sheet, lambda row: "N" if row["language"] == "cs" else "M")
    labelled = sheets.read(sheet)
    share, number = weighted_share(labelled, {"M": "M", "F": "F"})
    assert number == 30 + 12 + 300 + 8
    assert share.value == pytest.approx(300 / 350)
    interval = rate_contrast(
        StratifiedCounts(np.array([0.0, 0, 8, 0]), np.array([8.0, 8, 8, 8])), np.array([30, 12, 300, 8]) / 350
    )
    assert (share.low, share.high) == pytest.approx((interval.low, interval.high))
    found = studies.heuristics(sheet)
    hidden = next(row for row in found.table("yield").rows if str(row[0]).startswith("predicted U"))
    assert hidden[1] == 65
    assert isinstance(hidden[3], Estimate)
    assert hidden[3].value == pytest.approx(40)  # all of the Slovak ones, none of the Czech ones


Damage = Callable[[Rows], Rows]
HALF: Damage = lambda rows: [row | {"label": row["label"] if n > 11 else ""} for n, row in enumerate(rows)]  # noqa: E731
UNKNOWN: Damage = lambda rows: [rows[0] | {"label": "female"}, *rows[1:]]  # noqa: E731
FOREIGN: Damage = lambda rows: [*rows, rows[0] | {"id": "9999"}]  # noqa: E731
TWICE: Damage = lambda rows: [*rows, rows[3]]  # noqa: E731
LOST: Damage = lambda rows: rows[2:]  # noqa: E731


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (HALF, r"12 of 48 rows \(lines 2, 3, 4, 5, 6, 7, 8, 9, …\) need a label"),
        (UNKNOWN, r"line 2: the label 'FEMALE' is not one of M \(masculine\), F \(feminine\), N \(neutral\)"),
        (FOREIGN, r"line 50: the id '9999' is not in sheet\.key\.json"),
        (TWICE, r"line 50: the id 0004 occurs twice"),
        (LOST, r"lacks 2 of 48 rows, such as id 0001"),
    ],
)
def test_damaged_sheets(runs: list[Path], tmp_path: Path, damage: Damage, message: str) -> None:
    sheet = tmp_path / "sheet.csv"
    studies.draw_sheet(sheet, runs, number=8)
    fill(sheet, planted_label)
    write(sheet, damage(read(sheet)))
    before = sheet.read_text()
    with pytest.raises(DataError, match=message):
        studies.heuristics(sheet)
    assert sheet.read_text() == before


def test_a_spreadsheet_may_sort_rows_and_drop_zeros(runs: list[Path], tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    studies.draw_sheet(sheet, runs, number=8)
    fill(sheet, planted_label)
    before = confusion_matrix(sheets.read(sheet))
    write(sheet, [row | {"id": row["id"].lstrip("0")} for row in reversed(read(sheet))])
    assert confusion_matrix(sheets.read(sheet)) == before


# gender-swapped pairs

PAIRS = [
    ("Som emotívny.", "Som emotívna.", "positive"),
    ("Bol som rád.", "Chcela som rád.", "negative"),
    ("Išiel som domov.", "Išla som domov.", "positive"),
    ("Mám to rád.", "Mám to rád.", None),
    ("Bol som sám.", "Bola som sama.", None),
]


def test_first_letter_rule() -> None:
    assert [first_letter_outcome(masculine, feminine) for masculine, feminine, _ in PAIRS] == [
        o for *_, o in PAIRS
    ]


@pytest.mark.parametrize("names", [("masculine", "feminine"), ("male", "female")])
def test_a_sheet_of_pairs(tmp_path: Path, names: tuple[str, str]) -> None:
    file, sheet = tmp_path / "pairs.csv", tmp_path / "sheet.csv"
    file.write_text(csv_text([*names, "language"], [[*pair[:2], "sk"] for pair in PAIRS * 2]))
    assert studies.draw_sheet(sheet, swaps=file) == {("sk", "negative"): (1, 1), ("sk", "positive"): (2, 2)}
    fill(sheet, lambda row: "c" if row["masculine"].startswith("Som") else "G")
    found = studies.heuristics(sheet)
    matrix = {str(row[0]): row[1:5] for row in found.table("confusion").rows}
    assert matrix == {"positive": (0, 1, 1, 2), "negative": (0, 1, 0, 1)}
    assert [row[1] for row in found.table("yield").rows] == [2, 1]


def test_files_of_labelled_pairs(tmp_path: Path) -> None:
    file = tmp_path / "pairs.txt"
    file.write_text("A key\nX - not\n\nSom sám.\nSom sama.\nC\n\nBol som.\nChcela som.\nG\n")
    assert confusion_matrix(parse_authors_labels(read_lines(file), file)) == {
        ("positive", "C"): 1,
        ("negative", "G"): 1,
    }
    file.write_text("Som sám.\nSom sama.\nQ\n")
    with pytest.raises(DataError, match="line 3: the label 'Q' is not one of X"):
        studies.heuristics(file)
    file.write_text("nothing\n")
    with pytest.raises(DataError, match="has no labelled pairs"):
        studies.heuristics(file)


@pytest.mark.upstream
def test_table_5_from_the_released_file(upstream: Path) -> None:
    found = studies.heuristics(upstream / "kinit-sk/gest/data/gender-swap-annotations.txt")
    matrix = {str(row[0]): row[1:5] for row in found.table("confusion").rows}
    assert matrix == {"positive": (0, 1, 79, 80), "negative": (61, 19, 0, 80)}
    assert [row[-1] for row in found.table("confusion").rows] == ["0 1 79", "61 19 0"]
