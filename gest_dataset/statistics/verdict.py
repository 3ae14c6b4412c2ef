"""What an interval says of an effect, given which effects are too small to mean anything.

What a sample can show: the smallest effect that a verdict finds.

On the scale where no stereotype is 0 (ln g_s, f_s, f) the interval of an estimate with standard error e is
about estimate -+ z(0.975) e, and the verdict is *shown* where it lies beyond the zone of negligible
effects. So the smallest true effect that is shown with a power of 80 % is

    zone + (z(0.975) + z(0.8)) e

Before a run e is known in units of the scores' standard deviation s within a stratum: with weights w_i of
strata of n_i units, e / s = sqrt(sum of w_i^2 / n_i). Of the difference of two models on the same samples
it is sqrt(2 (1 - r)) times that, r being the correlation of their scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.proportions import Z

Verdict = Literal["shown", "negligible", "not shown", "reversed"]


def verdict(low: float, high: float, zone: tuple[float, float]) -> Verdict:
    """What the interval from `low` to `high` says, beside the zone of negligible effects (inclusive).

        shown       it lies above the zone
        reversed    it lies below the zone
        negligible  it lies within the zone: an effect that matters is ruled out
        not shown   anything else: these samples cannot tell, or there are no bounds (nan), or only one
                    point (samples that are all the same, whose error nobody knows)

    >>> verdict(1.1, 1.3, (0.95, 1.05)), verdict(0.98, 1.02, (0.95, 1.05)), verdict(0.9, 1.3, (0.95, 1.05))
    ('shown', 'negligible', 'not shown')
    """
    least, most = zone
    if math.isnan(low) or math.isnan(high) or low == high:
        return "not shown"
    if low > most:
        return "shown"
    if high < least:
        return "reversed"
    return "negligible" if least <= low and high <= most else "not shown"


POWER = 0.8
_REACH = Z + float(special.ndtri(POWER))


def smallest_detectable(error: float, zone: float = 0.0) -> float:
    """The smallest true effect that is shown in 80 % of samples like this one."""
    return zone + _REACH * error


def error_from_interval(low: float, high: float) -> float:
    """The standard error that a 95 % interval on the scale of the effect tells."""
    return (high - low) / (2 * float(special.ndtri((1 + LEVEL) / 2)))


def relative_error(weights: npt.ArrayLike, sizes: Sequence[int]) -> float:
    """The standard error of a weighted sum of means, in standard deviations of the samples.

    Infinite where a stratum that counts has no unit.
    """
    w, n = np.asarray(weights, dtype=float), np.asarray(sizes, dtype=float)
    used = w != 0
    if (n[used] == 0).any():
        return math.inf
    return math.sqrt(float((w[used] ** 2 / n[used]).sum()))


def paired_error(error: float, correlation: float) -> float:
    """The standard error of a difference of two models whose scores correlate so."""
    return error * math.sqrt(2 * (1 - correlation))
