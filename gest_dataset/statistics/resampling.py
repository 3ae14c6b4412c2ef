"""Samples that are not drawn one by one: the rows of a unit are resampled together.

A unit is what a benchmark's authors would collect anew: an original sentence with its ten control
groups, a source sentence with its translations, an occupation. With x_u the sum of a stratum's values
in unit u and n_u their number, the stratum's mean is a ratio of means over units,

    mean = mean(x_u) / mean(n_u)

so every statistic stays a smooth function of means (Cochran, Sampling Techniques, 1977, chapter 6),
and the bootstrap draws units. Where units cross strata, all strata make one, whose rows hold each
stratum's sums. Units of one row each are the samples themselves.

Weighted sums of the means of strata: what every rate of log-ratios is, before its scale.
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
    in_order,
    interval,
    linear,
    sample_moments,
    stratify,
)
from gest_dataset.statistics.checks import Bools, Floats, Ints


@dataclass(frozen=True)
class Resamples:
    """The moments of what is resampled, and of its resamples, for functions of the strata's means.

    `adapted` makes of such a function one of the moments' means.
    """

    data: Moments
    draws: Moments
    adapted: Callable[[SmoothFunction], SmoothFunction]

    def interval(self, function: SmoothFunction) -> Interval:
        """A function of the strata's means with its bounds."""
        return interval(self.adapted(function), self.data, self.draws)


def resample(
    columns: Floats,
    strata: Ints,
    number: int,
    units: Ints | None,
    draws: int,
    seed: int,
    rows: Callable[[Floats], Floats] = np.asarray,
) -> Resamples:
    """`columns` [samples, k] in strata 0 to `number` - 1, by unit; None where each sample is one.

    `rows` makes what is averaged of the sorted columns of a stratum.
    """
    order, ends = in_order(columns, strata, number)
    samples = [rows(stratum) for stratum in np.split(columns[order], ends)]
    adapted: Callable[[SmoothFunction], SmoothFunction] = _as_it_is
    if units is not None and len(np.unique(units)) < len(units):
        samples, adapted = _by_unit(samples, units[order])
    return Resamples(sample_moments(samples), bootstrap_moments(samples, draws, seed), adapted)


def select_units(units: Ints | None, rows: Bools) -> Ints | None:
    """The units of some rows."""
    return None if units is None else units[rows]


def _as_it_is(function: SmoothFunction) -> SmoothFunction:
    return function


def _by_unit(
    samples: list[Floats], units: Ints
) -> tuple[list[Floats], Callable[[SmoothFunction], SmoothFunction]]:
    """Rows of sums and counts a unit, and how functions of means are functions of theirs."""
    number, width = len(samples), samples[0].shape[1]
    strata = np.repeat(np.arange(number), [len(rows) for rows in samples])
    columns = np.vstack(samples)
    cells = units * number + strata
    # stable, so that a sum does not depend on the order of the samples
    order = np.argsort(cells, kind="stable")
    cells = cells[order]
    starts = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
    sums = np.add.reduceat(np.column_stack([columns, np.ones(len(columns))])[order], starts, axis=0)
    own_units, own_strata = np.divmod(cells[starts], number)
    means = sample_moments(samples).mean
    if len(np.unique(own_units)) == len(own_units):
        return stratify(sums, own_strata, number), lambda function: _of_ratios(function, means)
    names, places = np.unique(own_units, return_inverse=True)
    wide = np.zeros((len(names), number, width + 1))
    wide[places, own_strata] = sums
    each = np.bincount(own_strata, minlength=number).astype(float)
    return (
        stratify(wide.reshape(len(names), -1), np.zeros(len(names), dtype=np.int64), 1),
        lambda function: _of_one_stratum(_of_ratios(function, means), means.shape, each, len(names)),
    )


def _used(function: SmoothFunction, means: Floats) -> Floats:
    """Which strata a function uses [strata]."""
    return np.asarray((function.gradient(np.nan_to_num(means)) != 0).any(axis=-1))


def _of_ratios(function: SmoothFunction, means: Floats) -> SmoothFunction:
    """A function of sums / counts, as one of the means of both [..., strata, k + 1]."""
    used = _used(function, means)

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


def _of_one_stratum(
    function: SmoothFunction, shape: Sequence[int], each: Floats, units: int
) -> SmoothFunction:
    """A function of several strata's sums and counts, as one of the wide rows that hold them all.

    `each` is how many of the units a stratum has. Its part of the variance is that of so many, and the
    degrees of freedom are at most theirs, so its slopes are scaled by sqrt(m / (m - 1) * (n - 1) / n).
    """
    strata, width = shape[0], shape[1] + 1
    used = _used(function, np.ones((strata, width)))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(each / (each - 1) * (units - 1) / units)
    factor = np.where(used, np.where(each > 1, scale, np.nan), 0.0)[:, None]

    def apart(wide: Floats) -> Floats:
        return wide.reshape(*wide.shape[:-2], strata, width)

    def gradient(wide: Floats) -> Floats:
        slopes = np.where(used[:, None], function.gradient(apart(wide)) * factor, 0.0)
        return slopes.reshape(wide.shape)

    freedom = float((each[used] - 1).sum())
    return SmoothFunction(lambda wide: function.value(apart(wide)), gradient, freedom)


def contrasts(
    values: Floats,
    strata: Ints,
    weights: Sequence[Floats],
    draws: int,
    seed: int,
    units: Ints | None = None,
) -> list[Interval]:
    """One interval for each row of weights over the strata, all from the same resamples."""
    resamples = resample(values[:, None], strata, len(weights[0]), units, draws, seed)
    return [resamples.interval(linear(np.asarray(row)[:, None])) for row in weights]


def pooled_deviation(values: Floats, strata: Ints) -> float:
    """The standard deviation of samples within a stratum: the root of the strata's mean variance.

    What an effect is measured by that does not depend on how strongly a model speaks. Strata of one sample
    have none; nan where no stratum has two.
    """
    order = np.lexsort((values, strata))  # rounding does not depend on the order of samples
    values, strata = values[order], strata[order]
    sizes = np.bincount(strata)
    means = np.bincount(strata, values) / np.maximum(sizes, 1)
    squares = np.bincount(strata, (values - means[strata]) ** 2)
    several = sizes > 1
    return math.sqrt((squares[several] / (sizes[several] - 1)).mean()) if several.any() else math.nan
