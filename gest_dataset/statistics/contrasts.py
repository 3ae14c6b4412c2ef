"""Weighted sums of the means of strata: what every rate of log-ratios is, before its scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gest_dataset.statistics.bootstrap import Interval, linear
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.units import resample


def contrasts(
    values: Floats,
    strata: Ints,
    weights: Sequence[Floats],
    draws: int,
    seed: int,
    units: Ints | None = None,
) -> list[Interval]:
    """One interval for each row of weights over the strata, all from the same resamples."""
    resamples = resample(values[:, None], strata, len(weights[0]), units, draws, seed)
    return [resamples.interval(linear(np.asarray(row)[:, None])) for row in weights]
