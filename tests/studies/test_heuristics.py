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
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.grid import Estimate
from gest_dataset.statistics.proportions import StratifiedCounts, rate_contrast
from gest_dataset.storage import csv_text
from gest_dataset.studies.heuristics import first_letter_outcome, key_path, read_sheet, weighted_share
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
OUTCOMES = {"male": "M", "female": "F", "unknown": "U"}
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


def test_a_drawn_sheet_is_mixed_and_never_overwritten(runs: list[Path], tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    drawn = studies.draw_sheet(sheet, runs, number=10)
    assert drawn == {
        (code, OUTCOMES[outcome]): (min(10, whole), whole) for (code, outcome), whole in POPULATION.items()
    }
    rows = read(sheet)
    assert list(rows[0]) == ["id", "language", "source", "translation", "label"]
    assert {row["label"] for row in rows} == {""}
    strata = [(row["language"], row["translation"].split()[1]) for row in rows]
    assert Counter(strata) == {stratum: min(10, whole) for stratum, whole in POPULATION.items()}
    assert sum(a != b for a, b in pairwise(strata)) > 20
    assert json.loads(key_path(sheet).read_text())["seed"] == 0
    before = sheet.read_text()
    with pytest.raises(ConfigError, match="may have labels"):
        studies.draw_sheet(sheet, runs, seed=1)
    assert sheet.read_text() == before


def test_planted_accuracies(runs: list[Path], tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    studies.draw_sheet(sheet, runs, number=20)
    fill(sheet, planted_label)
    expected = Counter(
        (OUTCOMES[row["translation"].split()[1]], planted_label(row).upper()) for row in read(sheet)
    )
    # a spreadsheet may sort the rows and drop leading zeros
    write(sheet, [row | {"id": row["id"].lstrip("0")} for row in reversed(read(sheet))])
    counts = read_sheet(sheet).counts
    assert {pair: counts.loc[pair] for pair in expected} == expected
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
    share, number = weighted_share(read_sheet(sheet), {"M": "M", "F": "F"})
    assert number == 30 + 12 + 300 + 8
    assert share.value == pytest.approx(300 / 350)
    interval = rate_contrast(
        StratifiedCounts(np.array([0.0, 0, 8, 0]), np.array([8.0, 8, 8, 8])), np.array([30, 12, 300, 8]) / 350
    )
    assert (share.low, share.high) == pytest.approx((interval.low, interval.high))
    hidden = studies.heuristics(sheet).table("yield").rows[-1]
    assert hidden[1] == 65
    assert hidden[3][0] == pytest.approx(40)  # type: ignore[index]  # all of the Slovak ones, no Czech one


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda rows: [row | {"label": row["label"] if n > 11 else ""} for n, row in enumerate(rows)],
            r"12 of 48 rows \(lines 2, 3, 4, 5, 6, 7, 8, 9, …\) have no valid label",
        ),
        (
            lambda rows: [rows[0] | {"label": "x"}, *rows[1:]],
            r"\(lines 2\) have no valid label. Valid labels: M \(masculine\)",
        ),
        (lambda rows: [*rows, rows[0] | {"id": "9999"}], "once. Check id 9999"),
        (lambda rows: [*rows, rows[3]], "once. Check id 0004"),
        (lambda rows: rows[2:], "once. Check id 0001, 0002"),
    ],
)
def test_damaged_sheets(
    runs: list[Path], tmp_path: Path, damage: Callable[[Rows], Rows], message: str
) -> None:
    sheet = tmp_path / "sheet.csv"
    studies.draw_sheet(sheet, runs, number=8)
    fill(sheet, planted_label)
    write(sheet, damage(read(sheet)))
    with pytest.raises(DataError, match=message):
        studies.heuristics(sheet)


PAIRS = [
    ("Som emotívny.", "Som emotívna.", "positive"),
    ("Bol som rád.", "Chcela som rád.", "negative"),
    ("Išiel som domov.", "Išla som domov.", "positive"),
    ("Mám to rád.", "Mám to rád.", None),
    ("Bol som sám.", "Bola som sama.", None),
]


def test_a_sheet_of_pairs(tmp_path: Path) -> None:
    assert [first_letter_outcome(*pair[:2]) for pair in PAIRS] == [pair[2] for pair in PAIRS]
    file, sheet = tmp_path / "pairs.csv", tmp_path / "sheet.csv"
    file.write_text(
        csv_text(["masculine", "feminine", "language"], [[*pair[:2], "sk"] for pair in PAIRS * 2])
    )
    assert studies.draw_sheet(sheet, swaps=file) == {("sk", "negative"): (1, 1), ("sk", "positive"): (2, 2)}
    fill(sheet, lambda row: "c" if row["masculine"].startswith("Som") else "G")
    found = studies.heuristics(sheet)
    matrix = {str(row[0]): row[1:5] for row in found.table("confusion").rows}
    assert matrix == {"positive": (0, 1, 1, 2), "negative": (0, 1, 0, 1)}
    assert [row[1] for row in found.table("yield").rows] == [2, 1]


@pytest.mark.upstream
def test_table_5_from_the_released_file(upstream: Path) -> None:
    found = studies.heuristics(upstream / "kinit-sk/gest/data/gender-swap-annotations.txt")
    matrix = {str(row[0]): row[1:5] for row in found.table("confusion").rows}
    assert matrix == {"positive": (0, 1, 79, 80), "negative": (61, 19, 0, 80)}
