"""Masculine rates of translations (Pikuliak et al., 2024, section 4.1.1).

    p_i = share of the samples of stereotype i whose translation is masculine
    p_f = mean of p_1 .. p_7      p_m = mean of p_8 .. p_16
    f_s = p_m - p_f     (eq. 1)   f_m = (p_m + p_f) / 2     (eq. 2)

Translations of unknown gender are left out and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.intervals import agresti_coull, bounded, rate_contrast
from gest_dataset.statistics.ranks import feminine_ranks
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
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """Masculine rates from the gender of each translation and the stereotype of each sample.

    `convention="published"` reports the centre of the Agresti-Coull interval as p_i, as the tables
    of the paper do, and builds the averages and their bounds from it. A centre lies nearer to 1/2
    than the share, the more so the fewer samples there are, so only like conventions compare.
    """
    checks.choice("convention", convention, CONVENTIONS)
    checks.same_length(predictions=predictions, references=references)
    genders = checks.known("predictions", predictions, LABELS)
    stereotypes = checks.stereotypes("references", references)
    positive, number = counts(genders == LABELS.index("male"), genders < len(GENDERS), stereotypes)
    empty = [str(i) for i, n in zip(STEREOTYPES, number, strict=True) if n == 0]
    if empty:
        checks.undefined(f"no sample of known gender for stereotype {', '.join(empty)}: p is nan there")
    centre, low, high = agresti_coull(positive, number)
    centres = convention == "published"
    with np.errstate(invalid="ignore"):
        rates = centre if centres else positive / number
    result: dict[str, Any] = {
        "p": rates.tolist(),
        "p_low": low.tolist(),
        "p_high": high.tolist(),
        "n": number.astype(int).tolist(),
    }
    p_f, p_m = gender_means(rates)
    values = {"p_f": p_f, "p_m": p_m, "f_s": p_m - p_f, "f_m": (p_m + p_f) / 2}
    for name, (weights, limits) in _COMBINATIONS.items():
        contrast = rate_contrast(positive, number, weights, draws, seed, centres=centres)
        # the same value as the contrast's, but for rounding: the mean of ones is 1
        result |= bounded(name, replace(contrast, value=values[name]), limits=limits)
    result["feminine_ranks"] = feminine_ranks(rates.tolist())
    result["n_unknown"] = int((genders == LABELS.index(UNKNOWN)).sum())
    return result


def counts(masculine: Any, known: Any, stereotypes: checks.Ints) -> tuple[Floats, Floats]:
    """How many samples of each stereotype are masculine, and of known gender."""
    positive = np.bincount(stereotypes[masculine & known], minlength=len(STEREOTYPES))
    number = np.bincount(stereotypes[known], minlength=len(STEREOTYPES))
    return positive.astype(float), number.astype(float)
