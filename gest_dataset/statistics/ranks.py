"""Feminine ranks, and how far two runs agree on them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from gest_dataset.statistics import checks


def feminine_ranks(rates: Sequence[float]) -> list[float]:
    """The rank of each stereotype by its masculine rate: 1 is the most feminine.

    Pikuliak et al. (2024), section 4.1.3: a stereotype of rank j is the j-th most feminine of the
    16. Equal rates share their mean rank; where the rate is nan, so is the rank.
    """
    return [float(rank) for rank in pd.Series(rates, dtype=float).rank()]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rho of the rates q_i (or p_i) of two runs; nan where one side does not vary."""
    checks.same_length(first=first, second=second)
    sides = (checks.finite("first", first), checks.finite("second", second))
    return pearson(*(pd.Series(side).rank().to_numpy() for side in sides))


def pearson(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Pearson's correlation; nan where one side does not vary."""
    a, b = (np.asarray(side, dtype=float) for side in (first, second))
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    order = np.lexsort((b, a))  # so that rounding does not depend on the order of samples
    a, b = a[order] - a[order].mean(), b[order] - b[order].mean()
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))
