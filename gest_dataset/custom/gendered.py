"""Whether the variants of a pair have their genders, as far as the rules of the grammar know."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset.custom.reading import Read, told_of
from gest_dataset.gender import TextWarning
from gest_dataset.gender.detect import detect_with
from gest_dataset.gender.grammar import FEMALE, MALE, Grammar

Row = dict[str, Any]
WRONG_GENDER = "a variant has the other gender, by the rules"
_OTHER = {"masculine": FEMALE, "feminine": MALE}


@dataclass(frozen=True)
class Genders:
    """Pairs whose both variants have the gender that they should, and pairs of which it is not known."""

    confirmed: int
    unknown: int


def check_genders(
    grammar: Grammar, rows: Sequence[Row], read: Read, language: str, parser: str, model: str | Path | None
) -> tuple[list[Row], Genders]:
    """The pairs without those that the rules contradict: what they do not know stays."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # what is wrong with texts was looked at before
        for variant in _OTHER:
            texts = [row[variant] for row in rows]
            found[variant] = detect_with(grammar, texts, language, parser, model)
    kept, confirmed = [], 0
    for place, row in enumerate(rows):
        genders = {variant: detections[place].gender for variant, detections in found.items()}
        if any(genders[variant] == other for variant, other in _OTHER.items()):
            read.rejected.add(read.first_row(row), told_of(row), WRONG_GENDER)
        else:
            kept.append(row)
            confirmed += genders == {"masculine": MALE, "feminine": FEMALE}
    return kept, Genders(confirmed, len(kept) - confirmed)
