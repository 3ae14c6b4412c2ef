"""Answers on disk while a run goes on: what a killed run has computed is not computed again.

A shard holds the answers of some consecutive batches and the state behind them. It has its name
only when it is whole and on the disk, and carries the mark of the work that it is a part of.
Where shards end never changes a number: the batches are planned before (see batching.py).

Each process of a team writes what it has found in a stretch into a part of its own; when all have, the first
one merges the parts into a shard. Parts that a killed team has left are known to the next one.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from array import array
from collections.abc import Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import numpy as np

from gest_dataset.errors import DataError, convert_errors, describe_error
from gest_dataset.models.batching import Pass
from gest_dataset.models.stretches import Batch, Share, State
from gest_dataset.probes.queries import Values
from gest_dataset.runs.progress import Telling
from gest_dataset.storage import atomic_path, parse_json

logger = logging.getLogger(__name__)

# A shard is written when so many seconds have passed: what a kill can cost
SECONDS = 5.0
_FACTS = frozenset({"mark", "start", "end", "budget", "batches", "turns", "seconds"})  # of a shard
_FACTS_OF_PART = frozenset({"mark", "start", "budget", "turns", "found"})


class Shards:
    """The shards of one run in a directory of their own (a `batching.Store`)."""

    def __init__(self, directory: Path, mark: str = "") -> None:
        self.directory = directory
        self.mark = mark  # of the work; a process that leads finds it when it loads
        self.earlier = 0.0  # seconds of computing by earlier processes, as far as it was kept
        self._number = self._kept = 0
        self._began = self._last = time.perf_counter()
        self._telling = Telling(directory, 0, "inputs")

    def load(self, work: Sequence[Pass], budget: int) -> State:
        """The state behind the last shard; shards of other work, or damaged ones, do not count."""
        self.mark, state = _mark(work, budget), State(budget)
        for number in count():
            path = self._path(number)
            if not path.exists():
                break
            try:
                facts, values = _read(path, _FACTS)
            except DataError as error:
                logger.warning("%s Its answers are computed again.", error)
                break
            if facts["mark"] != self.mark or facts["start"] != len(state.values):
                logger.warning("%s is of other work: its answers are computed again.", path)
                break
            state.values += _split(values, work[facts["start"] : facts["end"]])
            state.budget, state.batches = facts["budget"], facts["batches"]
            state.turns = [(start, end) for start, end in facts["turns"]]
            self.earlier = facts["seconds"]
            self._number = number + 1
        self._kept = len(state.values)
        self._began = self._last = time.perf_counter()
        for path in self._parts():
            state.ahead |= self._read_part(path, work, state)
        self._telling = Telling(self.directory, len(work), "inputs")
        self._telling.at(self._kept)
        return state

    def keep(self, state: State, at_once: bool = False) -> None:
        """Write what is new when it is time to, or `at_once`."""
        self._telling.at(len(state.values))
        moment = time.perf_counter()
        if moment - self._last < SECONDS and not at_once:
            return
        told = {
            "mark": self.mark,
            "start": self._kept,
            "end": len(state.values),
            "budget": state.budget,
            "batches": state.batches,
            "turns": state.turns,
            "seconds": self.earlier + moment - self._began,
        }
        _write(self._path(self._number), told, state.values[self._kept :])
        for path in self._parts():
            path.unlink()
        self._number += 1
        self._kept = len(state.values)
        self._last = time.perf_counter()

    def keep_part(self, state: State, share: Share, rank: int) -> None:
        """Write what a process has found behind a state, up to where the plan may change."""
        found = [batch for batch in share.values if batch != share.turned]
        if not found:
            return
        told = {
            "mark": self.mark,
            "start": len(state.values),
            "budget": state.budget,
            "turns": state.turns,
            "found": found,
        }
        free = next(path for n in count() if not (path := self.directory / f"part-{rank}-{n}.npz").exists())
        _write(free, told, list(chain.from_iterable(share.values[batch] for batch in found)))

    def _read_part(self, path: Path, work: Sequence[Pass], state: State) -> dict[Batch, list[Values]]:
        """The batches of a part that was found behind this very state."""
        try:
            facts, values = _read(path, _FACTS_OF_PART)
        except DataError as error:
            logger.warning("%s Its answers are computed again.", error)
            return {}
        there = (facts["mark"], facts["start"], facts["budget"], [tuple(turn) for turn in facts["turns"]])
        if there != (self.mark, len(state.values), state.budget, state.turns):
            return {}
        batches: list[Batch] = [(start, end) for start, end in facts["found"]]
        asked = [work[start:end] for start, end in batches]
        all_values = iter(_split(values, list(chain.from_iterable(asked))))
        return {batch: list(islice(all_values, batch[1] - batch[0])) for batch in batches}

    def _parts(self) -> list[Path]:
        return sorted(self.directory.glob("part-*.npz"))

    def _path(self, number: int) -> Path:
        return self.directory / f"{number:06d}.npz"


def _write(path: Path, told: dict[str, Any], values: Sequence[Values]) -> None:
    with atomic_path(path) as partial, partial.open("wb") as file:
        np.savez(file, told=np.array(json.dumps(told)), values=np.concatenate([np.empty(0), *values]))


def _read(path: Path, needed: frozenset[str]) -> tuple[dict[str, Any], Values]:
    """What a shard says of itself, and its values."""
    with convert_errors(lambda error: DataError(f"{path} is damaged ({describe_error(error)}).")):
        with np.load(path) as shard:
            facts, values = parse_json(str(shard["told"])), shard["values"]
        lacking = needed - facts.keys()
        if lacking:
            raise DataError(f"{path} is damaged (it does not say {min(lacking)}).")
    return facts, values


def _split(values: Values, work: Sequence[Pass]) -> list[Values]:
    """Values by input."""
    sizes = [len(asks) for _, asks in work]
    return np.split(values, np.cumsum(sizes)[:-1]) if sizes else []


def _mark(work: Sequence[Pass], budget: int) -> str:
    """A hash of everything that is asked, in order, and of the budget that makes batches of it."""
    digest = hashlib.sha256(str(budget).encode())
    for given, asks in work:
        for ids in (given.input_ids, given.decoder_ids, given.type_ids, given.parents):
            digest.update(array("q", (len(ids), *ids)).tobytes())
        for ask in asks:
            digest.update(array("q", (ask.position, ask.target, ask.normalise)).tobytes())
        digest.update(b"\n")
    return digest.hexdigest()
