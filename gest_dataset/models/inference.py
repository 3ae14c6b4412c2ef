"""From queries to their values: what is asked of one input is computed in one pass, in batches.

Queries that share an input share its pass, and texts of a causal model may share prefixes
(`prefix_sharing`). Inputs are sorted by length and batched under a budget of padded tokens, which is halved
when the device runs out of memory. Values are cached per pass, so an interrupted run continues.
"""

import logging
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.errors import ScoringError
from gest_dataset.models import distributed, prefix_sharing
from gest_dataset.models.base import LogProbs, Passes
from gest_dataset.models.device import return_memory
from gest_dataset.models.forward_passes import Pass, Scorer
from gest_dataset.models.prefix_sharing import Row
from gest_dataset.probes.queries import Input, Lookup, Query, Values
from gest_dataset.progress import ProgressBar

logger = logging.getLogger(__name__)

COMMIT_SECONDS = 2.0  # the most work that a killed run loses


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
    passes, places, work = _plan(queries, scorer, batch_tokens)
    values, state = _compute(passes, scorer, batch_tokens, description, cache, seed)
    of_queries = [np.concatenate([values[n][part] for part in parts]) for n, parts in places]
    not_finite = "the model's values are not finite"
    return LogProbs(of_queries, work, "+".join(state.dtypes), tuple(state.notes), not_finite, state.seconds)


def _plan(
    queries: Sequence[Query], scorer: Scorer, batch_tokens: int
) -> tuple[list[Pass], list[tuple[int, list[slice]]], Passes]:
    """The passes, the pass of each query with the parts of its values, and the counts of the passes."""
    asked = [Input(query.input_ids, query.decoder_ids, query.type_ids) for query in queries]
    inputs = list(dict.fromkeys(asked))
    number = {sequence: i for i, sequence in enumerate(inputs)}
    host_of = list(range(len(inputs)))
    if scorer.causal:  # the pass over a longer text answers the queries of the one that it starts with
        host_of = prefix_sharing.longest_continuations([sequence.input_ids for sequence in inputs])
    computed = {i: inputs[i] for i in host_of}
    rows, method = _rows(computed, scorer, batch_tokens)
    # long inputs come first, so that a lack of memory shows at once
    rows.sort(key=lambda row: _sort_key(row.sequence))
    row_of_input = {i: (n, path) for n, row in enumerate(rows) for i, path in row.paths.items()}
    parts_of_rows: list[dict[Lookup, slice]] = [{} for _ in rows]
    sizes = [0] * len(rows)
    places: list[tuple[int, list[slice]]] = []
    for query, sequence in zip(queries, asked, strict=True):
        n, path = row_of_input[host_of[number[sequence]]]
        pairs = zip(query.positions, query.targets, strict=True)
        lookups = [Lookup(path[p], (t,), query.normalise) for p, t in pairs]
        if query.placebo:
            lookups.append(Lookup(path[query.placebo_position], query.placebo, False))
        known = parts_of_rows[n]
        for lookup in lookups:
            if lookup not in known:
                known[lookup] = slice(sizes[n], sizes[n] + len(lookup.targets))
                sizes[n] = known[lookup].stop
        places.append((n, [known[lookup] for lookup in lookups]))
    passes = [(row.sequence, list(known)) for row, known in zip(rows, parts_of_rows, strict=True)]
    tokens = sum(sequence.size for sequence in computed.values())
    used = sum(sequence.size for sequence, _ in passes)
    return passes, places, Passes(len(queries), len(computed), tokens, used, method)


def _rows(inputs: Mapping[int, Input], scorer: Scorer, budget: int) -> tuple[list[Row], str]:
    """The passes over some inputs: texts that share prefixes are packed if that is worthwhile and exact."""
    if scorer.causal:
        ordered = sorted(inputs, key=lambda i: _sort_key(inputs[i]))
        # the scorer checks its fast paths on these, before anything long
        shortest = {ordered[n] for n in _two_shortest([inputs[i] for i in ordered])}
        rows = prefix_sharing.packed_rows({i: inputs[i] for i in inputs if i not in shortest}, budget)
        rows += prefix_sharing.separate_rows({i: inputs[i] for i in shortest})
        if prefix_sharing.is_worthwhile(rows, inputs.values()):
            longest = min(rows, key=lambda row: _sort_key(row.sequence))
            with _out_of_memory([(longest.sequence, [])]):
                works = scorer.can_pack(*_packing_sample(longest, inputs))
            if distributed.on_main(lambda: works):  # all processes need the same rows
                return rows, "prefix"
    return prefix_sharing.separate_rows(inputs), "plain"


