"""Weighted sums of the means of strata: what every rate of log-ratios is, before its scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gest_dataset.statistics.bootstrap import Interval, interval, linear, observed, resampled, stratify
from gest_dataset.statistics.checks import Floats, Ints


def contrasts(
    values: Floats, strata: Ints, weights: Sequence[Floats], draws: int, seed: int
) -> list[Interval]:
    """One interval for each row of weights over the strata, all from the same resamples."""
    samples = stratify(values[:, None], strata, len(weights[0]))
    data, again = observed(samples), resampled(samples, draws, seed)
    return [interval(linear(np.asarray(row)[:, None]), data, again) for row in weights]
