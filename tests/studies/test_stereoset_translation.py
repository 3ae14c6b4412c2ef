"""Rules on translations of StereoSet: on sentences of ours, and on the released translations."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.builders.stereoset import CANDIDATES, TESTS
from gest_dataset.data.rows import rows_of
from gest_dataset.studies import stereoset_translation as checks


@pytest.mark.parametrize(
    ("source", "made", "kinds"),
    [
        ("He is BLANK.", "On je BLANK.", []),
        ("He is BLANK.", "BLANK je on.", []),  # another order is no fault
        ("He is BLANK", "On je BLANK", []),
        ("Is he BLANK?", "¿Es BLANK?", []),
        ("He is BLANK.", "वह BLANK है।", []),
        ("He is BLANK.", "他是BLANK的人。", []),
        ('He message "BLANK".', "Povedal „BLANK“.", []),
        ("He is BLANK!", "Il est BLANK !", []),
        ("Of 3.5 km, BLANK.", "Z 3,5 km, BLANK.", []),
        ("Well... BLANK.", "No… BLANK.", []),
        ("He is BLANK.", "On je.", [checks.LOST]),
        ("He is BLANK.", "On je BLANK a BLANK.", [checks.LOST]),
        ("BLANK is BLANK.", "BLANK je dobrý.", [checks.LOST]),
        ("He is BLANK.", "On je BLANK", [checks.END]),
        ("He is BLANK.", "On je BLANK..", [checks.END]),
        ("He is BLANK.", "On je BLANKý.", [checks.MISPLACED]),
        ("He is BLANK.", "Er ist ein BLANK-Mann.", [checks.MISPLACED]),
        ("It was BLANKed.", "Bolo to BLANKnuté.", []),
        ("He is BLANK.", "On je. BLANK", [checks.END, checks.MISPLACED]),
        ("Two are here. One is BLANK.", "Dvaja sú tu. Jeden je BLANK.", []),
    ],
)
def test_contexts(source: str, made: str, kinds: list[str]) -> None:
    assert sorted(checks.check_text("context", source, made)) == sorted(kinds)


@pytest.mark.parametrize(("made", "kinds"), [("Fuchs", []), ("BLANK", [checks.NOT_IN_PLACE])])
def test_words(made: str, kinds: list[str]) -> None:
    assert list(checks.check_text("stereotype_word", "fox", made)) == kinds


def test_candidates_that_became_the_same() -> None:
    row = {"context": "x", "stereotype": "On je.", "antistereotype": "on je.", "unrelated": "Ona je."}
    fields = ["stereotype", "antistereotype"]
    assert list(checks.check_candidates(row)) == [(field, checks.SAME_CANDIDATES) for field in fields]


# The released translations: rows, those that a rule would list, and those that it would leave out
RELEASED = {
    ("intrasentence", "de"): (2103, 48, 0),
    ("intrasentence", "fr"): (2106, 20, 2),
    ("intrasentence", "es"): (2106, 46, 4),
    ("intrasentence", "tr"): (2106, 63, 12),
    ("intersentence", "de"): (2123, 155, 0),
    ("intersentence", "fr"): (2123, 98, 0),
    ("intersentence", "es"): (2123, 125, 0),
    ("intersentence", "tr"): (2123, 285, 0),
}


def _kinds(test: str, source: dict[str, Any], row: dict[str, Any]) -> set[str]:
    kinds = {kind for _, kind in checks.check_candidates(row)}
    names = CANDIDATES.values()
    for name in ("context", *((f"{name}_word" for name in names) if test == TESTS[0] else names)):
        kinds |= set(checks.check_text(name, source[name], row[name]))
    if test == TESTS[1]:
        kinds.discard(checks.MISPLACED)  # sentences have no BLANK, except for one of the released ones
    return kinds


@pytest.mark.upstream
@pytest.mark.parametrize(("test", "language"), RELEASED)
def test_the_released_translations(upstream: Path, test: str, language: str) -> None:
    """Every BLANK is in its place, as the paper says; of the punctuation not all was corrected."""
    english = {row["id"]: row for row in rows_of(f"stereoset_en_{test}").to_list()}
    rows = rows_of(f"stereoset_{language}_{test}").to_list()
    found = [_kinds(test, english[row["id"]], row) for row in rows]
    left_out = sum(any(checks.PROBLEMS[kind] for kind in kinds) for kinds in found)
    assert (len(rows), sum(map(bool, found)), left_out) == RELEASED[test, language]
    counts = Counter(kind for kinds in found for kind in kinds)
    assert counts[checks.LOST] == counts[checks.NOT_IN_PLACE] == counts[checks.MISSING] == 0
