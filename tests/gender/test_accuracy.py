"""The table of the detector's errors, held to the sentences that it was counted on."""

from __future__ import annotations

from collections import Counter

import pytest

from gest_dataset.gender.accuracy import ACCURACY, Accuracy
from gest_dataset.gender.grammars import GRAMMARS
from tests.gender.test_unseen import ROOT, benchmark, found


def test_every_language_is_measured() -> None:
    assert set(ACCURACY) == set(GRAMMARS)


@pytest.mark.parametrize("language", sorted(ACCURACY))
def test_counts_are_those_of_the_unseen_sentences(language: str) -> None:
    """Labelled and detected gender of set C, by the parses that stand beside it."""
    sentences = benchmark().read(ROOT / "tests" / "gender" / "unseen_c" / f"{language}.tsv")
    detections = found([sentence.text for sentence in sentences], language)
    said = Counter(
        (sentence.gender, detection.gender) for sentence, detection in zip(sentences, detections, strict=True)
    )
    swapped = (said["male", "female"], said["female", "male"])
    right = (said["male", "male"], said["female", "female"])
    assert ACCURACY[language] == Accuracy(
        right[0] + swapped[0], swapped[0], right[1] + swapped[1], swapped[1]
    )
