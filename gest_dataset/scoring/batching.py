"""One layer between queries and forward passes, for all kinds of models.

Queries that share an input share its pass; inputs are sorted by length and put into batches under
a budget of padded tokens; when the device runs out of memory the budget is halved and the rest
goes on; every query gets its answers, in the order asked.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from tqdm.auto import tqdm

from gest_dataset.errors import ScoringError
from gest_dataset.scoring.query import Ask, Input, Query

logger = logging.getLogger(__name__)
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Passes:
    """How much work a run was: what was asked, and what had to be computed."""

    queries: int
    inputs: int
    tokens: int
    batches: int


class Scorer(Protocol):
    """Answers the asks of some inputs in one batch."""

    @property
    def causal(self) -> bool:
        """Whether a position depends on the tokens before it only."""

    def check(self, inputs: Sequence[Input], asks: Sequence[Sequence[Ask]]) -> None:
        """Find out on a few inputs which short ways are right."""

    def answer(self, inputs: Sequence[Input], asks: Sequence[Sequence[Ask]]) -> list[Values]:
        """For each input, the values of its asks."""


def answer(
    queries: Sequence[Query], scorer: Scorer, batch_tokens: int, description: str = "scoring"
) -> tuple[list[Values], Passes]:
    """The values of every query, in the order asked, and how many passes they took."""
    number: dict[Input, int] = {}
    own = [number.setdefault(_input(query), len(number)) for query in queries]
    inputs = list(number)
    hosts = _longest_hosts(inputs) if scorer.causal else list(range(len(inputs)))
    asks: dict[int, dict[Ask, int]] = {}
    for query, i in zip(queries, own, strict=True):
        places = asks.setdefault(hosts[i], {})
        for ask in _asks(query):
            places.setdefault(ask, len(places))
    values, batches = _run([(inputs[i], list(asks[i])) for i in asks], scorer, batch_tokens, description)
    found = dict(zip(asks, values, strict=True))
    passes = Passes(
        queries=len(queries),
        inputs=len(asks),
        tokens=sum(inputs[i].size for i in asks),
        batches=batches,
    )
    answers = [
        found[hosts[i]][[asks[hosts[i]][ask] for ask in _asks(query)]]
        for query, i in zip(queries, own, strict=True)
    ]
    return answers, passes


def _input(query: Query) -> Input:
    return Input(query.input_ids, query.decoder_ids, query.type_ids)


def _asks(query: Query) -> list[Ask]:
    return [Ask(p, t, query.normalise) for p, t in zip(query.positions, query.targets, strict=True)]


def _longest_hosts(inputs: Sequence[Input]) -> list[int]:
    """For each input of a causal model, the longest one that starts with it: one pass serves both.

    In lexicographic order an input that is the beginning of any other is so of its successor.
    """
    hosts = list(range(len(inputs)))
    order = sorted(hosts, key=lambda i: inputs[i].input_ids)
    for i, successor in reversed(list(pairwise(order))):
        ids = inputs[i].input_ids
        if inputs[successor].input_ids[: len(ids)] == ids:
            hosts[i] = hosts[successor]
    return hosts


def _run(
    work: Sequence[tuple[Input, list[Ask]]], scorer: Scorer, budget: int, description: str
) -> tuple[list[Values], int]:
    """All values, batch by batch; long inputs first, so what is too large for the memory shows at once."""
    values: list[Values] = [np.empty(0)] * len(work)
    waiting = sorted(range(len(work)), key=lambda i: (-work[i][0].size, work[i][0].input_ids))
    few = _two_shortest(work, waiting)
    try:
        scorer.check([work[i][0] for i in few], [work[i][1] for i in few])
    except Exception as error:
        if not should_reduce_batch_size(error):
            raise
        raise _no_memory(work[few[0]][0].size) from error
    batches = 0
    with tqdm(total=len(work), desc=description, unit="inputs", disable=None) as bar:
        while waiting:
            longest = work[waiting[0]][0].size
            batch = waiting[: max(1, budget // longest)]
            try:
                found = scorer.answer([work[i][0] for i in batch], [work[i][1] for i in batch])
            except Exception as error:
                if not should_reduce_batch_size(error):
                    raise
                if len(batch) == 1:
                    raise _no_memory(longest) from error
                budget = max(longest, longest * len(batch) // 2)
                clear_device_cache(garbage_collection=True)
                logger.warning("Out of memory: going on with %d tokens in a batch.", budget)
                continue
            for i, one in zip(batch, found, strict=True):
                values[i] = one
            waiting = waiting[len(batch) :]
            batches += 1
            bar.update(len(batch))
    return values, batches


def _no_memory(tokens: int) -> ScoringError:
    return ScoringError(
        f"Out of memory with one input of {tokens} tokens. Use a smaller model, dtype='bfloat16' or "
        f"device='cpu'."
    )


def _two_shortest(work: Sequence[tuple[Input, list[Ask]]], order: Sequence[int]) -> list[int]:
    """The shortest input, and the shortest one of another length; `order` has long inputs first."""
    sizes = {work[i][0].size: i for i in order}
    return list(reversed(sizes.values()))[:2]
