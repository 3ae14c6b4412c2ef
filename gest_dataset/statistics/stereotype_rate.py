"""Stereotype rates of language models (Pikuliak et al., 2024, section 4.2.1).

With r = P(w_m | t(s)) / P(w_f | t(s)) of a sample (eq. 3):

    q_i = geometric mean of r over the samples of stereotype i
    q_f, q_m = geometric means of q_1 .. q_7 and of q_8 .. q_16
    g_s = q_m / q_f     (eq. 4)

All of them are sums of means of ln r, shown on one of three scales.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.statistics.contrasts import contrasts
from gest_dataset.statistics.intervals import bounded, bounded_list
from gest_dataset.statistics.masculine_rate import AVERAGES
from gest_dataset.statistics.ranks import feminine_ranks
from gest_dataset.stereotypes import STEREOTYPES

LN10 = math.log(10)


def exp(x: float) -> float:
    """e to the x; infinity where that is too large for a number."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


# From a sum of means of ln r to what is reported
SCALES: dict[str, Callable[[float], float]] = {
    # geometric means of ratios, as they are defined; without a stereotype g_s = 1
    "ratio": exp,
    # means of log10 r and their difference, as in the first version's tables; without one g_s = 0
    "log10": lambda x: x / LN10,
    # e to the mean of log10 r: what the final version prints, where log10 scores met an exp
    "published": lambda x: exp(x / LN10),
}
NAMES = ("q_f", "q_m", "g_s")
WEIGHTS = (AVERAGES["f"], AVERAGES["m"], AVERAGES["m"] - AVERAGES["f"])


def stereotype_rate(
    predictions: Sequence[float],
    references: Sequence[int],
    scale: str = "ratio",
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """Stereotype rates from ln P(w_m) - ln P(w_f) and the stereotype of each sample."""
    checks.choice("scale", scale, SCALES)
    checks.same_length(predictions=predictions, references=references)
    ratios = checks.finite("predictions", predictions)
    stereotypes = checks.stereotypes("references", references)
    number = np.bincount(stereotypes, minlength=len(STEREOTYPES))
    for least, what in ((1, "no sample"), (2, "one sample only")):
        few = [str(i) for i, n in zip(STEREOTYPES, number, strict=True) if n == least - 1]
        if few:
            gone = "q and what is built from it are" if least == 1 else "bounds are"
            checks.undefined(f"{what} for stereotype {', '.join(few)}: {gone} nan there")
    each = list(np.eye(len(STEREOTYPES)))
    found = contrasts(ratios, stereotypes, [*each, *WEIGHTS], draws, seed)
    result: dict[str, Any] = bounded_list("q", found[: len(each)], SCALES[scale])
    result["n"] = number.tolist()
    for name, one in zip(NAMES, found[len(each) :], strict=True):
        result |= bounded(name, one, SCALES[scale])
    result["feminine_ranks"] = feminine_ranks(result["q"])
    return result
