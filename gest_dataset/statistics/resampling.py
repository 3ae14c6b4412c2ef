"""Resampling of units: the samples of a unit are drawn together.

A unit is what a benchmark's authors would collect again: an original sentence with its ten control groups, a
source sentence with its translations, an occupation. With x_u the sum of a stratum's values in unit u and n_u
their number, the stratum's mean is a ratio of means over units,

    mean = mean(x_u) / mean(n_u)

so every statistic remains a smooth function of means (Cochran, Sampling Techniques, 1977, chapter 6). Where
units cross strata, all strata are combined into one whose rows hold the sums of each stratum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gest_dataset.statistics.bootstrap import (
    Interval,
    Moments,
    SmoothFunction,
    bootstrap_moments,
    interval,
    linear,
    sample_moments,
    sort_order,
    stratify,
)
from gest_dataset.statistics.checks import Bools, Floats, Ints


@dataclass(frozen=True)
class Resamples:
    """The moments of the data and of their resamples, in terms of units.

    `adapt` turns a function of the strata's means into one of these moments.
    """

    data: Moments
    draws: Moments
    adapt: Callable[[SmoothFunction], SmoothFunction]

    def interval(self, function: SmoothFunction) -> Interval:
        """A function of the strata's means with its bounds."""
        return interval(self.adapt(function), self.data, self.draws)


def resample(
    columns: Floats,
    strata: Ints,
    number: int,
    units: Ints | None,
    draws: int,
    seed: int,
    transform: Callable[[Floats], Floats] = np.asarray,
) -> Resamples:
    """Resample `columns` [samples, k] in strata 0 to `number` - 1 by unit (None: each sample is a unit).

    `transform` is applied to the sorted rows of each stratum first.
    """
    order, ends = sort_order(columns, strata, number)
    samples = [transform(rows) for rows in np.split(columns[order], ends)]
    adapt: Callable[[SmoothFunction], SmoothFunction] = _unchanged
    if units is not None and len(np.unique(units)) < len(units):
        samples, adapt = _sum_by_unit(samples, units[order])
    return Resamples(sample_moments(samples), bootstrap_moments(samples, draws, seed), adapt)


def _unchanged(function: SmoothFunction) -> SmoothFunction:
    return function


def contrasts(
    values: Floats, strata: Ints, weights: Sequence[Floats], draws: int, seed: int, units: Ints | None = None
) -> list[Interval]:
    """Weighted sums of the strata's means, one for each row of weights, from the same resamples."""
    resamples = resample(values[:, None], strata, len(weights[0]), units, draws, seed)
    return [resamples.interval(linear(np.asarray(row)[:, None])) for row in weights]


def pooled_deviation(values: Floats, strata: Ints) -> float:
    """The standard deviation within strata: the root of their mean variance.

    It makes effects comparable between models with more and less extreme scores. Strata with one sample are
    left out; nan if no stratum has two.
    """
    order = np.lexsort((values, strata))  # makes rounding independent of the order of samples
    values, strata = values[order], strata[order]
    sizes = np.bincount(strata)
    means = np.bincount(strata, values) / np.maximum(sizes, 1)
    squares = np.bincount(strata, (values - means[strata]) ** 2)
    several = sizes > 1
    return math.sqrt((squares[several] / (sizes[several] - 1)).mean()) if several.any() else math.nan


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
        return stratify(sums, cell_strata, number), lambda function: _of_ratios(function, means)
    wide = np.zeros((len(names), number, width + 1))
    wide[rows, cell_strata] = sums
    units_per_stratum = np.bincount(cell_strata, minlength=number).astype(float)
    return (
        stratify(wide.reshape(len(names), -1), np.zeros(len(names), dtype=np.int64), 1),
        lambda function: _of_wide_rows(
            _of_ratios(function, means), means.shape, units_per_stratum, len(names)
        ),
    )


def _used_strata(function: SmoothFunction, means: Floats) -> Floats:
    """Which strata a function uses [strata]."""
    return np.asarray((function.gradient(np.nan_to_num(means)) != 0).any(axis=-1))


def _of_ratios(function: SmoothFunction, means: Floats) -> SmoothFunction:
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

    return SmoothFunction(lambda both: function.value(ratios(both)), gradient)


def _of_wide_rows(
    function: SmoothFunction, shape: Sequence[int], units_per_stratum: Floats, units: int
) -> SmoothFunction:
    """A function of several strata's sums and counts as one of the wide rows that hold them all.

    A stratum with m of the n units contributes the variance and degrees of freedom of m units, so its
    gradient is scaled by sqrt(m / (m - 1) * (n - 1) / n).
    """
    strata, width = shape[0], shape[1] + 1
    used = _used_strata(function, np.ones((strata, width)))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(units_per_stratum / (units_per_stratum - 1) * (units - 1) / units)
    factor = np.where(used, np.where(units_per_stratum > 1, scale, np.nan), 0.0)[:, None]

    def split(wide: Floats) -> Floats:
        return wide.reshape(*wide.shape[:-2], strata, width)

    def gradient(wide: Floats) -> Floats:
        slopes = np.where(used[:, None], function.gradient(split(wide)) * factor, 0.0)
        return slopes.reshape(wide.shape)

    freedom = float((units_per_stratum[used] - 1).sum())
    return SmoothFunction(lambda wide: function.value(split(wide)), gradient, freedom)
