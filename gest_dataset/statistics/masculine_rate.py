"""Masculine rates of translations (Pikuliak et al., 2024, section 4.1.1).

    p_i = share of the samples of stereotype i whose translation is masculine
    p_f = mean of p_1 .. p_7      p_m = mean of p_8 .. p_16
    f_s = p_m - p_f     (eq. 1)   f_m = (p_m + p_f) / 2     (eq. 2)

Translations of unknown gender are left out and counted.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.intervals import agresti_coull, bounded
from gest_dataset.statistics.permutation import permutation_p
from gest_dataset.statistics.ranks import feminine_ranks
from gest_dataset.statistics.shares import Shares, Z, rate_contrast, shares_of, worth
from gest_dataset.statistics.simultaneous import differences_of_shares, rank_bounds, sidak
from gest_dataset.statistics.units import chosen
from gest_dataset.statistics.weights import FEMALE, MALE, MALE_MINUS_FEMALE, gender_means
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
    checks.choice("convention", convention, CONVENTIONS)
    length = checks.same_length(predictions=predictions, references=references)
    together = checks.units("units", units, length)
    genders = checks.known("predictions", predictions, LABELS)
    stereotypes = checks.stereotypes("references", references)
    known = genders < len(GENDERS)
    shares = shares_of(
        (genders == LABELS.index("male"))[known].astype(np.float64),
        stereotypes[known],
        len(STEREOTYPES),
        chosen(together, known),
    )
    number = shares.number
    empty = [str(i) for i, n in zip(STEREOTYPES, number, strict=True) if n == 0]
    if empty:
        checks.undefined(f"no sample of known gender for stereotype {', '.join(empty)}: p is nan there")
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
        result |= bounded(name, replace(contrast, value=values[name]), limits=limits)
    with np.errstate(invalid="ignore"):
        result["f_s_spread"] = math.sqrt((shares.rates * (1 - shares.rates)).mean())
    result["f_s_permutation_p"] = permutation_p(rates)
    result["feminine_ranks"] = feminine_ranks(rates.tolist())
    differences = differences_of_shares(shares.positive, number, _worth(shares, Z), draws, seed)
    least, most = rank_bounds(differences, len(STEREOTYPES))
    result |= {"feminine_ranks_low": least, "feminine_ranks_high": most}
    result["n_unknown"] = int((genders == LABELS.index(UNKNOWN)).sum())
    return result


def _worth(shares: Shares, z: float) -> Floats:
    """What a sample of each stereotype is worth beside one that is a unit of its own."""
    return np.array([worth(shares, row, z) for row in np.eye(len(shares.number))])
