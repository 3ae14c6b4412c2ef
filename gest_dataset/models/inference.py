"""From queries to their values: what is asked of one input is computed in one pass, in batches.

Queries that share an input share its pass, and texts of a causal model may share prefixes
(`prefix_sharing`). Inputs are sorted by length and batched under a budget of padded tokens, which is halved
when the device runs out of memory. Values are cached per pass, so an interrupted run continues.
"""

from __future__ import annotations

import hashlib
import logging
import time
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from tqdm.auto import tqdm

from gest_dataset.cache import ResponseCache
from gest_dataset.errors import ScoringError
from gest_dataset.models import distributed, prefix_sharing
from gest_dataset.models.base import LogProbs, Passes
from gest_dataset.models.prefix_sharing import Row
from gest_dataset.models.scorers import Pass, Scorer
from gest_dataset.probes.queries import Input, Lookup, Query, Values
from gest_dataset.runs.progress import ProgressWriter

logger = logging.getLogger(__name__)

COMMIT_SECONDS = 5.0  # the most work that a killed run loses
_STATE = "state"  # the key of the seconds, number types and notes of a run


def compute_log_probs(
    queries: Sequence[Query],
    scorer: Scorer,
    batch_tokens: int,
    description: str = "scoring",
    cache: ResponseCache | None = None,
    seed: int = 0,
) -> LogProbs:
    """The values of all queries; cached ones are not computed again.

    `seed` distinguishes the random baselines of a model in the cache.
    """
    number: dict[Input, int] = {}
    input_of = [
        number.setdefault(Input(query.input_ids, query.decoder_ids, query.type_ids), len(number))
        for query in queries
    ]
    inputs = list(number)
    # the input whose pass answers another one's queries: a causal text that starts with it
    host = (
        prefix_sharing.longest_continuations([i.input_ids for i in inputs])
        if scorer.causal
        else range(len(inputs))
    )
    queries_of: dict[int, list[Query]] = {}
    for query, i in zip(queries, input_of, strict=True):
        queries_of.setdefault(host[i], []).append(query)
    hosts = {i: inputs[i] for i in queries_of}
    rows, way = _rows(hosts, queries_of, scorer, batch_tokens)
    row_of = {i: (n, path) for n, row in enumerate(rows) for i, path in row.paths.items()}
    lookups: list[dict[Lookup, int]] = [{} for _ in rows]
    for i, some in queries_of.items():
        n, path = row_of[i]
        for query in some:
            for lookup in _lookups(query, path):
                lookups[n].setdefault(lookup, len(lookups[n]))
    # long inputs come first, so that a lack of memory shows at once
    order = sorted(range(len(rows)), key=lambda n: _sort_key(rows[n].sequence))
    passes = [(rows[n].sequence, list(lookups[n])) for n in order]
    run = _Run(passes, scorer, batch_tokens, cache, seed)
    values = dict(zip(order, run.values(description), strict=True))

    def values_of(query: Query, i: int) -> Values:
        n, path = row_of[host[i]]
        return values[n][[lookups[n][lookup] for lookup in _lookups(query, path)]]

    work = Passes(
        queries=len(queries),
        inputs=len(hosts),
        tokens=sum(one.size for one in hosts.values()),
        batches=run.batches,
        computed=sum(sequence.size for sequence, _ in passes),
        way=way,
    )
    return LogProbs(
        [values_of(query, i) for query, i in zip(queries, input_of, strict=True)],
        work,
        "+".join(run.dtypes),
        tuple(run.notes),
        "the model's values are not finite",
        run.earlier_seconds,
    )


