"""Feminine ranks, and how far two runs agree on them.

The mean of several Pearson correlations over the same samples, with a jackknife interval.

    R = mean over pairs of columns (a, b) of r(a, b)

The interval is Tukey's jackknife of z = atanh R (Fisher, 1915): with z_-i without sample i, the
variance of z is (n - 1) / n times the sum of the squares of z_-i - mean z_-i, and Student's t has n - 1
degrees of freedom. It speaks of other samples (rows), and takes the correlations of a mean for what they are:
of the same samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats


def feminine_ranks(rates: Sequence[float]) -> list[float]:
    """The rank of each stereotype by its masculine rate: 1 is the most feminine.

    Pikuliak et al. (2024), section 4.1.3: a stereotype of rank j is the j-th most feminine of the
    16. Equal rates share their mean rank; where the rate is nan, so is the rank.
    """
    return [float(rank) for rank in pd.Series(rates, dtype=float).rank()]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rho of the rates q_i (or p_i) of two runs; nan where one side does not vary."""
    checks.same_length(first=first, second=second)
    sides = (checks.finite_array("first", first), checks.finite_array("second", second))
    return pearson(*(pd.Series(side).rank().to_numpy() for side in sides))


def pearson(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Pearson's correlation; nan where one side does not vary."""
    a, b = (np.asarray(side, dtype=float) for side in (first, second))
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    order = np.lexsort((b, a))  # so that rounding does not depend on the order of samples
    a, b = a[order] - a[order].mean(), b[order] - b[order].mean()
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


LEAST = 4  # rows: below, an interval of a correlation says nothing


def mean_correlation(values: Floats, pairs: Sequence[tuple[int, int]]) -> tuple[float, float, float]:
    """R and its bounds, of `values` [samples, columns] without nan.

    R is nan where there is no pair or a column of one does not vary; bounds are nan where R is, of fewer than
    4 rows, where a column varies by one row alone, and at R = 1 or -1.
    """
    number = len(values)
    if not pairs or number < 2:
        return math.nan, math.nan, math.nan
    centred = values - values.mean(axis=0)
    first, second = (centred[:, [pair[side] for pair in pairs]] for side in (0, 1))
    each = _correlations(first, second, np.zeros((1, len(pairs))), np.zeros((1, len(pairs))), number)[0]
    mean = float(each.mean())
    if math.isnan(mean) or number < LEAST or abs(mean) >= 1:
        return mean, math.nan, math.nan
    without = _correlations(first, second, first, second, number - 1).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.arctanh(without)
    if not np.isfinite(z).all():
        return mean, math.nan, math.nan
    error = math.sqrt((number - 1) / number * float(((z - z.mean()) ** 2).sum()))
    reach = float(special.stdtrit(float(number - 1), (1 + LEVEL) / 2)) * error
    centre = math.atanh(mean)
    return mean, math.tanh(centre - reach), math.tanh(centre + reach)


def _correlations(first: Floats, second: Floats, less_a: Floats, less_b: Floats, left: int) -> Floats:
    """r of each pair of centred columns without one row each time [rows, pairs]; `left` rows remain."""
    sum_a, sum_b = -less_a, -less_b  # the columns are centred: their sums are 0
    aa = (first**2).sum(axis=0) - less_a**2 - sum_a**2 / left
    bb = (second**2).sum(axis=0) - less_b**2 - sum_b**2 / left
    ab = (first * second).sum(axis=0) - less_a * less_b - sum_a * sum_b / left
    size = (first**2).sum(axis=0) * 1e-12, (second**2).sum(axis=0) * 1e-12  # what rounding leaves of nothing
    varies = (aa > size[0]) & (bb > size[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(varies, ab / np.sqrt(aa * bb), np.nan)
    return np.asarray(np.clip(found, -1, 1))
