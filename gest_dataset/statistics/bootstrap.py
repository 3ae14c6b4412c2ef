"""A stratified, studentised bootstrap of smooth functions of means.

All statistics except proportions are functions of the means of a few values per sample within strata
(stereotypes, targets, genders). A draw is therefore the means and covariances of a resample of each stratum.
They give the statistic and, by the delta method, its standard error; the distribution of their ratio gives
the interval (bootstrap-t: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 12.5). Rows
are sorted within strata before anything is summed or drawn, so results do not depend on the order of samples.

The samples of a unit (a sentence with its translations, an occupation) are drawn together. With x_u the sum
of a stratum's values in unit u and n_u their number, its mean is mean(x_u) / mean(n_u), so every
statistic remains a smooth function of means (Cochran, Sampling Techniques, 1977, chapter 6). If units cross
strata, all strata are combined into one whose rows hold the sums of each.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from gest_dataset.statistics.checks import Bools, Floats, Ints

LEVEL = 0.95
DRAWS = 2000
SEED = 0

# For strata of this size or larger, resampled means are drawn from their normal limit. The first neglected
# term shifts a bound by (2 z^2 + 1) * skewness / (6 sqrt(n)) = 0.02 standard errors at skewness 1, which
# changes the coverage of one side by 0.1 percentage points.
NORMAL_FROM = 5000
# With fewer degrees of freedom resamples repeat values too often, and Student's t is used instead
MIN_DEGREES_OF_FREEDOM = 10
# If fewer samples (units) than this differ from the others, the bootstrap's interval is too short
MIN_DIFFERING = 50
_DUPLICATES = 10  # with so many equal rows on average, resamples are drawn from the distinct rows
_MAX_COUNTS = 200_000  # cells of a table of counts: 1.6 MB, which fits into a core's cache
_MAX_COVARIANCES = 40_000_000  # numbers in the covariances of all draws: 320 MB
_BLAS_COLUMNS = 8  # from so many columns on, BLAS is faster than einsum


@dataclass(frozen=True)
class Moments:
    """Means [..., strata, k], covariances [..., strata, k, k] and sizes [strata]."""

    mean: Floats
    covariance: Floats
    size: Floats


@dataclass(frozen=True)
class SmoothFunction:
    """A smooth function of the strata's means [..., strata, k], with its gradient of the same shape."""

    value: Callable[[Floats], Floats]
    gradient: Callable[[Floats], Floats]
    degrees_of_freedom: float = math.inf
    is_linear: bool = False


@dataclass(frozen=True)
class Interval:
    """A statistic with its bounds and p-value against 0."""

    value: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan


UNDEFINED = Interval(math.nan)
Scale = Callable[[float], float]
Limits = tuple[float, float]
UNLIMITED: Limits = (-math.inf, math.inf)


def linear(weights: Floats) -> SmoothFunction:
    """The weighted sum of means; `weights` [strata, k], or [strata] of a single value."""
    weights = weights.reshape(len(weights), -1)
    return SmoothFunction(
        lambda mean: np.asarray((mean * weights).sum(axis=(-2, -1))),
        lambda mean: np.broadcast_to(weights, mean.shape),
        is_linear=True,
    )


def stratify(columns: Floats, strata: Ints, number: int) -> list[Floats]:
    """The sorted rows of each stratum."""
    ends = np.cumsum(np.bincount(strata, minlength=number))[:-1]
    return np.split(columns[_sort_order(columns, strata)], ends)


def _sort_order(columns: Floats, strata: Ints) -> Ints:
    return np.lexsort((*columns.T[::-1], strata))


def sample_moments(samples: Sequence[Floats]) -> Moments:
    """The moments of the strata; nan where a stratum is too small."""
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
    """The mean relative to the first row, so that it is exact where all rows are equal."""
    return np.asarray(rows[0] + (rows - rows[0]).mean(axis=0))


def _covariance(rows: Floats) -> Floats:
    width = rows.shape[1]
    return np.asarray(np.cov(rows - rows[0], rowvar=False).reshape(width, width))


def bootstrap_moments(samples: Sequence[Floats], draws: int = DRAWS, seed: int = SEED) -> Moments:
    """The moments of `draws` resamples of every stratum; nan in strata with less than two rows."""
    generator = np.random.default_rng(seed)
    width = samples[0].shape[1]
    size = np.array([len(rows) for rows in samples], dtype=float)
    if draws * len(samples) * width**2 > _MAX_COVARIANCES:
        draws = 0
    mean = np.full((max(draws, 1), len(samples), width), np.nan)
    covariance = np.full((max(draws, 1), len(samples), width, width), np.nan)
    for i, rows in enumerate(samples):
        if draws and len(rows) > 1:
            mean[:, i], covariance[:, i] = _resample_stratum(rows, draws, generator)
    return Moments(mean, covariance, size)


