"""The weights that average rates of the 16 stereotypes (Pikuliak et al., 2024, sections 4.1.1 and 4.2.1).

    female = mean over stereotypes 1 .. 7      male = mean over stereotypes 8 .. 16

Their difference, male - female, gives f_s from rates (eq. 1) and ln g_s from ln q (eq. 4). `permutation_p`
tests whether it is more than chance.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

IS_FEMALE = np.array([stereotype.gender == GENDERS[0] for stereotype in STEREOTYPES.values()])
FEMALE: Floats = IS_FEMALE / IS_FEMALE.sum()
MALE: Floats = ~IS_FEMALE / (~IS_FEMALE).sum()
MALE_MINUS_FEMALE: Floats = MALE - FEMALE
_ROUNDING = 1e-9


def gender_means(values: Any) -> tuple[float, float]:
    """The means over the female and over the male stereotypes; exactly 1 for ones."""
    rates = np.asarray(values, dtype=np.float64)
    return float(rates[IS_FEMALE].mean()), float(rates[~IS_FEMALE].mean())


def permutation_p(values: Sequence[float] | Floats) -> float:
    """The exact p-value of male minus female over 16 values (ln q_i or p_i); nan if one is nan.

    p is the share of the C(16, 7) = 11,440 choices of seven stereotypes whose difference of means is at least
    the observed one (two-sided: Pitman, 1937, Supplement to the Journal of the Royal Statistical Society 4).
    Unlike intervals the test generalises to other stereotypes than these 16.
    """
    rates = np.asarray(values, dtype=np.float64)
    if not np.isfinite(rates).all():
        return math.nan
    centred = rates - rates.mean()
    # since the centred values add up to 0, the sum of seven determines the difference of means
    sums = np.abs(_choices() @ centred)
    observed = abs(float(centred[IS_FEMALE].sum()))
    return float((sums >= observed - _ROUNDING * float(np.abs(centred).sum())).mean())


@cache
def _choices() -> Floats:
    """All choices of seven of the stereotypes, one per row."""
    picks = np.array(list(combinations(range(len(IS_FEMALE)), int(IS_FEMALE.sum()))))
    return np.asarray(np.eye(len(IS_FEMALE))[picks].sum(axis=1))
