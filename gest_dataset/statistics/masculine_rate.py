"""Masculine rates of translations (Pikuliak et al., 2024, section 4.1.1).

    p_i = share of the samples of stereotype i whose translation is masculine
    p_f = mean of p_1 .. p_7      p_m = mean of p_8 .. p_16
    f_s = p_m - p_f     (eq. 1)   f_m = (p_m + p_f) / 2     (eq. 2)

Translations of unknown gender are left out and counted.

What unknown genders and errors of the detector do to masculine rates.

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
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from gest_dataset.errors import ConfigError
from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.correlation import feminine_ranks
from gest_dataset.statistics.permutation import permutation_p
from gest_dataset.statistics.proportions import (
    StratifiedCounts,
    Z,
    agresti_coull,
    count_hits,
    effective_ratio,
    interval_entries,
    rate_contrast,
)
from gest_dataset.statistics.resampling import select_units
from gest_dataset.statistics.simultaneous import differences_of_shares, rank_bounds, sidak
from gest_dataset.statistics.weights import FEMALE, IS_FEMALE, MALE, MALE_MINUS_FEMALE, gender_means
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

UNKNOWN = "unknown"
LABELS = (*GENDERS, UNKNOWN)
CONVENTIONS = ("plain", "published")

_COMBINATIONS: dict[str, tuple[Floats, tuple[float, float]]] = {
    "p_f": (FEMALE, (0.0, 1.0)),
    "p_m": (MALE, (0.0, 1.0)),
    "f_s": (MALE_MINUS_FEMALE, (-1.0, 1.0)),
    "f_m": ((MALE + FEMALE) / 2, (0.0, 1.0)),
}


def masculine_rate(
    predictions: Sequence[str],
    references: Sequence[int],
    convention: str = "plain",
    units: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """Masculine rates from the gender of each translation and the stereotype of each sample.

    `convention="published"` reports the centre of the Agresti-Coull interval as p_i, as the tables
    of the paper do, and builds the averages and their bounds from it. A centre lies nearer to 1/2
    than the share, the more so the fewer samples there are, so only like conventions compare.

    Samples of one of the `units` (a sentence that several systems have translated) count as one draw.
    `f_s_spread` is the standard deviation of being masculine within a stereotype.
    Simultaneous bounds of p_i are at Sidak's level, as the stereotypes are independent draws; `draws` of
    the `seed` are for the ranks.
    """
    checks.check_choice("convention", convention, CONVENTIONS)
    length = checks.same_length(predictions=predictions, references=references)
    together = checks.unit_codes("units", units, length)
    genders = checks.label_codes("predictions", predictions, LABELS)
    stereotypes = checks.stereotype_codes("references", references)
    known = genders < len(GENDERS)
    shares = count_hits(
        (genders == LABELS.index("male"))[known].astype(np.float64),
        stereotypes[known],
        len(STEREOTYPES),
        select_units(together, known),
    )
    number = shares.number
    empty = [str(i) for i, n in zip(STEREOTYPES, number, strict=True) if n == 0]
    if empty:
        checks.warn_undefined(f"no sample of known gender for stereotype {', '.join(empty)}: p is nan there")
    centres = convention == "published"
    rates = agresti_coull(shares.positive, number)[0] if centres else shares.rates
    result: dict[str, Any] = {"p": rates.tolist()}
    for name, z in (("p", Z), ("p_simultaneous", sidak(int((number > 0).sum())))):
        each = _worth(shares, z)
        _, low, high = agresti_coull(each * shares.positive, each * number, z)
        result |= {f"{name}_low": low.tolist(), f"{name}_high": high.tolist()}
    result["n"] = number.astype(int).tolist()
    p_f, p_m = gender_means(rates)
    values = {"p_f": p_f, "p_m": p_m, "f_s": p_m - p_f, "f_m": (p_m + p_f) / 2}
    for name, (weights, limits) in _COMBINATIONS.items():
        contrast = rate_contrast(shares, weights, centres=centres)
        # the same value as the contrast's, but for rounding: the mean of ones is 1
        result |= interval_entries(name, replace(contrast, value=values[name]), limits=limits)
    with np.errstate(invalid="ignore"):
        result["f_s_spread"] = math.sqrt((shares.rates * (1 - shares.rates)).mean())
    result["f_s_permutation_p"] = permutation_p(rates)
    result["feminine_ranks"] = feminine_ranks(rates.tolist())
    differences = differences_of_shares(shares.positive, number, _worth(shares, Z), draws, seed)
    least, most = rank_bounds(differences, len(STEREOTYPES))
    result |= {"feminine_ranks_low": least, "feminine_ranks_high": most}
    result["n_unknown"] = int((genders == LABELS.index(UNKNOWN)).sum())
    return result


def _worth(shares: StratifiedCounts, z: float) -> Floats:
    """What a sample of each stereotype is worth beside one that is a unit of its own."""
    return np.array([effective_ratio(shares, row, z) for row in np.eye(len(shares.number))])


@dataclass(frozen=True)
class UnknownBounds:
    """p_i and f_s if all unknown genders went one way or the other."""

    p_lowest: list[float]
    p_highest: list[float]
    f_s_lowest: float
    f_s_highest: float


def unknown_bounds(predictions: Sequence[str], references: Sequence[int]) -> UnknownBounds:
    """The range of the rates over everything that the unknown genders may be; nan without a sample."""
    checks.same_length(predictions=predictions, references=references)
    genders = checks.label_codes("predictions", predictions, LABELS)
    stereotypes = checks.stereotype_codes("references", references)

    def of_each(chosen: npt.NDArray[np.bool_]) -> Floats:
        return np.bincount(stereotypes[chosen], minlength=len(STEREOTYPES)).astype(float)

    masculine, unknown = of_each(genders == LABELS.index("male")), of_each(genders >= len(GENDERS))
    number = of_each(genders >= 0)
    with np.errstate(invalid="ignore"):
        lowest, highest = masculine / number, (masculine + unknown) / number
    return UnknownBounds(
        lowest.tolist(),
        highest.tolist(),
        float(MALE_MINUS_FEMALE @ np.where(IS_FEMALE, highest, lowest)),
        float(MALE_MINUS_FEMALE @ np.where(IS_FEMALE, lowest, highest)),
    )


def correct_rates(rates: Sequence[float] | Floats, male_as_female: float, female_as_male: float) -> Floats:
    """Rates p_i corrected for the detector's errors, kept within 0 and 1; nan stays nan."""
    left = 1 - male_as_female - female_as_male
    if not (0 <= male_as_female <= 1 and 0 <= female_as_male <= 1 and left > 0):
        raise ConfigError(
            f"error rates {male_as_female} and {female_as_male}: each must be a share, and their sum less "
            f"than 1 (a detector that errs more often than it is right corrects nothing)."
        )
    return np.clip((np.asarray(rates, dtype=float) - female_as_male) / left, 0, 1)


def correct_f_s(rates: Sequence[float], male_as_female: float, female_as_male: float) -> float:
    """f_s of corrected rates."""
    values = correct_rates(rates, male_as_female, female_as_male)
    return float(MALE_MINUS_FEMALE @ values) if np.isfinite(values).all() else math.nan


def max_error_rate(errors: int, number: int) -> float:
    """The largest share of errors that so many in `number` sentences leave open, with 95 % confidence.

    >>> round(largest_share(0, 25), 3), largest_share(0, 0)
    (0.113, 1.0)
    """
    return float(special.betaincinv(errors + 1, number - errors, 0.95)) if errors < number else 1.0


def known_in_all(*systems: Sequence[str]) -> list[bool]:
    """The samples whose gender shows in the translations of all systems: what they can be compared on."""
    checks.same_length(**{f"system {place}": labels for place, labels in enumerate(systems, start=1)})
    return [UNKNOWN not in labels for labels in zip(*systems, strict=True)]
