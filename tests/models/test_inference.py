"""Batching, the memory budget and the cache, with scorers that compute simple values."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gest_dataset
from gest_dataset.cache import ResponseCache
from gest_dataset.errors import ScoringError
from gest_dataset.models import inference
from gest_dataset.models.base import LogProbs
from gest_dataset.models.forward_passes import Head, Pass
from gest_dataset.models.inference import compute_log_probs
from gest_dataset.probes.queries import Input, Lookup, Query, Values
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


class Echo:
    """A scorer whose values depend on the ids on the way to a position and on the target.

    It has memory for some padded tokens, stops after some batches, and may take packed rows.
    """

    def __init__(
        self, causal: bool = False, memory: int = 10**9, stop: int = -1, packs: bool = False
    ) -> None:
        self.causal, self.memory, self.stop, self.packs = causal, memory, stop, packs
        self.asked: list[tuple[Pass, Sequence[Pass]]] = []
        self.dtypes, self.notes = ["float32"], list[str]()
        self.batches: list[list[Input]] = []
        self.checked: list[int] = []

    def check(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> None:
        self.checked += [one.size for one in inputs]

    def packed_layers(self, *few: object) -> AbstractContextManager[None]:
        return nullcontext()

    def can_pack(self, row: Pass, texts: Sequence[Pass]) -> bool:
        self.asked.append((row, texts))
        return self.packs

    def log_probs(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> list[Values]:
        padded = len(inputs) * max(one.size for one in inputs)
        if padded > self.memory:
            raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {padded}")
        if len(self.batches) == self.stop:
            raise StoppedError
        self.batches.append(list(inputs))
        return [
            np.array([self.value(way(one, a.position), -1, t, a.normalise) for a in some for t in a.targets])
            for one, some in zip(inputs, lookups, strict=True)
        ]

    @staticmethod
    def value(ids: Sequence[int], position: int, target: int, normalise: bool) -> float:
        return float(sum(ids[: position + 1 or None]) * 1000 + target * 10 + normalise) + 1 / 3

    def expected(self, queries: Sequence[Query]) -> list[list[float]]:
        return [
            [
                *(
                    self.value(q.input_ids, p, t, q.normalise)
                    for p, t in zip(q.positions, q.targets, strict=True)
                ),
                *(self.value(q.input_ids, q.placebo_position, t, False) for t in q.placebo),
            ]
            for q in queries
        ]


class StoppedError(Exception):
    pass


def way(row: Input, position: int) -> list[int]:
    """The ids from the beginning of a text to a position of its row."""
    parents, ids = row.parents or range(-1, row.size - 1), []
    while position >= 0:
        ids.append(row.input_ids[position])
        position = parents[position]
    return ids[::-1]


def queries(number: int = 300, seed: int = 0) -> list[Query]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        ids = tuple(int(i) for i in rng.integers(1, 4, rng.integers(1, 12)))
        positions = tuple(int(p) for p in rng.integers(0, len(ids), 2))
        words, place = ((8, 5, 9), int(rng.integers(len(ids)))) if rng.integers(2) else ((), 0)
        made.append(
            Query(ids, positions, (5, 7), bool(rng.integers(2)), placebo=words, placebo_position=place)
        )
    return made


def compute(asked: Sequence[Query], scorer: Any, budget: int, **options: Any) -> LogProbs:
    return compute_log_probs(asked, scorer, budget, **options)


def as_lists(answer: LogProbs) -> list[list[float]]:
    return [list(values) for values in answer.values]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ResponseCache]:
    """A cache that every batch is committed to."""
    monkeypatch.setattr(inference, "COMMIT_SECONDS", 0.0)
    with ResponseCache(tmp_path / "cache.sqlite3") as opened:
        yield opened


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("budget", [1, 20, 10_000])
def test_every_query_gets_its_own_values(causal: bool, budget: int) -> None:
    asked, echo = queries(), Echo(causal)
    answer = compute(asked, echo, budget)
    assert as_lists(answer) == echo.expected(asked)
    seen = [one.input_ids for batch in echo.batches for one in batch]
    assert len(seen) == len(set(seen)) == answer.passes.inputs
    unique = {query.input_ids for query in asked}
    assert answer.passes.inputs < len(asked)
    if causal:
        prefixes = {ids for ids in unique if any(ids != b and b[: len(ids)] == ids for b in unique)}
        assert set(seen) == unique - prefixes
    else:
        assert set(seen) == unique
    for batch in echo.batches:
        longest = max(one.size for one in batch)
        assert len(batch) == 1 or longest * len(batch) <= budget


def test_running_out_of_memory_halves_the_budget(caplog: pytest.LogCaptureFixture) -> None:
    asked, echo = queries(), Echo(memory=40)
    with caplog.at_level(logging.WARNING):
        answer = compute(asked, echo, 10_000)
    assert as_lists(answer) == echo.expected(asked)
    budgets = [int(number) for number in re.findall(r"continuing with (\d+) tokens", caplog.text)]
    assert len(budgets) > 4
    assert all(after <= before for before, after in pairwise(budgets))
    assert max(len(batch) * batch[0].size for batch in echo.batches) > budgets[-1] / 2
    with pytest.raises(
        ScoringError, match=r"Out of memory with one input of \d+ tokens. Use a smaller model"
    ):
        compute(asked, Echo(memory=3), 10_000)


def test_running_out_of_memory_in_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """It must not be mistaken for an unusual head."""

    def failing(head: Head, states: torch.Tensor) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    monkeypatch.setattr(Head, "logits", failing)
    with pytest.raises(ScoringError, match="Out of memory with one input"):
        gest_dataset.score(zoo.load("bert"), "en", limit=4, device="cpu")


# ---- resuming --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [0, 2, 5])
def test_a_stopped_run_continues(cache: ResponseCache, stop: int) -> None:
    asked = queries()
    whole = compute(asked, Echo(), 90)
    computed = 0
    for _ in range(3):
        stopped = Echo(stop=stop)
        with pytest.raises(StoppedError):
            compute(asked, stopped, 90, cache=cache)
        computed += len(stopped.batches)
    last = Echo()
    answer = compute(asked, last, 90, cache=cache)
    assert as_lists(answer) == as_lists(whole)
    seen = [one for batch in last.batches for one in batch]
    assert computed == 3 * stop
    assert len(seen) < answer.passes.inputs or not stop


def test_nothing_is_computed_twice(cache: ResponseCache) -> None:
    asked = queries()
    echo, again = Echo(), Echo()
    first = compute(asked, echo, 90, cache=cache)
    answer = compute(asked, again, 90, cache=cache)
    assert again.batches == []
    assert as_lists(answer) == as_lists(first)
    assert answer.passes == first.passes
    assert answer.earlier_seconds > 0
    other = Echo()
    compute(asked, other, 90, cache=cache, seed=1)
    assert len(other.batches) == len(echo.batches), "baselines have values of their own"


def test_notes_and_number_types_survive_a_stop(cache: ResponseCache) -> None:
    class Overflowing(Echo):
        def log_probs(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> list[Values]:
            if not self.batches:
                self.notes.append("overflow")
                self.dtypes.append("float64")
            return super().log_probs(inputs, lookups)

    with pytest.raises(StoppedError):
        compute(queries(), Overflowing(stop=2), 90, cache=cache)
    answer = compute(queries(), Echo(), 90, cache=cache)
    assert answer.notes == ("overflow",)
    assert answer.dtype == "float32+float64"
