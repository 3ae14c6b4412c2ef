"""The verdict on an effect from its interval (`measures.result.with_verdict` decides finally), and power.

On the scale where no stereotype is 0 (ln g_s, f_s, f) the interval of an estimate with standard error e is
about estimate -+ z(0.975) e, and the verdict is *shown* if it lies beyond the zone of negligible effects. So
the smallest true effect that is shown with a power of 80 % is

    zone + (z(0.975) + z(0.8)) e

Before a run e is known relative to the standard deviation s of the scores within strata: with weights w_i of
strata of n_i units, e / s = sqrt(sum of w_i^2 / n_i). For the difference of two models on the same samples it
is sqrt(2 (1 - r)) times that, where r is the correlation of their scores.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from gest_dataset.statistics.proportions import Z

Verdict = Literal["shown", "negligible", "not shown", "reversed", "undefined"]
POWER = 0.8
_REACH = Z + float(special.ndtri(POWER))


def verdict(low: float, high: float, zone: tuple[float, float]) -> Verdict:
    """The verdict for the interval from `low` to `high`, given the zone of negligible effects (inclusive).

        shown       it lies above the zone
        reversed    it lies below the zone
        negligible  it lies within the zone: a relevant effect is ruled out
        undefined   it has no bounds (nan)
        not shown   anything else, also a single point (all samples equal, error unknown)

    >>> verdict(1.1, 1.3, (0.95, 1.05)), verdict(0.98, 1.02, (0.95, 1.05)), verdict(0.9, 1.3, (0.95, 1.05))
    ('shown', 'negligible', 'not shown')
    """
    if math.isnan(low) or math.isnan(high):
        return "undefined"
    if low == high:
        return "not shown"
    if low > zone[1]:
        return "shown"
    if high < zone[0]:
        return "reversed"
    return "negligible" if zone[0] <= low and high <= zone[1] else "not shown"


def smallest_detectable(error: float, zone: float = 0.0, band: float = 0.0) -> float:
    """The smallest true effect that is shown in 80 % of samples like this one.

    Its interval must lie beyond the zone, and the estimate itself beyond the placebo band.
    """
    return max(zone + _REACH * error, band + (_REACH - Z) * error)


def error_from_interval(low: float, high: float) -> float:
    """The standard error behind a 95 % interval."""
    return (high - low) / (2 * Z)


def standard_error_in_sds(weights: npt.ArrayLike, sizes: Sequence[int]) -> float:
    """The standard error of a weighted sum of means, in SDs; infinite if a stratum has less than two."""
    w, n = np.asarray(weights, dtype=float), np.asarray(sizes, dtype=float)
    used = w != 0
    if (n[used] < 2).any():
        return math.inf
    return math.sqrt(float((w[used] ** 2 / n[used]).sum()))
