"""How g_s depends on who wrote the sentences.

GEST's sentences come from five creators, each with a voice. Whoever asks what the rate would be with
sentences of other people takes the creators for the sample, of size five: the jackknife over them,

    error^2 = (k - 1) / k * sum over creators of (ln g_s without the creator - their mean)^2

and Student's t with k - 1 degrees of freedom (Efron and Tibshirani, 1993, chapter 11).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import STEREOTYPES


@dataclass(frozen=True)
class OverCreators:
    """ln g_s with its standard error and bounds over creators, and ln g_s of each creator's sentences."""

    ln_g_s: float
    error: float
    low: float
    high: float
    by_creator: dict[str, float]  # nan where a creator has no sentence of some stereotype


def over_creators(scores: Floats, stereotypes: Ints, creators: Sequence[str]) -> OverCreators:
    """The jackknife over creators; `stereotypes` counts from 0. nan with fewer than two creators."""
    names, places = np.unique(np.asarray(creators, dtype=str), return_inverse=True)

    def ln_g_s(chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
        sums = np.bincount(stereotypes[chosen], scores[chosen], minlength=len(STEREOTYPES))
        sizes = np.bincount(stereotypes[chosen], minlength=len(STEREOTYPES))
        return float(MALE_MINUS_FEMALE @ (sums / sizes)) if sizes.all() else math.nan

    whole = ln_g_s(np.ones(len(scores), dtype=bool))
    by_creator = {str(name): ln_g_s(places == place) for place, name in enumerate(names)}
    without = np.array([ln_g_s(places != place) for place in range(len(names))])
    number = len(names)
    if number < 2:
        return OverCreators(whole, math.nan, math.nan, math.nan, by_creator)
    error = math.sqrt((number - 1) / number * float(((without - without.mean()) ** 2).sum()))
    reach = error * float(special.stdtrit(number - 1, (1 + LEVEL) / 2))
    return OverCreators(whole, error, whole - reach, whole + reach, by_creator)
