"""Proportions of strata, also with clustered samples, and weighted sums of them.

Samples in units count as fewer independent ones. The ratio of a share's variance over units to that of
independent samples is the design effect, and n / deff replaces n in the formulas for independent samples
(Kish, 1965; Korn and Graubard, 1998, Survey Methodology 24). deff is at least 1; where all samples agree it
is that of units with identical samples. As deff is an estimate, n is also multiplied by (z / t)^2, with
Student's t for the units' degrees of freedom.

    p = sum of w_i p_i, all w_i > 0   Wilson's interval for n* samples with the variance of p, estimated from
                                      rates shrunk towards their mean by 4 / k trials each (Yan and Su, 2010,
                                      Statistics in Biopharmaceutical Research 2), without their bias and
                                      with Student's t (Welch and Satterthwaite) for small strata
    p - p'                            the distances from p and p', squared and added (Newcombe, 1998; Zou,
                                      2008, with the correlation of two sums over the same units)
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from gest_dataset.statistics.bootstrap import LEVEL, UNDEFINED, Interval, interval_entries
from gest_dataset.statistics.checks import Floats, Ints

Z = float(special.ndtri(1 - (1 - LEVEL) / 2))


@dataclass(frozen=True)
class StratifiedCounts:
    """x hits in n samples of each stratum; `by_unit` has both by unit [units, strata] if there are units."""

    positive: Floats
    number: Floats
    by_unit: tuple[Floats, Floats] | None = None

    @property
    def rates(self) -> Floats:
        """x / n; nan in empty strata."""
        with np.errstate(invalid="ignore"):
            return self.positive / self.number


def count_hits(hits: Floats, strata: Ints, number: int, units: Ints | None) -> StratifiedCounts:
    """Count the hits of samples in strata 0 to `number` - 1."""
    columns = [hits, np.ones(len(hits))]
    total = [np.bincount(strata, column, number).astype(np.float64) for column in columns]
    if units is None or len(np.unique(units)) == len(units):
        return StratifiedCounts(total[0], total[1])
    names, rows = np.unique(units, return_inverse=True)
    cells = rows * number + strata
    by_unit = [
        np.bincount(cells, column, len(names) * number).astype(np.float64).reshape(-1, number)
        for column in columns
    ]
    order = np.lexsort(np.hstack(by_unit).T)  # makes sums independent of the order of samples
    return StratifiedCounts(total[0], total[1], (by_unit[0][order], by_unit[1][order]))


def effective_ratio(counts: StratifiedCounts, weights: Floats, z: float = Z) -> float:
    """How many independent samples a sample counts for in a weighted sum of rates: (z / t)^2 / deff."""
    if counts.by_unit is None:
        return 1.0
    used = weights != 0
    x, n, w = counts.positive[used], counts.number[used], weights[used]
    sizes = counts.by_unit[1][:, used]
    units_per_stratum = (sizes > 0).sum(axis=0)
    if (units_per_stratum < 2).any():
        return math.nan
    rates = x / n
    independent = float((rates * (1 - rates) / n) @ w**2)
    if independent > 0:
        over_units = float((_residuals(counts, weights) ** 2).sum())
    else:
        over_units, independent = float((sizes / n) @ w @ (sizes / n @ w)), float((1 / n) @ w**2)
    freedom = min((sizes.sum(axis=1) > 0).sum(), (units_per_stratum - 1).sum() + 1) - 1
    students = float(special.stdtrit(float(freedom), special.ndtr(z)))
    return (z / students) ** 2 / max(1.0, over_units / independent)


def _residuals(counts: StratifiedCounts, weights: Floats) -> Floats:
    """The contribution of each unit to the weighted sum [units]; the sum of squares is its variance."""
    if counts.by_unit is None:
        return np.zeros(1)
    used = weights != 0
    positive, sizes = (table[:, used] for table in counts.by_unit)
    units = (sizes > 0).sum(axis=0)
    moved = (positive - counts.rates[used] * sizes) / counts.number[used]
    with np.errstate(divide="ignore", invalid="ignore"):  # a single unit
        return np.asarray(moved @ (weights[used] * np.sqrt(units / (units - 1))))


def agresti_coull(positive: Floats, number: Floats, z: float = Z) -> tuple[Floats, Floats, Floats]:
    """Centre and bounds of proportions (Agresti and Coull, 1998); nan without trials.

    centre = (x + z^2 / 2) / (n + z^2), bounds = centre -+ z sqrt(centre (1 - centre) / (n + z^2))
    """
    trials = np.where(number > 0, number, np.nan) + z**2
    centre = (positive + z**2 / 2) / trials
    reach = z * np.sqrt(centre * (1 - centre) / trials)
    return centre, np.clip(centre - reach, 0, 1), np.clip(centre + reach, 0, 1)


def clopper_pearson(positive: Floats, number: Floats, z: float = Z) -> tuple[Floats, Floats]:
    """Exact bounds of proportions (Clopper and Pearson, 1934); nan without trials."""
    tail = float(special.ndtr(-z))
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(positive, number - positive + 1, tail)
        high = special.betaincinv(positive + 1, number - positive, 1 - tail)
    low, high = np.where(positive > 0, low, 0.0), np.where(positive < number, high, 1.0)
    return np.where(number > 0, low, np.nan), np.where(number > 0, high, np.nan)


def proportion(name: str, hits: Any, units: Ints | None = None, scale: float = 1.0) -> dict[str, float]:
    """The share of hits with its Agresti-Coull bounds as entries of a result; nan without samples."""
    values = np.asarray(hits, dtype=np.float64)
    if not len(values):
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), math.nan)
    counts = count_hits(values, np.zeros(len(values), dtype=np.int64), 1, units)
    ratio = effective_ratio(counts, np.ones(1))
    _, low, high = agresti_coull(ratio * counts.positive, ratio * counts.number)
    share = int(counts.positive[0]) / len(values)
    return interval_entries(name, Interval(share, float(low[0]), float(high[0])), lambda one: scale * one)


def rate_contrast(counts: StratifiedCounts, weights: Floats, *, centres: bool = False) -> Interval:
    """A weighted sum of independent proportions p_i = x_i / n_i, or of their Agresti-Coull centres.

    A centre is s p + (1 - s) / 2 with s = n / (n + z^2), so the bounds of a sum of centres are those of
    the rates with weights s w.
    """
    if (counts.number[weights != 0] == 0).any():
        return UNDEFINED
    shrinkage = counts.number / (counts.number + Z**2) if centres else np.ones(len(weights))
    shift = float(weights @ (1 - shrinkage)) / 2
    sides = [np.maximum(sign * weights * shrinkage, 0) for sign in (1, -1)]
    above, below = (_weighted_sum(counts, side) for side in sides)
    value = above[0] - below[0]
    first, second = (_residuals(counts, side) for side in sides)
    size = math.sqrt(float((first @ first) * (second @ second)))
    correlation = float(np.clip(first @ second / size, -1, 1)) if size else 0.0

    def combine(one: float, other: float) -> float:
        return math.sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0))

    low = value - combine(above[0] - above[1], below[2] - below[0])
    high = value + combine(above[2] - above[0], below[0] - below[1])
    return Interval(value + shift, low + shift, high + shift)


def _weighted_sum(counts: StratifiedCounts, weights: Floats) -> tuple[float, float, float]:
    """The sum of rates with non-negative weights, and its bounds."""
    size = float(weights.sum())
    if not size:
        return 0.0, 0.0, 0.0
    used = weights > 0
    x, n, w = counts.positive[used], counts.number[used], weights[used] / weights.sum()
    mean = min(float((x / n) @ w), 1.0)
    added = 4 / len(w)
    rates = (x + added * mean) / (n + added)
    # the variance of a rate from n samples is too small by 1 - 1/n, of a shrunk one by less
    variance = float((rates * (1 - rates) / n / (1 - n / (n + added) ** 2)) @ w**2)
    number = mean * (1 - mean) / variance if variance > 0 else 1 / float((1 / n) @ w**2)
    ratio = effective_ratio(counts, weights)
    if counts.by_unit is None:  # else the ratio has the degrees of freedom of the units
        parts = w**2 / n
        freedom = float(parts.sum() ** 2 / (parts**2 / n).sum())
        ratio = (Z / float(special.stdtrit(freedom, special.ndtr(Z)))) ** 2
    number *= ratio  # from here on Wilson's bounds (1927)
    trials = 1 + Z**2 / number
    centre = (mean + Z**2 / (2 * number)) / trials
    reach = Z * math.sqrt(mean * (1 - mean) / number + Z**2 / (4 * number**2)) / trials
    return size * mean, size * (centre - reach), size * (centre + reach)
