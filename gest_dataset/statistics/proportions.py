"""Proportions of strata, also of samples that come in units, and weighted sums of them.

Samples that come in units are worth fewer independent ones. With the variance of a share over units and
that of as many independent samples, their ratio is the design effect, and n / deff samples take the place
of n in the formulas of independent ones (Kish, 1965; Korn and Graubard, 1998, Survey Methodology 24).
deff is at least 1; where all samples agree, which says nothing of it, it is that of units of one mind. As
it is an estimate, n is also multiplied by (z / t)^2, with Student's t of the units' degrees of freedom.

    p = sum of w_i p_i, all w_i > 0   Wilson's interval of n* samples that have the variance of p, which is
                                      estimated from rates moved towards their mean by 4 / k trials each
                                      (Yan and Su, 2010, Statistics in Biopharmaceutical Research 2)
    p - p'                            their distances from p and p', squared and added (Newcombe, 1998;
                                      Zou, 2008, with the correlation of two sums over the same units)

Intervals of single proportions, and how bounds are named in a result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from gest_dataset.statistics.bootstrap import LEVEL, UNDEFINED, Interval
from gest_dataset.statistics.checks import Floats, Ints

Z = float(special.ndtri(1 - (1 - LEVEL) / 2))


@dataclass(frozen=True)
class StratifiedCounts:
    """x of n samples in each stratum, and the same by unit [units, strata] where samples come in units."""

    positive: Floats
    number: Floats
    by_unit: tuple[Floats, Floats] | None = None

    @property
    def rates(self) -> Floats:
        """x / n; nan of nothing."""
        with np.errstate(invalid="ignore"):
            return self.positive / self.number


def count_hits(hits: Floats, strata: Ints, number: int, units: Ints | None) -> StratifiedCounts:
    """From samples that are a hit or not, in strata 0 to `number` - 1."""
    kinds = np.stack([hits, np.ones(len(hits))])
    total: list[Floats] = [
        np.bincount(strata, weights=kind, minlength=number).astype(np.float64) for kind in kinds
    ]
    if units is None or len(np.unique(units)) == len(units):
        return StratifiedCounts(total[0], total[1])
    names, places = np.unique(units, return_inverse=True)
    cells = places * number + strata
    each: list[Floats] = [
        np.bincount(cells, weights=kind, minlength=len(names) * number).astype(np.float64).reshape(-1, number)
        for kind in kinds
    ]
    # in an order of their own, so that sums over them do not depend on that of the samples
    order = np.lexsort(np.hstack(each).T)
    return StratifiedCounts(total[0], total[1], (each[0][order], each[1][order]))


def effective_ratio(shares: StratifiedCounts, weights: Floats, z: float = Z) -> float:
    """How many independent samples one is worth in a sum of rates with these weights, 0 or above.

    nan where a stratum has one unit only.
    """
    if shares.by_unit is None:
        return 1.0
    used = weights != 0
    x, n, w = shares.positive[used], shares.number[used], weights[used]
    sizes = shares.by_unit[1][:, used]
    each = (sizes > 0).sum(axis=0)
    if (each < 2).any():
        return math.nan
    rates = x / n
    independent = float((rates * (1 - rates) / n) @ w**2)
    if independent > 0:
        over_units = float((_residuals(shares, weights) ** 2).sum())
    else:
        over_units, independent = float((sizes / n) @ w @ (sizes / n @ w)), float((1 / n) @ w**2)
    freedom = min((sizes.sum(axis=1) > 0).sum(), (each - 1).sum() + 1) - 1
    students = float(special.stdtrit(float(freedom), special.ndtr(z)))
    return (z / students) ** 2 / max(1.0, over_units / independent)


def _residuals(shares: StratifiedCounts, weights: Floats) -> Floats:
    """What each unit moves the weighted sum of rates [units]; the sum of squares is its variance."""
    if shares.by_unit is None:
        return np.zeros(1)
    used = weights != 0
    positive, sizes = (each[:, used] for each in shares.by_unit)
    number = (sizes > 0).sum(axis=0)
    moved = (positive - shares.rates[used] * sizes) / shares.number[used]
    with np.errstate(divide="ignore", invalid="ignore"):  # one unit only has no spread
        return np.asarray(moved @ (weights[used] * np.sqrt(number / (number - 1))))


def wilson(share: float, number: float) -> tuple[float, float]:
    """Wilson's bounds (1927) of a share of so many samples."""
    trials = 1 + Z**2 / number
    centre = (share + Z**2 / (2 * number)) / trials
    reach = Z * math.sqrt(share * (1 - share) / number + Z**2 / (4 * number**2)) / trials
    return centre - reach, centre + reach


def _mean(shares: StratifiedCounts, weights: Floats) -> tuple[float, float, float]:
    """The mean of rates with weights of 0 and above, and its bounds."""
    used = weights > 0
    x, n, w = shares.positive[used], shares.number[used], weights[used] / weights.sum()
    mean = min(float((x / n) @ w), 1.0)
    added = 4 / len(w)
    rates = (x + added * mean) / (n + added)
    variance = float((rates * (1 - rates) / n) @ w**2)
    number = mean * (1 - mean) / variance if variance > 0 else 1 / float((1 / n) @ w**2)
    return mean, *wilson(mean, number * effective_ratio(shares, weights))


