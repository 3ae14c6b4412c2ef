"""Bounds where unknown genders go either way, and the correction for a detector that errs."""

import itertools

import numpy as np
import pytest
from scipy import stats

from gest_dataset.errors import ConfigError
from gest_dataset.statistics import masculine_rate
from gest_dataset.statistics.masculine_rate import correct_rates, known_in_all, max_error_rate, unknown_bounds

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


def test_a_planted_error_of_the_detector_is_taken_back() -> None:
    generator = np.random.default_rng(0)
    truth = generator.random(200_000) < 0.7
    seen = np.where(truth, generator.random(len(truth)) > 0.08, generator.random(len(truth)) < 0.03)
    assert seen.mean() != pytest.approx(0.7, abs=0.02)
    assert correct_rates([seen.mean()], 0.08, 0.03)[0] == pytest.approx(0.7, abs=0.005)


def test_a_detector_that_is_mostly_wrong_is_refused() -> None:
    with pytest.raises(ConfigError, match="their sum below 1"):
        correct_rates([0.5], 0.6, 0.5)


def test_common_samples_are_known_in_all_systems() -> None:
    assert known_in_all(["male", "unknown", "male"], ["female", "male", "unknown"]) == [True, False, False]


@pytest.mark.parametrize(("errors", "number"), [(0, 25), (1, 40), (5, 60)])
def test_the_largest_share_makes_so_few_errors_rare(errors: int, number: int) -> None:
    """At that share as few errors as these come in 5 of 100 samples; all wrong leaves everything open."""
    share = max_error_rate(errors, number)
    assert stats.binom.cdf(errors, number, share) == pytest.approx(0.05)
    assert max_error_rate(number, number) == 1.0
