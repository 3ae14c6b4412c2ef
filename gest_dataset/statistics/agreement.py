"""Agreement of annotators: Krippendorff's alpha (Content Analysis, 2004, chapter 11) of nominal values.

    alpha = 1 - D_o / D_e     D_o = sum over units of (m^2 - sum_c n_c^2) / (m - 1)
                              D_e = (N^2 - sum_c N_c^2) / (N - 1)

A unit has m values, n_c of them in category c; N and N_c are their sums over units. Units with fewer than two
values have no part. 1 is perfect agreement, 0 that of values at random.
"""

import math

import numpy as np

from gest_dataset.statistics.bootstrap import DRAWS, LEVEL, SEED, Interval
from gest_dataset.statistics.checks import Floats


def nominal_alpha(counts: Floats) -> Interval:
    """Alpha with its percentile bootstrap over units; `counts` [units, categories] are numbers of values."""
    counts = counts[counts.sum(axis=1) > 1]
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return Interval(math.nan)  # there is nothing to agree on
    # equal units are drawn together
    units, copies = np.unique(counts, axis=0, return_counts=True)
    sizes = units.sum(axis=1)
    disagreement = (sizes**2 - (units**2).sum(axis=1)) / (sizes - 1)
    draws = np.random.default_rng(SEED).multinomial(len(counts), copies / len(counts), DRAWS)
    weights = np.vstack([copies, draws])
    totals = weights @ units
    number = totals.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # a draw may have one category only
        alphas = 1 - weights @ disagreement * (number - 1) / (number**2 - (totals**2).sum(axis=1))
    low, high = np.nanquantile(alphas[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(alphas[0]), float(low), float(high))
