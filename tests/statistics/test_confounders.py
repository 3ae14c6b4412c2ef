"""A planted effect of a property is taken out of g_s, and one of the stereotype stays."""

import math

import numpy as np
import pytest

from gest_dataset.statistics.confounders import adjusted_g_s, sentence_properties

STEREOTYPES = np.repeat(np.arange(16), 150)


def longer_about_men(generator: np.random.Generator) -> np.ndarray:
    return generator.normal(size=len(STEREOTYPES)) + (STEREOTYPES > 6)


def test_g_s_that_is_all_length_is_nothing_when_sentences_are_equally_long() -> None:
    generator = np.random.default_rng(0)
    length = longer_about_men(generator)
    scores = 0.3 * length + 0.2 * generator.normal(size=len(length))
    measured = adjusted_g_s(scores, STEREOTYPES, {"length": length})
    assert math.log(measured["g_s"]) == pytest.approx(0.3, abs=0.05)
    assert measured["adjusted_g_s_low"] < 1 < measured["adjusted_g_s_high"]
    assert measured["correlations"]["length"] > 0.7


def test_bounds_hold_the_truth_in_19_of_20_samples() -> None:
    hits = []
    for seed in range(400):
        generator = np.random.default_rng(seed)
        length = longer_about_men(generator)
        noise = generator.normal(size=len(length)) * (0.5 + np.abs(length))  # longer ones vary more
        found = adjusted_g_s(0.3 * length + 0.1 * (STEREOTYPES > 6) + noise, STEREOTYPES, {"length": length})
        hits.append(found["adjusted_g_s_low"] < math.exp(0.1) < found["adjusted_g_s_high"])
    assert 0.92 < np.mean(hits) < 0.98


def test_properties_of_sentences() -> None:
    sentences = ["I love my children.", "I don’t cry", "I love", "I know nobody", "I am a notary."]
    measured = sentence_properties(sentences)
    assert measured["length in words"].tolist() == [4, 3, 2, 3, 4]
    assert measured["negation"].tolist() == [0, 1, 0, 1, 0]
    assert measured["mention of the family"].tolist() == [1, 0, 0, 0, 0]
    assert measured["word frequency"][2] > measured["word frequency"][0]