def _packing_sample(row: Row, inputs: Mapping[int, Input]) -> tuple[Pass, list[Pass]]:
    """A row with ln P of every token of its first, middle and last text, and these texts separately."""
    numbers = list(row.paths)
    packed: list[Lookup] = []
    separate: list[Pass] = []
    for i in sorted({numbers[0], numbers[len(numbers) // 2], numbers[-1]}):
        first, *rest = inputs[i].input_ids
        lookups = [Lookup(p, (target,), True) for p, target in enumerate([*rest, first])]
        separate.append((inputs[i], lookups))
        packed += [replace(lookup, position=row.paths[i][lookup.position]) for lookup in lookups]
    return (row.sequence, packed), separate


def _sort_key(sequence: Input) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    return -sequence.size, sequence.input_ids, sequence.parents


def _two_shortest(inputs: Sequence[Input]) -> list[int]:
    """The shortest input and the shortest of another length; inputs are sorted from long to short."""
    sizes = {sequence.size: i for i, sequence in enumerate(inputs)}
    return list(reversed(sizes.values()))[:2]


@dataclass
class _State:
    """What a run reports besides its values; it is cached, so it survives a kill."""

    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)

    def merge(self, notes: Sequence[str], dtypes: Sequence[str]) -> None:
        self.notes = list(dict.fromkeys([*self.notes, *notes]))
        self.dtypes = list(dict.fromkeys([*self.dtypes, *dtypes]))


def _compute(
    passes: Sequence[Pass], scorer: Scorer, budget: int, name: str, cache: ResponseCache | None, seed: int
) -> tuple[list[Values], _State]:
    """The values of all passes, in their order; the processes of a launcher share the work."""
    is_cached = distributed.on_main(lambda: cache is not None)  # other processes have none
    keys: Sequence[Any] = [_key(seed, *one) for one in passes] if is_cached else range(len(passes))
    state_key = f"state-{seed}"
    cached = distributed.on_main(lambda: {} if cache is None else cache.get([*keys, state_key]))
    state = _State(**cached.pop(state_key, {}))
    computed: dict[Any, Values] = {key: np.frombuffer(b64decode(text)) for key, text in cached.items()}
    missing = [i for i, key in enumerate(keys) if key not in computed]
    few = [passes[i] for i in _two_shortest([sequence for sequence, _ in passes])]
    with _out_of_memory(few[:1]):
        scorer.check(*zip(*few, strict=True))
    started = last_commit = time.monotonic()
    uncommitted: dict[Any, Values] = {}
    bar = ProgressBar(len(passes), "inputs", len(computed), name, not distributed.is_main())
    with bar, _out_of_memory(few[:1]), scorer.packed_layers(*zip(*few, strict=True)):
        while missing:
            batches = []  # the next one of every process
            for _ in range(distributed.world_size()):
                size = max(1, budget // passes[missing[0]][0].size) if missing else 0
                batches.append(missing[:size])
                missing = missing[size:]
            own_values = _compute_batch([passes[i] for i in batches[distributed.rank()]], scorer, budget)
            new: dict[Any, Values] = {}
            left: list[int] = []
            for batch, (values, new_budget) in zip(batches, distributed.gather(own_values), strict=True):
                new |= {keys[i]: pass_values for i, pass_values in zip(batch, values, strict=False)}
                left += batch[len(values) :]
                budget = min(budget, new_budget)
            missing = [*left, *missing]
            computed |= new
            uncommitted |= new if cache is not None else {}
            bar.update(len(new))
            now = time.monotonic()
            if now - last_commit < COMMIT_SECONDS and missing:
                continue
            last_commit = now
            return_memory()
            if cache is not None:
                state.merge(scorer.notes, scorer.dtypes)
                spent = {"seconds": state.seconds + now - started}
                texts = {key: b64encode(array.tobytes()).decode() for key, array in uncommitted.items()}
                cache.put({**texts, state_key: asdict(state) | spent})
                uncommitted = {}
    for notes, dtypes in distributed.gather((scorer.notes, scorer.dtypes)):
        state.merge(notes, dtypes)
    return [computed[key] for key in keys], state


def _key(seed: int, sequence: Input, lookups: Sequence[Lookup]) -> str:
    ids = (sequence.input_ids, sequence.decoder_ids, sequence.type_ids, sequence.parents)
    return cache_key(seed, ids, [(lookup.position, lookup.targets, lookup.normalise) for lookup in lookups])


def _compute_batch(batch: Sequence[Pass], scorer: Scorer, budget: int) -> tuple[list[Values], int]:
    """The values of the first passes of a batch, and the budget; running out of memory halves both."""
    while batch:
        with _out_of_memory(batch):
            try:
                inputs, lookups = zip(*batch, strict=True)
                return scorer.log_probs(inputs, lookups), budget
            except Exception as error:
                if len(batch) == 1 or not should_reduce_batch_size(error):
                    raise
        clear_device_cache(garbage_collection=True)
        batch = batch[: len(batch) // 2]
        budget = min(budget, len(batch) * batch[0][0].size)
        logger.warning("Out of memory: continuing with %d tokens per batch.", budget)
    return [], budget


@contextmanager
def _out_of_memory(batch: Sequence[Pass]) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not should_reduce_batch_size(error):
            raise
        size = batch[0][0].size
        raise ScoringError(f"Out of memory with one input of {size} tokens. Use a smaller model.") from error
