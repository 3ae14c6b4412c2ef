"""Answers on disk while a run goes on: what a killed run has computed is not computed again.

A shard holds the answers of some consecutive batches and the state behind them. It has its name
only when it is whole and on the disk, and carries the mark of the work that it is a part of.
Where shards end never changes a number: the batches are planned before (see batching.py).
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from array import array
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from gest_dataset.data.foreign import parse_json, told, turning
from gest_dataset.errors import DataError
from gest_dataset.files import replacing
from gest_dataset.scoring.batching import Pass, State

logger = logging.getLogger(__name__)

# A shard is written when so many seconds have passed: what a kill can cost
SECONDS = 5.0
_FACTS = frozenset({"mark", "start", "end", "budget", "batches", "turns", "seconds"})  # of a shard


class Shards:
    """The shards of one run in a directory of their own (a `batching.Store`)."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.earlier = 0.0  # seconds of computing by earlier processes, as far as it was kept
        self._mark = ""
        self._number = self._kept = 0
        self._began = self._last = time.perf_counter()

    def load(self, work: Sequence[Pass], budget: int) -> State:
        """The state behind the last shard; shards of other work, or damaged ones, do not count."""
        self._mark, state = _mark(work, budget), State(budget)
        for number in count():
            path = self._path(number)
            if not path.exists():
                break
            try:
                facts, values = _read(path)
            except DataError as error:
                logger.warning("%s Its answers are computed again.", error)
                break
            if facts["mark"] != self._mark or facts["start"] != len(state.values):
                logger.warning("%s is of other work: its answers are computed again.", path)
                break
            sizes = [len(asks) for _, asks in work[facts["start"] : facts["end"]]]
            state.values += np.split(values, np.cumsum(sizes)[:-1]) if sizes else []
            state.budget, state.batches = facts["budget"], facts["batches"]
            state.turns = [(start, end) for start, end in facts["turns"]]
            self.earlier = facts["seconds"]
            self._number = number + 1
        self._kept = len(state.values)
        self._began = self._last = time.perf_counter()
        return state

    def keep(self, state: State, at_once: bool = False) -> None:
        """Write what is new when it is time to, or `at_once`."""
        moment = time.perf_counter()
        if moment - self._last < SECONDS and not at_once:
            return
        told = {
            "mark": self._mark,
            "start": self._kept,
            "end": len(state.values),
            "budget": state.budget,
            "batches": state.batches,
            "turns": state.turns,
            "seconds": self.earlier + moment - self._began,
        }
        values = np.concatenate([np.empty(0), *state.values[self._kept :]])
        with replacing(self._path(self._number)) as partial, partial.open("wb") as file:
            np.savez(file, told=np.array(json.dumps(told)), values=values)
        self._number += 1
        self._kept = len(state.values)
        self._last = time.perf_counter()

    def _path(self, number: int) -> Path:
        return self.directory / f"{number:06d}.npz"


def _read(path: Path) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """What a shard says of itself, and its values."""
    with turning(lambda error: DataError(f"{path} is damaged ({told(error)}).")):
        with np.load(path) as shard:
            facts, values = parse_json(str(shard["told"])), shard["values"]
        lacking = _FACTS - facts.keys()
        if lacking:
            raise DataError(f"{path} is damaged (it does not say {min(lacking)}).")
    return facts, values


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
