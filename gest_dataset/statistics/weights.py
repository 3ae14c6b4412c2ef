"""The weights that average rates of the 16 stereotypes (Pikuliak et al., 2024, sections 4.1.1 and 4.2.1).

    female = mean over stereotypes 1 .. 7      male = mean over stereotypes 8 .. 16

Their difference, male - female, gives f_s from rates (eq. 1) and ln g_s from ln q (eq. 4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

IS_FEMALE = np.array([stereotype.gender == GENDERS[0] for stereotype in STEREOTYPES.values()])
FEMALE: Floats = IS_FEMALE / IS_FEMALE.sum()
MALE: Floats = ~IS_FEMALE / (~IS_FEMALE).sum()
MALE_MINUS_FEMALE: Floats = MALE - FEMALE


def gender_means(values: Any) -> tuple[float, float]:
    """The means over the female and over the male stereotypes; exactly 1 for ones."""
    rates = np.asarray(values, dtype=np.float64)
    return float(rates[IS_FEMALE].mean()), float(rates[~IS_FEMALE].mean())
