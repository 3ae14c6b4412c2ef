"""Intervals of single proportions, and how bounds are named in a result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gest_dataset.statistics.bootstrap import Interval
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.shares import Z, shares_of, worth


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
    shares = shares_of(values, np.zeros(len(values), dtype=np.int64), 1, units)
    each = worth(shares, np.ones(1))
    _, low, high = agresti_coull(each * shares.positive, each * shares.number)
    return {
        name: scale * int(shares.positive[0]) / len(values),
        f"{name}_low": scale * float(low[0]),
        f"{name}_high": scale * float(high[0]),
    }


def bounded(
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


def bounded_list(
    name: str,
    statistics: list[Interval],
    scale: Callable[[float], float] = float,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> dict[str, list[float]]:
    """The same for a list of statistics: lists of values and of bounds."""
    each = [bounded(name, entries, scale, limits) for entries in statistics]
    return {key: [entries[key] for entries in each] for key in each[0]}
