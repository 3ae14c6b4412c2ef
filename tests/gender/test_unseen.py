"""Recall and precision on unseen sentences (docs/gender.md), with the parses of the repository."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import pytest

from gest_dataset.gender import Detection, detect
from gest_dataset.gender.grammar import ACCURACY
from tests.conftest import ROOT
from tests.gender.test_rules import FOLDER, PARSES
from tests.support.modules import load_script

LANGUAGES = tuple(ACCURACY)  # those with unseen sentences
SETS = ("unseen", "unseen_b")  # development sets since their first run: a regression test


BENCHMARK = load_script(ROOT / "benchmarks" / "gender.py")


@functools.cache
def results(folder: str, language: str) -> tuple[list[Any], list[Detection]]:
    """The labelled sentences of a set and their detections."""
    sentences = BENCHMARK.read(FOLDER / folder / f"{language}.tsv")
    texts = [sentence.text for sentence in sentences]
    return sentences, detect(texts, language, "conllu", PARSES / f"{language}.conllu")


@pytest.mark.parametrize(
    ("folder", "number", "recall", "precision"),
    [("unseen", 68, 0.95, 0.99), ("unseen_b", 68, 0.95, 0.99), ("further", 90, 0.94, 0.98)],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language(language: str, folder: str, number: int, recall: float, precision: float) -> None:
    sentences, detections = results(folder, language)
    assert len(sentences) >= number
    figures = BENCHMARK.figures(sentences, detections)
    assert figures.gendered >= 54
    assert figures.recall >= recall, figures
    assert figures.precision >= precision, figures


@pytest.mark.parametrize("folder", SETS)
def test_every_class_of_words(folder: str) -> None:
    kinds: dict[str, list[bool]] = {}
    for language in LANGUAGES:
        for sentence, detection in zip(*results(folder, language), strict=True):
            kinds.setdefault(sentence.kind, []).append(sentence.gender == detection.gender)
    assert len(kinds) == 23
    for kind, right in kinds.items():
        assert sum(right) >= 0.9 * len(right), kind


@pytest.mark.parametrize("language", LANGUAGES)
def test_accuracy_is_that_of_set_c(language: str) -> None:
    """No rule was tuned on set C; its counts bound the masculine rates."""
    sentences, detections = results("unseen_c", language)
    assert BENCHMARK.figures(sentences, detections).recall >= 0.9
    pairs = zip(sentences, detections, strict=True)
    counts = Counter((sentence.gender, detection.gender) for sentence, detection in pairs)
    male, swapped_male = counts["male", "male"], counts["male", "female"]
    female, swapped_female = counts["female", "female"], counts["female", "male"]
    assert ACCURACY[language] == {
        "male": male + swapped_male,
        "male_as_female": swapped_male,
        "female": female + swapped_female,
        "female_as_male": swapped_female,
        "neutral": sum(number for (gold, _), number in counts.items() if gold == "unknown"),
        "neutral_as_gendered": counts["unknown", "male"] + counts["unknown", "female"],
    }


def test_set_c_as_a_whole() -> None:
    pairs = [pair for language in LANGUAGES for pair in zip(*results("unseen_c", language), strict=True)]
    assert len(pairs) >= 600
    figures = BENCHMARK.figures(*map(list, zip(*pairs, strict=True)))
    assert figures.recall >= 0.95, figures
    assert figures.precision >= 0.99, figures
