"""Bounds where unknown genders go either way, and the correction for a detector that errs."""

import itertools

import numpy as np
import pytest
from scipy import stats

from gest_dataset.statistics import masculine_rate
from gest_dataset.statistics.masculine_rate import (
    detector_bounds,
    max_error_rate,
    unknown_bounds,
)

REFERENCES = [number for number in range(1, 17) for _ in range(3)]


def test_bounds_are_the_extremes_over_everything_that_the_unknown_may_be() -> None:
    labels = ["male", "female", "male"] * 16
    unknown = [1, 25, 40]  # of stereotypes 1, 9 and 14
    for place in unknown:
        labels[place] = "unknown"
    reached = []
    for guess in itertools.product(("male", "female"), repeat=len(unknown)):
        filled = list(labels)
        for place, gender in zip(unknown, guess, strict=True):
            filled[place] = gender
        reached.append(masculine_rate(filled, REFERENCES)["f_s"])
    bounds = unknown_bounds(labels, REFERENCES)
    assert (bounds["f_s_lowest"], bounds["f_s_highest"]) == (
        pytest.approx(min(reached)),
        pytest.approx(max(reached)),
    )
    assert (bounds["p_lowest"][0], bounds["p_highest"][0]) == (pytest.approx(2 / 3), pytest.approx(1.0))


def test_differential_errors_of_the_detector_are_bounded() -> None:
    """Whatever the errors of each stereotype are, the truth is within the bounds."""
    generator = np.random.default_rng(0)
    largest = np.array([0.1, 0.08, 0.05])
    references = np.repeat(np.arange(1, 17), 4000)
    for _ in range(10):
        rates, neutral = generator.random(16), 0.3 * generator.random(16)
        truth = np.where(generator.random(64_000) < np.repeat(rates, 4000), "male", "female")
        truth = np.where(generator.random(64_000) < np.repeat(neutral, 4000), "unknown", truth)
        errors = np.repeat(largest * generator.integers(0, 2, (16, 3)), 4000, axis=0).T
        kinds = [truth == "male", truth == "female"]
        wrong = generator.random(64_000) < np.select(kinds, errors[:2], errors[2])
        to = np.repeat(generator.choice(["male", "female"], 16), 4000)
        seen = np.where(wrong, np.select(kinds, ["female", "male"], to), truth)
        found = detector_bounds(seen, references, *largest)
        p = np.array(masculine_rate(truth, references, draws=2)["p"])
        assert (p > np.array(found["p_detector_lowest"]) - 0.02).all()
        assert (p < np.array(found["p_detector_highest"]) + 0.02).all()
        f_s = p[7:].mean() - p[:7].mean()
        assert found["f_s_detector_lowest"] < f_s < found["f_s_detector_highest"]


def test_without_errors_the_bounds_are_the_rates() -> None:
    labels, references = ["male", "female", "male"] * 16, np.repeat(np.arange(1, 17), 3)
    found = detector_bounds(labels, references, 0, 0, 0)
    assert found["p_detector_lowest"] == found["p_detector_highest"] == pytest.approx([2 / 3] * 16)
    assert np.isnan(detector_bounds(labels[:3], references[:3], 0, 0, 0)["f_s_detector_lowest"])


@pytest.mark.parametrize(("errors", "number"), [(0, 25), (1, 40), (5, 60)])
def test_the_largest_share_makes_so_few_errors_rare(errors: int, number: int) -> None:
    """At that share as few errors as these come in 5 of 100 samples; all wrong leaves everything open."""
    share = max_error_rate(errors, number)
    assert stats.binom.cdf(errors, number, share) == pytest.approx(0.05)
    assert max_error_rate(number, number) == 1.0