def _resample_stratum(rows: Floats, draws: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    size, width = rows.shape
    centre = _mean(rows)
    # in sorted rows, the first of each run of equal ones
    starts = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)])
    if size >= NORMAL_FROM and len(starts) * _DUPLICATES > size:
        covariance = _covariance(rows)
        shifts = generator.multivariate_normal(np.zeros(width), covariance / size, draws, method="eigh")
        return centre + shifts, np.broadcast_to(covariance, (draws, width, width))
    counts = np.ones(size, dtype=np.int64)
    if len(starts) * _DUPLICATES <= size:
        rows, counts = rows[starts], np.diff(np.r_[starts, size])
    centred = rows - centre
    products = (centred[:, :, None] * centred[:, None, :]).reshape(len(rows), width * width)
    values = np.ascontiguousarray(np.hstack([centred, products]).T)
    step = max(1, _MAX_COUNTS // len(rows))
    tables = (_draw_counts(counts, min(step, draws - start), generator) for start in range(0, draws, step))
    sums = np.concatenate(
        [
            table @ values.T if width >= _BLAS_COLUMNS else np.einsum("dn,kn->dk", table, values)
            for table in tables
        ]
    )
    shifts = sums[:, :width] / size
    second = sums[:, width:].reshape(draws, width, width) / size
    return centre + shifts, (second - shifts[:, :, None] * shifts[:, None, :]) * (size / (size - 1))


def _draw_counts(counts: Ints, draws: int, generator: np.random.Generator) -> Floats:
    """How often each row occurs in each resample, if it occurs `counts` times in the data."""
    size, number = int(counts.sum()), len(counts)
    if number < size:
        return generator.multinomial(size, counts / size, size=draws).astype(np.float64)
    # the same for distinct rows, ten times as fast
    picks = generator.integers(0, size, size=(draws, size), dtype=np.int32)
    picks += np.arange(0, draws * size, size, dtype=np.int32)[:, None]
    return np.bincount(picks.ravel(), minlength=draws * size).reshape(draws, size).astype(np.float64)


def _variances(function: SmoothFunction, moments: Moments) -> Floats:
    """The part of each stratum in the variance of the statistic (delta method)."""
    gradient = function.gradient(moments.mean)
    spread = np.einsum("...si,...sij,...sj->...s", gradient, moments.covariance, gradient)
    return np.asarray(np.maximum(spread, 0) / np.maximum(moments.size, 1))


def _without_small_strata(moments: Moments) -> Moments:
    """The moments with zeros for strata that are too small to have moments."""
    small = (moments.size < 2)[:, None]
    if not small.any():
        return moments
    mean = np.where(small, np.nan_to_num(moments.mean), moments.mean)
    return Moments(mean, np.where(small[:, None], 0.0, moments.covariance), moments.size)


def welch_satterthwaite(variances: Floats, size: Floats) -> float:
    """The degrees of freedom of a variance that is a sum over strata (Welch and Satterthwaite)."""
    return 1 / float(((variances / variances.sum()) ** 2 / np.maximum(size - 1, 1)).sum())


def studentised(value: float, error: float, ratios: Floats) -> tuple[float, float, float]:
    """Bounds and p-value from the ratios t* = (theta* - theta) / se* of the draws."""
    ordered = np.sort(ratios[~np.isnan(ratios)])
    number = len(ordered)
    # order statistics, because a ratio may be infinite (a resample of equal rows)
    tail = max(1, int((number + 1) * (1 - LEVEL) / 2))
    below, above = float(ordered[tail - 1]), float(ordered[number - tail])
    side = min(int((ordered >= value / error).sum()), int((ordered <= value / error).sum()))
    p_value = min(1.0, 2 * (1 + side) / (number + 1))
    return value - above * error, value - below * error, p_value


def interval_entries(
    name: str, statistic: Interval, scale: Scale = float, limits: Limits = UNLIMITED
) -> dict[str, Any]:
    """A statistic and its bounds as entries of a result, on an increasing scale and clipped to its range."""
    value, low, high = statistic.value, statistic.low, statistic.high
    ends = [math.nan, math.nan]
    if not any(map(math.isnan, (value, low, high))):
        ends = [float(np.clip(scale(end), *limits)) for end in (min(low, value), max(high, value))]
    return {name: float(scale(value)), f"{name}_low": ends[0], f"{name}_high": ends[1]}


@dataclass(frozen=True)
class Resamples:
    """The moments of the data and of their resamples, in terms of units."""

    data: Moments
    draws: Moments
    adapt: Callable[[SmoothFunction], SmoothFunction]

    def interval(self, function: SmoothFunction, students: bool = False) -> Interval:
        """A function of the strata's means with its studentised bootstrap interval.

        With `students`, or for few samples, it is that of Student's t. The bounds are nan if a stratum
        that the function uses has fewer than two samples.
        """
        function, data, draws = self.adapt(function), self.data, self.draws
        used = _used_strata(function, data.mean)
        value = float(function.value(data.mean)) if (data.size[used] > 0).all() else math.nan
        variances = _variances(function, data)
        total = float(variances.sum())
        if math.isnan(total) or math.isnan(value) or (data.size[used] < 2).any():
            return Interval(value)
        if total == 0:
            # the smallest p-value that the draws allow, but at least that of a sign test on the smallest used
            # stratum, 2 / 2^n: two equal samples prove nothing
            sizes = data.size[used] if used.any() else data.size
            p_value = 1.0 if value == 0 else max(2 / (len(draws.mean) + 1), 2.0 ** float(1 - sizes.min()))
            return Interval(value, value, value, p_value)
        error = math.sqrt(total)
        freedom = min(welch_satterthwaite(variances, data.size), function.degrees_of_freedom)
        reach = error * float(special.stdtrit(freedom, 1 - (1 - LEVEL) / 2))
        p_value = 2 * float(special.stdtr(freedom, -abs(value) / error))
        analytic = Interval(value, value - reach, value + reach, p_value)
        if students or freedom < MIN_DEGREES_OF_FREEDOM:
            return analytic
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = (function.value(draws.mean) - value) / np.sqrt(_variances(function, draws).sum(axis=-1))
        if (~np.isfinite(ratios)).mean() > (1 - LEVEL) / 2:
            return analytic  # too many resamples miss the few rows that differ
        return Interval(value, *studentised(value, error, ratios))

    def variance(self, function: SmoothFunction) -> float:
        """The variance of a function of the strata's means (delta method)."""
        return float(_variances(self.adapt(function), self.data).sum())

    def entries(
        self, name: str, function: SmoothFunction, scale: Scale = float, limits: Limits = UNLIMITED
    ) -> dict[str, Any]:
        """The same as entries of a result."""
        return interval_entries(name, self.interval(function), scale, limits)

    def list_entries(
        self, name: str, functions: Sequence[SmoothFunction], scale: Scale = float, limits: Limits = UNLIMITED
    ) -> dict[str, Any]:
        """Several functions as entries with lists of values and of bounds."""
        entries = [self.entries(name, function, scale, limits) for function in functions]
        return {key: [entry[key] for entry in entries] for key in entries[0]}


def resample(
    columns: Floats,
    strata: Ints,
    number: int,
    units: Ints | None,
    draws: int,
    seed: int,
    transform: Callable[[Floats], Floats] = np.asarray,
) -> Resamples:
    """Resample `columns` [samples, k] in strata 0 to `number` - 1 by unit (None: each sample is a unit)."""
    samples = [transform(rows) for rows in stratify(columns, strata, number)]
    adapt: Callable[[SmoothFunction], SmoothFunction] = lambda function: function  # noqa: E731
    if units is not None and len(np.unique(units)) < len(units):
        samples, adapt = _sum_by_unit(samples, units[_sort_order(columns, strata)])
    data, drawn = sample_moments(samples), bootstrap_moments(samples, draws, seed)
    return Resamples(_without_small_strata(data), _without_small_strata(drawn), adapt)


def mean_interval(values: Floats, draws: int, seed: int) -> Interval:
    """The mean of independent values."""
    return resample(values[:, None], one_stratum(values), 1, None, draws, seed).interval(linear(np.ones(1)))


def one_stratum(values: Sequence[Any] | Floats) -> Ints:
    """The strata of values that are all in the same one."""
    return np.zeros(len(values), dtype=np.int64)


def squared_deviations(values: Floats, strata: Ints) -> Floats:
    """(x - mean)^2 n / (n - 1) of each value in its stratum of n, whose mean is the variance; 0 if n = 1."""
    order = np.lexsort((values, strata))  # makes rounding independent of the order of samples
    sizes = np.bincount(strata)
    means = np.bincount(strata[order], values[order]) / np.maximum(sizes, 1)
    return np.asarray((values - means[strata]) ** 2 * (sizes / np.maximum(sizes - 1, 1))[strata])


def deviation_of_squares(squares: Floats, strata: Ints) -> float:
    """The root of the mean over strata of the mean square, without strata of one sample."""
    order = np.lexsort((squares, strata))
    sizes = np.bincount(strata)
    several = sizes > 1
    means = np.bincount(strata[order], squares[order])[several] / sizes[several]
    return math.sqrt(means.mean()) if several.any() else math.nan


def standardised(effect: SmoothFunction, strata: Ints, number: int) -> SmoothFunction:
    """An effect divided by the standard deviation within strata (Cohen's d).

    The last column of the means are those of `squared_deviations`; the effect is a function of the others.
    """
    several = np.bincount(strata, minlength=number) > 1
    weights = several / max(several.sum(), 1)

    def variance(mean: Floats) -> Floats:
        squares = np.where(several, mean[..., -1], 0.0) @ weights
        return np.where(squares > 0, squares, np.nan)

    def value(mean: Floats) -> Floats:
        return np.asarray(effect.value(mean[..., :-1]) / np.sqrt(variance(mean)))

    def gradient(mean: Floats) -> Floats:
        squares = variance(mean)[..., None]
        slopes = effect.gradient(mean[..., :-1]) / np.sqrt(squares)[..., None]
        by_squares = -value(mean)[..., None] / (2 * squares) * weights
        return np.concatenate([slopes, by_squares[..., None]], axis=-1)

    return SmoothFunction(value, gradient)


def select_units(units: Ints | None, rows: Bools) -> Ints | None:
    """The units of some rows."""
    return None if units is None else units[rows]


def _sum_by_unit(
    samples: list[Floats], units: Ints
) -> tuple[list[Floats], Callable[[SmoothFunction], SmoothFunction]]:
    """Rows of sums and counts per unit, and the adaptation of functions of means to them."""
    number, width = len(samples), samples[0].shape[1]
    strata = np.repeat(np.arange(number), [len(rows) for rows in samples])
    columns = np.vstack(samples)
    cells = units * number + strata
    order = np.argsort(cells, kind="stable")  # makes sums independent of the order of samples
    cells = cells[order]
    starts = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
    sums = np.add.reduceat(np.column_stack([columns, np.ones(len(columns))])[order], starts, axis=0)
    cell_units, cell_strata = np.divmod(cells[starts], number)
    means = sample_moments(samples).mean
    names, rows = np.unique(cell_units, return_inverse=True)
    if len(names) == len(cell_units):
        return stratify(sums, cell_strata, number), lambda function: of_ratios(function, means)
    wide = np.zeros((len(names), number, width + 1))
    wide[rows, cell_strata] = sums
    units_per_stratum = np.bincount(cell_strata, minlength=number).astype(float)
    wide_rows = stratify(wide.reshape(len(names), -1), one_stratum(names), 1)
    sizes = (means.shape, units_per_stratum, len(names))
    return wide_rows, lambda function: _of_wide_rows(of_ratios(function, means), *sizes)


def _used_strata(function: SmoothFunction, means: Floats) -> Bools:
    """Which strata a function uses [strata]."""
    return np.asarray((function.gradient(np.nan_to_num(means)) != 0).any(axis=-1))


def of_ratios(function: SmoothFunction, means: Floats) -> SmoothFunction:
    """A function of sums / counts as one of the means of both [..., strata, k + 1]."""
    used = _used_strata(function, means)

    def ratios(both: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(used[:, None], both[..., :-1] / both[..., -1:], 0.0)

    def gradient(both: Floats) -> Floats:
        mean = ratios(both)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_sums = np.where(used[:, None], function.gradient(mean) / both[..., -1:], 0.0)
            by_counts = -(by_sums * mean).sum(axis=-1, keepdims=True)
        return np.concatenate([by_sums, by_counts], axis=-1)

    def value(both: Floats) -> Floats:
        with np.errstate(invalid="ignore"):  # a draw may have no sample of a small stratum
            return function.value(ratios(both))

    return SmoothFunction(value, gradient)


def _of_wide_rows(
    function: SmoothFunction, shape: Sequence[int], units_per_stratum: Floats, units: int
) -> SmoothFunction:
    """A function of several strata's sums and counts as one of the wide rows that hold them all."""
    strata, width = shape[0], shape[1] + 1
    used = _used_strata(function, np.ones((strata, width)))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(units_per_stratum / (units_per_stratum - 1) * (units - 1) / units)
    factor = np.where(used, np.where(units_per_stratum > 1, scale, np.nan), 0.0)[:, None]

    def split(wide: Floats) -> Floats:
        return wide.reshape(*wide.shape[:-2], strata, width)

    def gradient(wide: Floats) -> Floats:
        return np.where(used[:, None], function.gradient(split(wide)) * factor, 0.0).reshape(wide.shape)

    freedom = float((units_per_stratum[used] - 1).sum())
    return SmoothFunction(lambda wide: function.value(split(wide)), gradient, freedom)