def _rows(
    inputs: Mapping[int, Input], queries_of: Mapping[int, Sequence[Query]], scorer: Scorer, budget: int
) -> tuple[list[Row], str]:
    """The passes over some inputs: texts that share prefixes are packed if that is worthwhile and exact."""
    if scorer.causal:
        ordered = sorted(inputs, key=lambda i: _sort_key(inputs[i]))
        # the scorer checks its fast paths on these, before anything long
        shortest = {ordered[i] for i in _two_shortest([inputs[i] for i in ordered])}
        rows = prefix_sharing.packed_rows({i: inputs[i] for i in inputs if i not in shortest}, budget)
        rows += prefix_sharing.separate_rows({i: inputs[i] for i in inputs if i in shortest})
        if prefix_sharing.is_worthwhile(rows, inputs.values()):
            works = scorer.can_pack(*_packing_sample(rows, inputs, queries_of))
            if distributed.on_main(lambda: works):  # all processes need the same rows
                return rows, "prefix"
    return prefix_sharing.separate_rows(inputs), "plain"


def _packing_sample(
    rows: Sequence[Row], inputs: Mapping[int, Input], queries_of: Mapping[int, Sequence[Query]]
) -> tuple[Pass, list[Pass]]:
    """The longest row with the queries of its first, middle and last text, and these texts separately."""
    longest = min(rows, key=lambda row: _sort_key(row.sequence))
    numbers = list(longest.paths)
    packed: list[Lookup] = []
    separate: list[Pass] = []
    for i in sorted({numbers[0], numbers[len(numbers) // 2], numbers[-1]}):
        # logits alone are not comparable, so ln P is compared
        queries = [replace(query, normalise=True) for query in queries_of[i]]
        packed += [lookup for query in queries for lookup in _lookups(query, longest.paths[i])]
        separate.append(
            (inputs[i], [lookup for query in queries for lookup in _lookups(query, range(inputs[i].size))])
        )
    return (longest.sequence, packed), separate


def _sort_key(sequence: Input) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    return -sequence.size, sequence.input_ids, sequence.parents


def _lookups(query: Query, path: Sequence[int]) -> list[Lookup]:
    """The lookups of a query at the positions that its tokens have in a row."""
    return [Lookup(path[p], t, query.normalise) for p, t in zip(query.positions, query.targets, strict=True)]


def _two_shortest(inputs: Sequence[Input]) -> list[int]:
    """The shortest input and the shortest of another length; inputs are sorted from long to short."""
    sizes = {sequence.size: i for i, sequence in enumerate(inputs)}
    return list(reversed(sizes.values()))[:2]


class _Run:
    """The computation of all passes, shared by the processes of a launcher."""

    def __init__(
        self, passes: Sequence[Pass], scorer: Scorer, budget: int, cache: ResponseCache | None, seed: int
    ) -> None:
        self.passes, self.scorer, self.budget, self.cache = passes, scorer, budget, cache
        self.keys = [_key(one, seed) for one in passes]
        self.state_key = f"{_STATE}-{seed}"
        self.batches = 0
        self.notes: list[str] = []
        self.dtypes: list[str] = []
        self.earlier_seconds = 0.0

    def values(self, description: str) -> list[Values]:
        """The values of all passes, in their order."""
        cached = distributed.on_main(self._cached)
        state: dict[str, Any] = cached.pop(self.state_key, {})
        self.earlier_seconds = state.get("seconds", 0.0)
        self.batches = state.get("batches", 0)
        self.notes, self.dtypes = state.get("notes", []), state.get("dtypes", [])
        found = {key: np.array(values, dtype=np.float64) for key, values in cached.items()}
        missing = [i for i, key in enumerate(self.keys) if key not in found]
        self._check_scorer()
        started = last_commit = time.monotonic()
        uncommitted: dict[str, Values] = {}
        progress = ProgressWriter(self.cache, len(self.passes), "inputs")
        hidden = None if distributed.is_main() else True  # None: shown on a terminal only
        bar = tqdm(
            total=len(self.passes), initial=len(found), desc=description, unit="inputs", disable=hidden
        )
        with bar:
            while missing:
                new, missing = self._next_round(missing)
                found |= new
                uncommitted |= new
                bar.update(len(new))
                progress.update(len(found))
                now = time.monotonic()
                if self.cache is not None and (now - last_commit >= COMMIT_SECONDS or not missing):
                    self._commit(uncommitted, now - started)
                    uncommitted, last_commit = {}, now
        for notes, dtypes in distributed.gather((self.scorer.notes, self.scorer.dtypes)):
            self._merge(notes, dtypes)
        return [found[key] for key in self.keys]

    def _cached(self) -> dict[str, Any]:
        return {} if self.cache is None else self.cache.get([*self.keys, self.state_key])

    def _check_scorer(self) -> None:
        few = _two_shortest([sequence for sequence, _ in self.passes])
        try:
            self.scorer.check([self.passes[i][0] for i in few], [self.passes[i][1] for i in few])
        except Exception as error:
            if not should_reduce_batch_size(error):
                raise
            raise self._out_of_memory(few[0]) from error

    def _next_round(self, missing: Sequence[int]) -> tuple[dict[str, Values], list[int]]:
        """Compute the next batch of every process; return the values and the passes that are left.

        Running out of memory halves the budget.
        """
        batches = []
        start = 0
        for _ in range(distributed.world_size()):
            longest = self.passes[missing[start]][0].size if start < len(missing) else 1
            batches.append(missing[start : start + max(1, self.budget // longest)])
            start += len(batches[-1])
        outcomes = distributed.gather(self._compute(batches[distributed.rank()]))
        values: dict[str, Values] = {}
        failed: list[int] = []
        for batch, outcome in zip(batches, outcomes, strict=True):
            if outcome is not None:
                values |= dict(zip((self.keys[i] for i in batch), outcome, strict=True))
                self.batches += bool(batch)
                continue
            if len(batch) == 1:
                raise self._out_of_memory(batch[0])
            failed += batch
            longest = self.passes[batch[0]][0].size
            self.budget = max(longest, longest * len(batch) // 2)
            logger.warning("Out of memory: continuing with %d tokens per batch.", self.budget)
        return values, [*failed, *missing[start:]]

    def _compute(self, batch: Sequence[int]) -> list[Values] | None:
        """The values of a batch; None if the device runs out of memory."""
        if not batch:
            return []
        try:
            return self.scorer.log_probs(
                [self.passes[i][0] for i in batch], [self.passes[i][1] for i in batch]
            )
        except Exception as error:
            if not should_reduce_batch_size(error):
                raise
        clear_device_cache(garbage_collection=True)
        return None

    def _commit(self, values: Mapping[str, Values], seconds: float) -> None:
        """Store new values and the state of the run in the cache."""
        assert self.cache is not None
        self._merge(self.scorer.notes, self.scorer.dtypes)
        state = {
            "seconds": self.earlier_seconds + seconds,
            "batches": self.batches,
            "notes": self.notes,
            "dtypes": self.dtypes,
        }
        self.cache.put({**{key: some.tolist() for key, some in values.items()}, self.state_key: state})

    def _merge(self, notes: Sequence[str], dtypes: Sequence[str]) -> None:
        self.notes = list(dict.fromkeys([*self.notes, *notes]))
        self.dtypes = list(dict.fromkeys([*self.dtypes, *dtypes]))

    def _out_of_memory(self, number: int) -> ScoringError:
        return ScoringError(
            f"Out of memory with one input of {self.passes[number][0].size} tokens. Use a smaller model, "
            f"dtype='bfloat16' or device='cpu'."
        )


def _key(one: Pass, seed: int) -> str:
    """A hash of an input, of everything that is asked of it, and of the seed."""
    sequence, lookups = one
    digest = hashlib.sha256(str(seed).encode())
    for ids in (sequence.input_ids, sequence.decoder_ids, sequence.type_ids, sequence.parents):
        digest.update(array("q", (len(ids), *ids)).tobytes())
    for lookup in lookups:
        digest.update(array("q", (lookup.position, lookup.target, lookup.normalise)).tobytes())
    return digest.hexdigest()
