"""Runs that stop when their verdict is known: the order of the samples, the looks, and intervals for them.

The intervals hold at all looks together (Waudby-Smith et al., 2024, *Time-uniform central limit theory and
asymptotic confidence sequences*, theorem 2.2; docs/intervals.md). No run stops before `FIRST_LOOK` samples,
since they need a normal approximation. `models.score_run` and `models.chat.ask` look, and
`measures.result.is_decided` says whether to stop.
"""

import hashlib
import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from gest_dataset.statistics.proportions import Z

FIRST_LOOK = 320
_GROWTH = 1.25  # from one look to the next: each costs a bootstrap
_ALPHA = 0.05
# r for which the interval is about as narrow as possible after FIRST_LOOK samples
_TUNING = (math.log(1 - 2 * math.log(_ALPHA)) - 2 * math.log(_ALPHA)) / FIRST_LOOK


def looks(samples: int) -> list[int]:
    """After how many samples a run of this size looks at its result; the last look has all of them.

    >>> looks(800)
    [320, 400, 500, 625, 782, 800]
    """
    sizes, size = [], FIRST_LOOK
    while size < samples:
        sizes.append(size)
        size = math.ceil(size * _GROWTH)
    return [*sizes, samples]


def stretch(samples: int) -> float:
    """How much wider than an ordinary 95 % interval one is that holds at every look: c(t) / z(0.975)."""
    time = samples * _TUNING
    return math.sqrt((1 + 1 / time) * math.log((time + 1) / _ALPHA**2)) / Z


def stratified_order(ids: Sequence[str], strata: Sequence[Hashable]) -> list[int]:
    """The indices of samples in a pseudo-random order of which every beginning is stratified.

    Each stratum is ordered by the SHA-256 of its ids, which is the same on every machine. The strata are
    interleaved in proportion to their sizes.
    """
    order, groups = _hash_order(ids, strata)
    places = (groups.cumcount() + 0.5) / groups.transform("size")
    return list(map(int, order.iloc[np.lexsort((groups.ngroup(), places))]))


def first_of_each(ids: Sequence[str], strata: Sequence[Hashable], number: int) -> list[int]:
    """The indices of a `number` of samples of each stratum, drawn as in `stratified_order`, in data order."""
    order, groups = _hash_order(ids, strata)
    return sorted(order[groups.cumcount() < number].tolist())


def _hash_order(ids: Sequence[str], strata: Sequence[Hashable]) -> tuple["pd.Series[int]", Any]:
    """The indices of samples in the order of the SHA-256 of their ids, and the same grouped by stratum."""
    order = pd.Series(sorted(range(len(ids)), key=lambda i: hashlib.sha256(ids[i].encode()).digest()))
    return order, order.groupby(order.map(strata.__getitem__), sort=False)
