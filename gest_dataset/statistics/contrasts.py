"""Weighted sums of the means of strata: what every rate of log-ratios is, before its scale."""

from __future__ import annotations

import math
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


def deviation_within(values: Floats, strata: Ints) -> float:
    """The standard deviation of samples within a stratum: the root of the strata's mean variance.

    What an effect is measured by that does not depend on how strongly a model speaks. Strata of one sample
    have none; nan where no stratum has two.
    """
    order = np.lexsort((values, strata))  # rounding does not depend on the order of samples
    values, strata = values[order], strata[order]
    sizes = np.bincount(strata)
    means = np.bincount(strata, values) / np.maximum(sizes, 1)
    squares = np.bincount(strata, (values - means[strata]) ** 2)
    several = sizes > 1
    return math.sqrt((squares[several] / (sizes[several] - 1)).mean()) if several.any() else math.nan
