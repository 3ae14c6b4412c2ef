"""Intervals of proportions and of sums of proportions, and how bounds are named in a result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from gest_dataset.statistics.bootstrap import DRAWS, LEVEL, SEED, UNDEFINED, Interval, studentised
from gest_dataset.statistics.checks import Floats

Z = float(special.ndtri(1 - (1 - LEVEL) / 2))


def agresti_coull(positive: Floats, number: Floats) -> tuple[Floats, Floats, Floats]:
    """Centre and bounds of proportions (Agresti and Coull, 1998); nan where there is no trial.

    centre = (x + z^2 / 2) / (n + z^2), bounds = centre -+ z sqrt(centre (1 - centre) / (n + z^2))
    """
    trials = np.where(number > 0, number, np.nan) + Z**2
    centre = (positive + Z**2 / 2) / trials
    reach = Z * np.sqrt(centre * (1 - centre) / trials)
    return centre, np.clip(centre - reach, 0, 1), np.clip(centre + reach, 0, 1)


def proportion(name: str, positive: int, number: int, scale: float = 1.0) -> dict[str, float]:
    """A share with its Agresti-Coull bounds, as entries of a result; nan of nothing."""
    if not number:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), math.nan)
    _, low, high = agresti_coull(np.array(float(positive)), np.array(float(number)))
    return {
        name: scale * positive / number,
        f"{name}_low": scale * float(low),
        f"{name}_high": scale * float(high),
    }


def rate_contrast(
    positive: Floats,
    number: Floats,
    weights: Floats,
    draws: int = DRAWS,
    seed: int = SEED,
    *,
    centres: bool = False,
) -> Interval:
    """A weighted sum of independent proportions p_i = x_i / n_i, or of their Agresti-Coull centres.

    Analytic: Price and Bonett (2004), which is Wald's interval after 2/k successes and 4/k trials
    are added to each of the k proportions. The bootstrap draws from the proportions adjusted in
    this way (so that 0 of 200 is not taken for certain) and studentises with the same formula.

    With `centres`, z^2/2 successes and z^2 trials are added to each, and the sum of what this gives
    is the value: of one proportion the analytic bounds are those of `agresti_coull`. A sample drawn
    from centres has centres nearer to 1/2, so draws are compared with what they are on average.
    """
    used = weights != 0
    x, n, w = positive[used], number[used], weights[used]
    if (n == 0).any():
        return UNDEFINED
    added = Z**2 if centres else 4 / len(w)

    def adjusted(successes: Floats) -> tuple[Floats, Floats, Floats]:
        trials = n + added
        rates = (successes + added / 2) / trials
        return rates, rates @ w, np.sqrt((rates * (1 - rates) / trials) @ w**2)

    rates, centre, error = adjusted(x)
    value, expected = (centre, adjusted(n * rates)[1]) if centres else ((x / n) @ w, centre)
    generator = np.random.default_rng(seed)
    again = adjusted(generator.binomial(n.astype(np.int64), rates, size=(draws, len(w))).astype(float))
    low, high, p_value = studentised(float(centre), float(error), (again[1] - expected) / again[2])
    reach = Z * float(error)
    return Interval(float(value), low, high, float(centre) - reach, float(centre) + reach, p_value)


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
    name: str, statistics: list[Interval], scale: Callable[[float], float] = float
) -> dict[str, list[float]]:
    """The same for a list of statistics: lists of values and of bounds."""
    each = [bounded(name, entries, scale) for entries in statistics]
    return {key: [entries[key] for entries in each] for key in each[0]}