def rate_contrast(shares: StratifiedCounts, weights: Floats, *, centres: bool = False) -> Interval:
    """A weighted sum of independent proportions p_i = x_i / n_i, or of their Agresti-Coull centres.

    A centre is s p + (1 - s) / 2 with s = n / (n + z^2), so the bounds of a sum of centres are those of
    the rates with the weights s w.

    Analytic: Price and Bonett (2004), which is Wald's interval after 2/k successes and 4/k trials
    are added to each of the k proportions; to centres z^2/2 and z^2, so that of one proportion it is that
    of `agresti_coull`. In units, its error is divided by the root of what a sample is worth.
    """
    used = weights != 0
    if (shares.number[used] == 0).any():
        return UNDEFINED
    shrinkage = shares.number / (shares.number + Z**2) if centres else np.ones(len(weights))
    shift = float(weights @ (1 - shrinkage)) / 2
    sides = [np.maximum(sign * weights * shrinkage, 0) for sign in (1, -1)]
    sizes = [float(side.sum()) for side in sides]
    above, below = (
        tuple(size * bound for bound in _mean(shares, side)) if size else (0.0, 0.0, 0.0)
        for side, size in zip(sides, sizes, strict=True)
    )
    value = above[0] - below[0]
    shared = _correlation(*(_residuals(shares, side) for side in sides))
    low = value - _added(above[0] - above[1], below[2] - below[0], shared)
    high = value + _added(above[2] - above[0], below[0] - below[1], shared)
    error, centre = _price_bonett(shares, weights, Z**2 if centres else 4 / int(used.sum()))
    p_value = 2 * float(special.ndtr(-abs(centre) / error))
    return Interval(value + shift, low + shift, high + shift, centre - Z * error, centre + Z * error, p_value)


def _added(first: float, second: float, correlation: float) -> float:
    return math.sqrt(max(first**2 + second**2 - 2 * correlation * first * second, 0.0))


def _correlation(first: Floats, second: Floats) -> float:
    size = math.sqrt(float((first @ first) * (second @ second)))
    return float(np.clip(first @ second / size, -1, 1)) if size else 0.0


def _price_bonett(shares: StratifiedCounts, weights: Floats, added: float) -> tuple[float, float]:
    """Standard error and centre."""
    used = weights != 0
    trials = shares.number[used] + added
    rates = (shares.positive[used] + added / 2) / trials
    variance = float((rates * (1 - rates) / trials) @ weights[used] ** 2)
    return math.sqrt(variance / effective_ratio(shares, np.abs(weights))), float(rates @ weights[used])


def agresti_coull(positive: Floats, number: Floats, z: float = Z) -> tuple[Floats, Floats, Floats]:
    """Centre and bounds of proportions (Agresti and Coull, 1998); nan where there is no trial.

    centre = (x + z^2 / 2) / (n + z^2), bounds = centre -+ z sqrt(centre (1 - centre) / (n + z^2))
    """
    trials = np.where(number > 0, number, np.nan) + z**2
    centre = (positive + z**2 / 2) / trials
    reach = z * np.sqrt(centre * (1 - centre) / trials)
    return centre, np.clip(centre - reach, 0, 1), np.clip(centre + reach, 0, 1)


def proportion(name: str, hits: Any, units: Ints | None = None, scale: float = 1.0) -> dict[str, float]:
    """The share of samples that are a hit with its Agresti-Coull bounds, as entries of a result.

    nan of nothing. Of samples that come in units the bounds are those of as many independent samples as
    they are worth (`shares.worth`: n / deff).
    """
    values = np.asarray(hits, dtype=np.float64)
    if not len(values):
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), math.nan)
    shares = count_hits(values, np.zeros(len(values), dtype=np.int64), 1, units)
    each = effective_ratio(shares, np.ones(1))
    _, low, high = agresti_coull(each * shares.positive, each * shares.number)
    return {
        name: scale * int(shares.positive[0]) / len(values),
        f"{name}_low": scale * float(low[0]),
        f"{name}_high": scale * float(high[0]),
    }


def interval_entries(
    name: str,
    statistic: Interval,
    scale: Callable[[float], float] = float,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> dict[str, Any]:
    """A statistic and its bounds as entries of a result, on an increasing scale, within its range.

    Bounds that are centred elsewhere (a shrunk proportion) are widened to hold the value itself.
    """

    def bound(choose: Callable[[float, float], float], limit: float) -> float:
        if math.isnan(limit) or math.isnan(statistic.value):
            return math.nan
        return float(np.clip(scale(choose(limit, statistic.value)), *limits))

    return {
        name: float(scale(statistic.value)),
        f"{name}_low": bound(min, statistic.low),
        f"{name}_high": bound(max, statistic.high),
        f"{name}_analytic_low": bound(min, statistic.analytic_low),
        f"{name}_analytic_high": bound(max, statistic.analytic_high),
    }


def interval_list_entries(
    name: str,
    statistics: list[Interval],
    scale: Callable[[float], float] = float,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> dict[str, list[float]]:
    """The same for a list of statistics: lists of values and of bounds."""
    each = [interval_entries(name, entries, scale, limits) for entries in statistics]
    return {key: [entries[key] for entries in each] for key in each[0]}
