"""A stratified, studentised bootstrap of smooth functions of means.

All our statistics but proportions are functions of the means of a few per-sample values within
strata (stereotypes, targets, genders). So a draw is just the means and covariances of a resample
of each stratum: counts of a multinomial, times the values. From them come the statistic and, by
the delta method, its standard error, and their ratio gives the interval (bootstrap-t: Efron and
Tibshirani, An Introduction to the Bootstrap, 1993, chapter 12.5):

    [theta - t*(97.5 %) se, theta - t*(2.5 %) se]     t* = (theta* - theta) / se*

A percentile interval would be too short on the small sets; this one is right to second order.

The order of samples never matters: within a stratum the rows are sorted before anything is added
up or drawn, so that the result is the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from gest_dataset.statistics.checks import Floats, Ints

LEVEL = 0.95
DRAWS = 2000
SEED = 0

# From this size of a stratum on, its resampled means are drawn from their normal limit. The first
# term that this neglects shifts a bound by (2 z^2 + 1) * skewness / (6 sqrt(n)) = 0.02 standard errors
# at skewness 1, which moves the coverage of one side by 0.1 percentage points.
NORMAL_FROM = 5000
# With fewer degrees of freedom resamples repeat a value too often; Student's t is used instead.
LEAST_FREEDOM = 10
_REPEATED = 10  # from so many equal rows on average, resamples are drawn from the distinct rows
_CELLS = 4_000_000  # of a table of counts in memory: 32 MB
_MOST = 40_000_000  # numbers in the covariances of all draws: 320 MB
_WIDE = 8  # from so many columns on, BLAS is worth its threads


@dataclass(frozen=True)
class Moments:
    """Means [..., strata, k], covariances [..., strata, k, k] and sizes [strata] of the strata."""

    mean: Floats
    covariance: Floats
    size: Floats


@dataclass(frozen=True)
class SmoothFunction:
    """A smooth function of the strata's means [..., strata, k], with its gradient of that shape.

    Its variance has at most `freedom` degrees of freedom.
    """

    value: Callable[[Floats], Floats]
    gradient: Callable[[Floats], Floats]
    freedom: float = math.inf


@dataclass(frozen=True)
class Interval:
    """A statistic with its bootstrap bounds, and the analytic ones (Student's t) beside them."""

    value: float
    low: float
    high: float
    analytic_low: float
    analytic_high: float
    p_value: float  # two-sided, of the hypothesis that the statistic is 0


UNDEFINED = Interval(*[math.nan] * 6)


def linear(weights: Floats) -> SmoothFunction:
    """The weighted sum of means; `weights` [strata, k]."""
    return SmoothFunction(
        lambda mean: np.asarray((mean * weights).sum(axis=(-2, -1))),
        lambda mean: np.broadcast_to(weights, mean.shape),
    )


def stratify(columns: Floats, strata: Ints, number: int) -> list[Floats]:
    """The rows of each stratum, sorted."""
    order, ends = in_order(columns, strata, number)
    return np.split(columns[order], ends)


def in_order(columns: Floats, strata: Ints, number: int) -> tuple[Ints, Ints]:
    """The order of rows that are sorted within their strata, and where all strata but the last end."""
    order = np.lexsort((*columns.T[::-1], strata))
    return order, np.cumsum(np.bincount(strata, minlength=number))[:-1]


def sample_moments(samples: Sequence[Floats]) -> Moments:
    """The moments of the strata as they are; nan where a stratum is too small for one."""
    width = samples[0].shape[1]
    mean = np.full((len(samples), width), np.nan)
    covariance = np.full((len(samples), width, width), np.nan)
    for i, rows in enumerate(samples):
        if len(rows):
            mean[i] = _mean(rows)
        if len(rows) > 1:
            covariance[i] = _covariance(rows)
    return Moments(mean, covariance, np.array([len(rows) for rows in samples], dtype=float))


def _mean(rows: Floats) -> Floats:
    """The mean, counted from the first row: exact where all rows are the same."""
    return np.asarray(rows[0] + (rows - rows[0]).mean(axis=0))


def _covariance(rows: Floats) -> Floats:
    width = rows.shape[1]
    return np.asarray(np.cov(rows - rows[0], rowvar=False).reshape(width, width))


def bootstrap_moments(samples: Sequence[Floats], draws: int = DRAWS, seed: int = SEED) -> Moments:
    """The moments of `draws` resamples of every stratum; needs two rows in each.

    They are nan where rows are so wide that their covariances would not fit into memory, so that the
    analytic bounds are taken.
    """
    generator = np.random.default_rng(seed)
    width = samples[0].shape[1]
    size = np.array([len(rows) for rows in samples], dtype=float)
    if draws * len(samples) * width**2 > _MOST:
        return Moments(
            np.full((1, len(samples), width), np.nan), np.full((1, len(samples), width, width), np.nan), size
        )
    mean = np.full((draws, len(samples), width), np.nan)
    covariance = np.full((draws, len(samples), width, width), np.nan)
    for i, rows in enumerate(samples):
        if len(rows) > 1:
            mean[:, i], covariance[:, i] = _resampled_stratum(rows, draws, generator)
    return Moments(mean, covariance, size)


def _resampled_stratum(rows: Floats, draws: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    size, width = rows.shape
    centre = _mean(rows)
    # sorted rows: the first of each run of equal ones
    starts = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)])
    if size >= NORMAL_FROM and len(starts) * _REPEATED > size:
        covariance = _covariance(rows)
        shifts = generator.multivariate_normal(np.zeros(width), covariance / size, draws, method="eigh")
        return centre + shifts, np.broadcast_to(covariance, (draws, width, width))
    if len(starts) * _REPEATED <= size:
        rows, counts = rows[starts], np.diff(np.r_[starts, size])
    else:
        counts = np.ones(size, dtype=np.int64)
    centred = rows - centre
    products = (centred[:, :, None] * centred[:, None, :]).reshape(len(rows), width * width)
    # a column per row of memory; where there are few, the threads of BLAS cost more than they bring
    values = np.ascontiguousarray(np.hstack([centred, products]).T)
    step = max(1, _CELLS // len(rows))
    tables = (_counts(counts, min(step, draws - start), generator) for start in range(0, draws, step))
    sums = np.concatenate(
        [table @ values.T if width >= _WIDE else np.einsum("dn,kn->dk", table, values) for table in tables]
    )
    shifts = sums[:, :width] / size
    second = sums[:, width:].reshape(draws, width, width) / size
    return centre + shifts, (second - shifts[:, :, None] * shifts[:, None, :]) * (size / (size - 1))


def _counts(counts: Ints, draws: int, generator: np.random.Generator) -> Floats:
    """How often each row is in each of some resamples, when it is in the data `counts` times."""
    size, number = int(counts.sum()), len(counts)
    if number < size:
        return generator.multinomial(size, counts / size, size=draws).astype(np.float64)
    # the same for rows that are all different, ten times as fast
    picks = generator.integers(0, size, size=(draws, size), dtype=np.int32)
    picks += np.arange(0, draws * size, size, dtype=np.int32)[:, None]
    return np.bincount(picks.ravel(), minlength=draws * size).reshape(draws, size).astype(np.float64)


def _variances(function: SmoothFunction, moments: Moments) -> Floats:
    """What each stratum adds to the variance of the statistic (delta method)."""
    gradient = function.gradient(moments.mean)
    spread = np.einsum("...si,...sij,...sj->...s", gradient, moments.covariance, gradient)
    used = (gradient != 0).any(axis=-1)
    return np.where(used, np.maximum(spread, 0) / np.maximum(moments.size, 1), 0.0)


def _without(moments: Moments, strata: Ints) -> Moments:
    """The moments with zeros for some strata, which are too small for moments of their own."""
    mean, covariance = moments.mean.copy(), moments.covariance.copy()
    mean[..., strata, :] = 0
    covariance[..., strata, :, :] = 0
    return Moments(mean, covariance, moments.size)


def interval(function: SmoothFunction, data: Moments, draws: Moments) -> Interval:
    """The statistic and its bounds; bounds are nan where a stratum in use has less than two samples."""
    unused = ~(function.gradient(np.nan_to_num(data.mean)) != 0).any(axis=-1)
    spare = np.flatnonzero(unused & (data.size < 2))
    data = _without(data, spare) if len(spare) else data
    value = float(function.value(data.mean))
    parts = _variances(function, data)
    total = float(parts.sum())
    if math.isnan(total) or math.isnan(value):
        return Interval(value, *[math.nan] * 5)
    if total == 0:
        p_value = 1.0 if value == 0 else _p_of_constant(function, data, draws)
        return Interval(value, value, value, value, value, p_value)
    error = math.sqrt(total)
    freedom = min(freedom_of(parts, data.size), function.freedom)
    reach = error * float(special.stdtrit(freedom, 1 - (1 - LEVEL) / 2))
    analytic = (value - reach, value + reach)
    tail = float(special.stdtr(freedom, -abs(value) / error))
    students = Interval(value, *analytic, *analytic, 2 * tail)
    if freedom < LEAST_FREEDOM:
        return students
    again = _without(draws, spare) if len(spare) else draws
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (function.value(again.mean) - value) / np.sqrt(_variances(function, again).sum(axis=-1))
    if (~np.isfinite(ratios)).mean() > (1 - LEVEL) / 2:
        return students  # too many resamples miss the few rows that differ, and bound nothing
    low, high, p_value = studentised(value, error, ratios)
    return Interval(value, low, high, *analytic, p_value)


def freedom_of(parts: Floats, size: Floats) -> float:
    """Degrees of freedom of a variance that is a sum over strata (Welch and Satterthwaite)."""
    return 1 / float(((parts / parts.sum()) ** 2 / np.maximum(size - 1, 1)).sum())


def _p_of_constant(function: SmoothFunction, data: Moments, draws: Moments) -> float:
    """The p-value of a statistic other than 0 whose samples do not vary: no resample has another value.

    So it is the least that so many draws can tell, and where samples are few that of a sign test on
    the smallest stratum in use, 2 / 2^n: two equal samples are no proof.
    """
    used = (function.gradient(data.mean) != 0).any(axis=-1)
    sizes = data.size[used] if used.any() else data.size
    return float(max(2 / (len(draws.mean) + 1), 2.0 ** (1 - sizes.min())))


def studentised(value: float, error: float, ratios: Floats) -> tuple[float, float, float]:
    """Bounds and p-value from the ratios t* of the draws."""
    ordered = np.sort(ratios[~np.isnan(ratios)])
    number = len(ordered)
    # order statistics, because a ratio may be infinite: a resample of equal rows has no error
    tail = max(1, int((number + 1) * (1 - LEVEL) / 2))
    below, above = float(ordered[tail - 1]), float(ordered[number - tail])
    side = min(int((ordered >= value / error).sum()), int((ordered <= value / error).sum()))
    p_value = min(1.0, 2 * (1 + side) / (number + 1))
    return value - above * error, value - below * error, p_value
