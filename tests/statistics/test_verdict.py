"""Verdicts, and the smallest effect that is shown in 80 % of samples."""

import math

import numpy as np
import pytest

from gest_dataset.statistics.verdict import smallest_detectable, standard_error_in_sds, verdict
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE


def test_a_planted_effect_of_that_size_is_shown_in_eight_of_ten_samples() -> None:
    generator = np.random.default_rng(0)
    error, zone = 0.03, 0.05
    estimates = smallest_detectable(error, zone) + error * generator.normal(size=100_000)
    assert (estimates - 1.96 * error > zone).mean() == pytest.approx(0.8, abs=0.005)


def test_error_of_a_contrast_is_that_of_simulated_contrasts() -> None:
    generator = np.random.default_rng(0)
    sizes = [10 + 3 * i for i in range(16)]
    drawn = [
        sum(w * generator.normal(size=n).mean() for w, n in zip(MALE_MINUS_FEMALE, sizes, strict=True))
        for _ in range(4000)
    ]
    assert standard_error_in_sds(MALE_MINUS_FEMALE, sizes) == pytest.approx(np.std(drawn), rel=0.05)


def test_a_stratum_without_a_unit_shows_nothing_unless_it_does_not_count() -> None:
    assert standard_error_in_sds([0.5, 0.5], [10, 0]) == math.inf
    assert standard_error_in_sds([0.5, 0.5], [10, 1]) == math.inf, "such a run has no interval"
    assert standard_error_in_sds([1.0, 0.0], [10, 0]) == pytest.approx(math.sqrt(0.1))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.06, 1.2, "shown"),
        (0.8, 0.94, "reversed"),
        (0.96, 1.04, "negligible"),
        (0.95, 1.05, "negligible"),
        (1.01, 1.06, "not shown"),
        (0.5, 2.0, "not shown"),
        (1.2, math.nan, "undefined"),
        (math.nan, math.nan, "undefined"),
    ],
)
def test_verdicts(low: float, high: float, said: str) -> None:
    """(1.01, 1.06) excludes 1, but not effects that mean nothing."""
    assert verdict(low, high, (0.95, 1.05)) == said
