"""The mean of several correlations: against numpy, and its jackknife against the long way and the truth."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from gest_dataset.statistics.correlation import mean_correlation


def planted(number: int, r: float, columns: int, generator: np.random.Generator) -> np.ndarray:
    """Columns that correlate by r with each other."""
    common = generator.standard_normal((number, 1))
    return math.sqrt(r) * common + math.sqrt(1 - r) * generator.standard_normal((number, columns))


def test_value_is_numpys_and_bounds_are_the_long_jackknifes() -> None:
    values = planted(16, 0.7, 4, np.random.default_rng(0)) * [1, 10, 0.1, 3] + [5, -2, 100, 0]
    pairs = list(combinations(range(4), 2))
    mean, low, high = mean_correlation(values, pairs)

    def naive(rows: np.ndarray) -> float:
        r = np.corrcoef(rows.T)
        return float(np.mean([r[i, j] for i, j in pairs]))

    assert mean == pytest.approx(naive(values))
    z = np.arctanh([naive(np.delete(values, row, axis=0)) for row in range(16)])
    reach = stats.t.ppf(0.975, 15) * math.sqrt(15 / 16 * ((z - z.mean()) ** 2).sum())
    assert (math.atanh(low), math.atanh(high)) == pytest.approx(
        (math.atanh(mean) - reach, math.atanh(mean) + reach)
    )


@pytest.mark.parametrize("number", [16, 60])
def test_bounds_hold_the_planted_correlation(number: int) -> None:
    """In about 95 of 100 draws; 16 rows are as many as there are stereotypes."""
    generator = np.random.default_rng(1)
    pairs = list(combinations(range(3), 2))
    held = 0
    for _ in range(300):
        _, low, high = mean_correlation(planted(number, 0.6, 3, generator), pairs)
        held += low <= 0.6 <= high
    assert 0.91 <= held / 300 <= 0.985


def test_nothing_is_said_of_nothing() -> None:
    line = np.arange(6.0)
    assert all(map(math.isnan, mean_correlation(np.ones((6, 2)), [(0, 1)])))
    assert all(map(math.isnan, mean_correlation(np.column_stack([line, line]), [])))
    same = mean_correlation(np.column_stack([line, 2 * line]), [(0, 1)])
    assert same[0] == pytest.approx(1)
    assert all(map(math.isnan, same[1:]))
    few = mean_correlation(np.array([[1.0, 2], [2, 1], [3, 3]]), [(0, 1)])
    assert few[0] == pytest.approx(0.5)
    assert all(map(math.isnan, few[1:]))
    one_row = np.column_stack([line, line == 5]).astype(float)  # varies by one row alone
    assert all(map(math.isnan, mean_correlation(one_row, [(0, 1)])[1:]))
