"""Agreement of annotators: Krippendorff's alpha (Content Analysis, 2004, chapter 11) of nominal values.

    alpha = 1 - D_o / D_e     D_o = sum over units of (m^2 - sum_c n_c^2) / (m - 1)
                              D_e = (N^2 - sum_c N_c^2) / (N - 1)

A unit has m values, n_c of them in category c; N and N_c are their sums over units. Units with fewer than two
values have no part. 1 is perfect agreement, 0 that of values at random.
"""

import math

import numpy as np

from gest_dataset.statistics import bootstrap
from gest_dataset.statistics.bootstrap import DRAWS, SEED, Interval, SmoothFunction
from gest_dataset.statistics.checks import Floats


def nominal_alpha(counts: Floats) -> Interval:
    """Alpha with its bootstrap interval over units; `counts` [units, categories] are numbers of values."""
    counts = counts[counts.sum(axis=1) > 1]
    sizes, units = counts.sum(axis=1), len(counts)
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return Interval(math.nan)  # there is nothing to agree on
    disagreement = (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)

    def parts(mean: Floats) -> tuple[Floats, ...]:
        totals = units * mean[..., 0, :-1]
        number = totals.sum(axis=-1, keepdims=True)
        expected = (number**2 - (totals**2).sum(axis=-1, keepdims=True)) / (number - 1)
        return units * mean[..., 0, -1:], expected, totals, number

    def value(mean: Floats) -> Floats:
        observed, expected, *_ = parts(mean)
        return np.asarray(1 - observed / expected)[..., 0]

    def gradient(mean: Floats) -> Floats:
        observed, expected, totals, number = parts(mean)
        of_expected = (2 * (number - totals) - expected) / (number - 1)
        slopes = np.concatenate([observed / expected * of_expected, -np.ones_like(observed)], axis=-1)
        return (units * slopes / expected)[..., None, :]

    columns = np.column_stack([counts, disagreement])
    resamples = bootstrap.resample(columns, bootstrap.one_stratum(columns), 1, None, DRAWS, SEED)
    return resamples.interval(SmoothFunction(value, gradient))
