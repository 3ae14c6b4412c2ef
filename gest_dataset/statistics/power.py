"""What a sample can show: the smallest effect that a verdict finds.

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

import numpy as np
import numpy.typing as npt
from scipy import special

from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.shares import Z

POWER = 0.8
_REACH = Z + float(special.ndtri(POWER))


def smallest_shown(error: float, zone: float = 0.0) -> float:
    """The smallest true effect that is shown in 80 % of samples like this one."""
    return zone + _REACH * error


def error_of(low: float, high: float) -> float:
    """The standard error that a 95 % interval on the scale of the effect tells."""
    return (high - low) / (2 * float(special.ndtri((1 + LEVEL) / 2)))


def error_per_deviation(weights: npt.ArrayLike, sizes: Sequence[int]) -> float:
    """The standard error of a weighted sum of means, in standard deviations of the samples.

    Infinite where a stratum that counts has no unit.
    """
    w, n = np.asarray(weights, dtype=float), np.asarray(sizes, dtype=float)
    used = w != 0
    if (n[used] == 0).any():
        return math.inf
    return math.sqrt(float((w[used] ** 2 / n[used]).sum()))


def paired(error: float, correlation: float) -> float:
    """The standard error of a difference of two models whose scores correlate so."""
    return error * math.sqrt(2 * (1 - correlation))
