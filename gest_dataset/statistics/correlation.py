"""Ranks and correlations, and the mean of several correlations with a jackknife interval."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats

MIN_ROWS = 4  # for the interval of a correlation


def feminine_ranks(rates: Sequence[float]) -> list[float]:
    """The rank of each stereotype by its masculine rate: 1 is the most feminine.

    Pikuliak et al. (2024), section 4.1.3. Equal rates share their mean rank; the rank of nan is nan.
    """
    return [float(rank) for rank in pd.Series(rates, dtype=float).rank()]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rho of the rates q_i (or p_i) of two runs; nan if one side does not vary."""
    checks.same_length(first=first, second=second)
    sides = (checks.finite_array("first", first), checks.finite_array("second", second))
    return pearson(*(pd.Series(side).rank().to_numpy() for side in sides))


def pearson(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Pearson's correlation; nan if one side does not vary."""
    a, b = (np.asarray(side, dtype=float) for side in (first, second))
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    order = np.lexsort((b, a))  # makes rounding independent of the order of samples
    a, b = a[order] - a[order].mean(), b[order] - b[order].mean()
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


def mean_correlation(values: Floats, pairs: Sequence[tuple[int, int]]) -> tuple[float, float, float]:
    """R, the mean of Pearson's r over pairs of columns, and its bounds; `values` [rows, columns].

    The interval is Tukey's jackknife of z = atanh R (Fisher, 1915): with z_-i without row i, the variance of
    z is (n - 1) / n times the sum of the squares of z_-i - mean z_-i, with n - 1 degrees of freedom. R is nan
    without a pair or if a column does not vary; bounds are nan where R is, with fewer than 4 rows, if a
    column varies by one row alone, and at R = 1 or -1.
    """
    number = len(values)
    if not pairs or number < 2:
        return math.nan, math.nan, math.nan
    sides = np.array(pairs).T

    def mean_of(rows: Floats) -> float:
        varies = np.ptp(rows[:, np.unique(sides)], axis=0) > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.corrcoef(rows, rowvar=False)[tuple(sides)].mean()) if varies.all() else math.nan

    mean = mean_of(values)
    if math.isnan(mean) or number < MIN_ROWS or np.isclose(abs(mean), 1, rtol=0, atol=1e-12):
        return mean, math.nan, math.nan
    with np.errstate(divide="ignore"):
        z = np.arctanh([mean_of(np.delete(values, row, axis=0)) for row in range(number)])
    if not np.isfinite(z).all():
        return mean, math.nan, math.nan
    error = math.sqrt((number - 1) / number * float(((z - z.mean()) ** 2).sum()))
    reach = float(special.stdtrit(float(number - 1), (1 + LEVEL) / 2)) * error
    centre = math.atanh(mean)
    return mean, math.tanh(centre - reach), math.tanh(centre + reach)
