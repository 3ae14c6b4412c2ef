"""A run in stretches: consecutive batches of the plan, shared by the processes of a team.

Whole batches fall to a process, so that every float is computed as one process alone would compute it. What
changes the plan (memory that ran out, an overflow) counts where it comes first in the plan, whoever met it;
what was computed behind that is thrown away. A process alone computes stretches of one batch.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

from gest_dataset.probes.queries import Values

logger = logging.getLogger(__name__)

Batch = tuple[int, int]
"""The inputs (start, end) of a plan."""

# The processes of a team meet when so many seconds have passed: what a dead one can cost
SECONDS = 5.0
_GROWTH = 4  # at most, of a stretch beside the one before


@dataclass
class State:
    """How far a run has come: `values` are those of its first inputs, in the planned order.

    `budget` is the one that the next batch is made with, and `turns` are the batches (start, end)
    at which the scorer went over to another number type. `ahead` are batches behind the values that are
    known already, as some processes of a team that was killed have kept them.
    """

    budget: int
    values: list[Values] = field(default_factory=list)
    batches: int = 0
    turns: list[Batch] = field(default_factory=list)
    ahead: dict[Batch, list[Values]] = field(default_factory=dict)


@dataclass(frozen=True)
class Share:
    """What a process has found in its batches of a stretch, up to what it could not go on with.

    `full` is the batch at which its memory ran out, `turned` the one at which its scorer went over to
    another number type.
    """

    values: dict[Batch, list[Values]]
    full: Batch | None
    turned: Batch | None
    seconds: float


class Turning(Protocol):
    """The number types that a scorer has run in so far."""

    dtypes: list[str]


def plan(start: int, budget: int, sizes: Sequence[int]) -> Iterator[Batch]:
    """The batches from an input on: as many inputs as the budget has room for, long ones first."""
    while start < len(sizes):
        end = min(len(sizes), start + max(1, budget // sizes[start]))
        yield start, end
        start = end


def next_stretch(state: State, sizes: Sequence[int], most: int) -> list[Batch]:
    """The next batches, until so many of them are not known yet."""
    stretch: list[Batch] = []
    for batch in plan(len(state.values), state.budget, sizes):
        if most == 0:
            break
        stretch.append(batch)
        most -= batch not in state.ahead
    return stretch


def computed(
    batches: Sequence[Batch],
    answers: Callable[[Batch], list[Values] | Exception],
    scorer: Turning,
    done: Callable[[int], object],
    too_large: Callable[[Batch], Exception],
) -> Share:
    """The answers to batches, one after the other; `done` hears of how many inputs."""
    began = time.perf_counter()
    values: dict[Batch, list[Values]] = {}
    full = turned = None
    for batch in batches:
        types = len(scorer.dtypes)
        outcome = answers(batch)
        turned = batch if len(scorer.dtypes) > types else None
        if isinstance(outcome, Exception):
            if batch[1] - batch[0] == 1:
                raise too_large(batch) from outcome
            full = batch
            break
        values[batch] = outcome
        done(len(outcome))
        if turned:
            break
    return Share(values, full, turned, time.perf_counter() - began)


def merge(state: State, stretch: Sequence[Batch], shares: Sequence[Share], sizes: Sequence[int]) -> bool:
    """Take what the processes have found, in the order of the plan; whether the plan goes on as it was."""
    found = dict(chain(state.ahead.items(), *(share.values.items() for share in shares)))
    full = min((share.full for share in shares if share.full), default=None)
    turned = min((share.turned for share in shares if share.turned), default=None)
    if turned:
        state.turns.append(turned)
    for batch in stretch:
        if batch == full:
            longest, number = sizes[batch[0]], batch[1] - batch[0]
            state.budget = max(longest, longest * number // 2)
            logger.warning("Out of memory: going on with %d tokens in a batch.", state.budget)
            break
        state.values += found[batch]
        state.batches += 1
        if batch == turned:
            break
    same = full is None and turned is None
    # what is ahead was found in another number type, or in batches that are not made any more
    state.ahead = {batch: state.ahead[batch] for batch in state.ahead if same and batch not in stretch}
    return same


@dataclass
class Pace:
    """How long stretches are, and how they are shared; every process of a team comes to the same."""

    processes: int
    batches: int = 1
    """Of each process, in the next stretch."""
    tokens: list[int] = field(init=False)
    """That have fallen to each of them."""

    def __post_init__(self) -> None:
        self.tokens = [0] * self.processes

    @property
    def most(self) -> int:
        return self.batches * self.processes

    def shared(self, batches: Sequence[Batch], sizes: Sequence[int]) -> list[list[Batch]]:
        """Each batch to the process that has had the fewest padded tokens so far."""
        shares: list[list[Batch]] = [[] for _ in range(self.processes)]
        for start, end in batches:
            least = min(range(self.processes), key=self.tokens.__getitem__)
            shares[least].append((start, end))
            self.tokens[least] += sizes[start] * (end - start)
        return shares

    def adapt(self, shares: Sequence[Share]) -> None:
        """Let the next stretch take `SECONDS`; a process alone has nobody to meet: it goes batch by batch."""
        slowest = max(share.seconds for share in shares)
        if self.processes > 1 and slowest > 0:
            fitting = int(self.batches * SECONDS / slowest)
            self.batches = max(1, min(_GROWTH * self.batches, fitting))
