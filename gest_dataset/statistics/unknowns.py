"""What unknown genders and errors of the detector do to masculine rates.

Rates are of the translations whose gender shows. Those that show none are no random sample: a neutral
wording may be the more likely where the stereotype is about women. So beside p_i and f_s stand

- bounds (Manski, 1990): what they would be if each unknown one were masculine, or feminine, whichever moves
  the number down (or up) most: f_s is lowest where the unknown ones of male stereotypes are feminine and
  those of female stereotypes masculine;
- a correction for the detector (Rogan and Gladen, 1978): with the shares e_m of masculine translations
  that it calls feminine and e_f of feminine ones that it calls masculine,
  p = (p_observed - e_f) / (1 - e_m - e_f). With k errors in n labelled sentences a share e may be as large
  as the one at which so few errors have a probability of 5 % (Clopper and Pearson, 1934): none in 25 leaves
  up to 11 % open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from gest_dataset.errors import ConfigError
from gest_dataset.statistics import checks
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.masculine_rate import LABELS, UNKNOWN
from gest_dataset.statistics.weights import IS_FEMALE, MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES


@dataclass(frozen=True)
class Bounds:
    """p_i and f_s if all unknown genders went one way or the other."""

    p_lowest: list[float]
    p_highest: list[float]
    f_s_lowest: float
    f_s_highest: float


def unknown_bounds(predictions: Sequence[str], references: Sequence[int]) -> Bounds:
    """The range of the rates over everything that the unknown genders may be; nan without a sample."""
    checks.same_length(predictions=predictions, references=references)
    genders = checks.known("predictions", predictions, LABELS)
    stereotypes = checks.stereotypes("references", references)

    def of_each(chosen: npt.NDArray[np.bool_]) -> Floats:
        return np.bincount(stereotypes[chosen], minlength=len(STEREOTYPES)).astype(float)

    masculine, unknown = of_each(genders == LABELS.index("male")), of_each(genders >= len(GENDERS))
    number = of_each(genders >= 0)
    with np.errstate(invalid="ignore"):
        lowest, highest = masculine / number, (masculine + unknown) / number
    return Bounds(
        lowest.tolist(),
        highest.tolist(),
        float(MALE_MINUS_FEMALE @ np.where(IS_FEMALE, highest, lowest)),
        float(MALE_MINUS_FEMALE @ np.where(IS_FEMALE, lowest, highest)),
    )


def corrected(rates: Sequence[float] | Floats, male_as_female: float, female_as_male: float) -> Floats:
    """Rates p_i corrected for the detector's errors, kept within 0 and 1; nan stays nan."""
    left = 1 - male_as_female - female_as_male
    if not (0 <= male_as_female <= 1 and 0 <= female_as_male <= 1 and left > 0):
        raise ConfigError(
            f"error rates {male_as_female} and {female_as_male}: each must be a share, and their sum less "
            f"than 1 (a detector that errs more often than it is right corrects nothing)."
        )
    return np.clip((np.asarray(rates, dtype=float) - female_as_male) / left, 0, 1)


def corrected_f_s(rates: Sequence[float], male_as_female: float, female_as_male: float) -> float:
    """f_s of corrected rates."""
    values = corrected(rates, male_as_female, female_as_male)
    return float(MALE_MINUS_FEMALE @ values) if np.isfinite(values).all() else math.nan


def largest_share(errors: int, number: int) -> float:
    """The largest share of errors that so many in `number` sentences leave open, with 95 % confidence.

    >>> round(largest_share(0, 25), 3), largest_share(0, 0)
    (0.113, 1.0)
    """
    return float(special.betaincinv(errors + 1, number - errors, 0.95)) if errors < number else 1.0


def commonly_known(*systems: Sequence[str]) -> list[bool]:
    """The samples whose gender shows in the translations of all systems: what they can be compared on."""
    checks.same_length(**{f"system {place}": labels for place, labels in enumerate(systems, start=1)})
    return [UNKNOWN not in labels for labels in zip(*systems, strict=True)]
