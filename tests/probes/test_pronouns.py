"""The gender of a character by pronouns, on labelled texts that were written before the rule was run."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from gest_dataset.probes.prompts import Reading
from gest_dataset.probes.pronouns import FIRST_PERSON, NO_PRONOUN, THEY, TWO, character

TEXTS = [
    json.loads(line)
    for line in Path(__file__).with_name("characters.jsonl").read_text(encoding="utf-8").splitlines()
]
WHY = {"two characters": TWO, "first person": FIRST_PERSON, "they": THEY, "no pronoun": NO_PRONOUN}


def test_labelled_texts() -> None:
    """The numbers are those of the first run."""
    assert len(TEXTS) == 64
    found = Counter((row["gender"], character(row["text"]).value) for row in TEXTS)
    assert found == {
        **{("male", "male"): 17, ("male", "unknown"): 2, ("male", "female"): 1},
        **{("female", "female"): 17, ("female", "unknown"): 2, ("female", "male"): 1},
        **{("unknown", "unknown"): 23, ("unknown", "female"): 1},
    }


def test_an_unknown_gender_has_the_labelled_reason() -> None:
    for row in TEXTS:
        found = character(row["text"])
        assert bool(found.problem) == (found.value == "unknown")
        if row["gender"] == found.value == "unknown":
            assert found.problem == WHY[row["why"]], row["text"]


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        *((word, "male") for word in ("he", "Him", "HIS", "himself", "he's", "He’d")),
        *((word, "female") for word in ("she", "Her", "HERS", "herself", "she'll")),
        *((word, "unknown") for word in ("they", "it", "hero", "there", "sheep", "this", "")),
    ],
)
def test_pronouns_are_whole_words(text: str, gender: str) -> None:
    assert character(text).value == gender


def test_three_times_as_many() -> None:
    assert character("he he he she").value == "male"
    assert character("he he she").problem == TWO
    assert character("she her herself hers his").value == "female"


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "„”", "«»"])
def test_what_is_quoted_does_not_count(marks: str) -> None:
    before, after = marks
    assert character(f"{before}He, he, he!{after} she said.") == Reading("female", evidence=("she 1",))
    assert character(f"{before}He is here.{after}").problem == NO_PRONOUN
