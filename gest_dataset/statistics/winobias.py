"""The WinoBias rate (Pikuliak et al., 2024, appendix B.1, eq. 5).

q_m, q_f = geometric means of P(w_m) / P(w_f) over samples with male and female occupations
g_s = q_m / q_f
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.statistics.contrasts import contrasts, deviation_within
from gest_dataset.statistics.intervals import bounded
from gest_dataset.statistics.stereotype_rate import exp
from gest_dataset.stereotypes import GENDERS

_WEIGHTS = {"q_m": np.array([0.0, 1.0]), "q_f": np.array([1.0, 0.0]), "g_s": np.array([-1.0, 1.0])}


def winobias_rate(
    predictions: Sequence[float],
    references: Sequence[str],
    units: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """The rate from ln P(masculine pronoun) - ln P(feminine one) and the occupations' genders.

    Samples of one of the `units` (an occupation) are resampled together. `g_s_spread` is the standard
    deviation of ln r within a gender.
    """
    length = checks.same_length(predictions=predictions, references=references)
    together = checks.units("units", units, length)
    ratios = checks.finite("predictions", predictions)
    genders = checks.genders("references", references)
    drawn = checks.number_of_units(genders, together, len(GENDERS))
    for number, gender in zip(drawn.tolist(), GENDERS, strict=True):
        if number < 2:
            gone = "bounds are" if number else "its rate and g_s are"
            what = "samples with a" if together is None else "units of a"
            checks.undefined(f"{number} {what} {gender} occupation: {gone} nan")
    result: dict[str, Any] = {"g_s_spread": deviation_within(ratios, genders)}
    intervals = contrasts(ratios, genders, list(_WEIGHTS.values()), draws, seed, together)
    for name, interval in zip(_WEIGHTS, intervals, strict=True):
        result |= bounded(name, interval, exp)
    return result
