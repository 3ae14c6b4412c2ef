"""The table of the detector's errors, held to the labelled sentences and to docs/gender.md."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from gest_dataset.gender.accuracy import ACCURACY
from gest_dataset.gender.grammars import GRAMMARS

HERE = Path(__file__).parent
ROW = re.compile(r"^\| (\w\w) \| (\d+), (\d+) \| (\d+) \|.*?\| (\d+), (\d+) \| (\d+) \|", re.MULTILINE)
FIRST_RUNS = {
    row[0]: tuple(map(int, row[1:])) for row in ROW.findall((HERE.parents[1] / "docs/gender.md").read_text())
}


def test_every_language_is_measured() -> None:
    assert set(ACCURACY) == set(GRAMMARS) == set(FIRST_RUNS)


@pytest.mark.parametrize("language", sorted(ACCURACY))
def test_counts_are_those_of_the_first_runs(language: str) -> None:
    """Judged of a gender: at least all that are labelled so, less all that were missed."""
    lines = (HERE / f"unseen_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    labelled = Counter(json.loads(line)["gender"] for line in lines)
    said, right, of, said_again, right_again, of_again = FIRST_RUNS[language]
    assert labelled["male"] + labelled["female"] == of + of_again
    missed = of + of_again - said - said_again
    accuracy = ACCURACY[language]
    assert (accuracy.male, accuracy.female) == (labelled["male"] - missed, labelled["female"] - missed)
    wrong = accuracy.male_as_female + accuracy.female_as_male
    assert wrong == said - right + said_again - right_again
