"""How rates of the 16 stereotypes are averaged (Pikuliak et al., 2024, sections 4.1.1 and 4.2.1).

    female = mean over stereotypes 1 .. 7      male = mean over stereotypes 8 .. 16

Their difference, male - female, is what f_s is of rates (eq. 1) and ln g_s of ln q (eq. 4).
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
    """The means of 16 values over the female and over the male stereotypes; that of ones is exactly 1."""
    sixteen = np.asarray(values, dtype=np.float64)
    return float(sixteen[IS_FEMALE].mean()), float(sixteen[~IS_FEMALE].mean())
