"""One layer between queries and forward passes, for all kinds of models.

Queries that share an input share its pass, and texts of a causal model may share their beginnings
(`prefixes`); inputs are sorted by length and put into batches under a budget of padded tokens; when
the device runs out of memory the budget is halved and the rest goes on; every query gets its
answers, in the order asked.

A float depends on the batch it was computed in, so batches are planned: what is in one follows
from the inputs, the budget and where the last one ended. A `Store` keeps answers up to such an end,
and a run that goes on from there meets the same batches as one that was never stopped. Several
processes take whole batches of the same plan (stretches.py), so that they find the same floats as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Protocol

from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from tqdm.auto import tqdm

from gest_dataset.errors import ScoringError
from gest_dataset.models import prefixes
from gest_dataset.models.prefixes import Row
from gest_dataset.models.stretches import Batch, Pace, Share, State, computed, merge, next_stretch
from gest_dataset.models.team import ALONE, Team
from gest_dataset.probes.queries import Input, Lookup, Query, Values

Pass = tuple[Input, list[Lookup]]


@dataclass(frozen=True)
class Passes:
    """How much work a run was: what was asked, and what had to be computed.

    `tokens` are those of the different inputs, `computed` those that went through the model: fewer of
    them where the `way` is `prefix`, which computes shared beginnings once.
    """

    queries: int
    inputs: int
    tokens: int
    batches: int
    computed: int
    way: str = prefixes.PLAIN


class Scorer(Protocol):
    """Answers the asks of some inputs in one batch."""

    dtypes: list[str]
    """The number types that it has run in so far; a batch that overflows adds one."""

    @property
    def causal(self) -> bool:
        """Whether a position depends on the tokens before it only."""

    def check(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> None:
        """Find out on a few inputs which short ways are right."""

    def shares(self, row: Pass, texts: Sequence[Pass]) -> bool:
        """Whether a row answers as some of its texts do by themselves; its asks are theirs, in order."""

    def answer(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> list[Values]:
        """For each input, the values of its asks."""


class Store(Protocol):
    """Keeps the state of a run, so that another process can go on from there."""

    def load(self, work: Sequence[Pass], budget: int) -> State:
        """The state that an earlier process has kept of the same work, or the first one."""

    def keep(self, state: State, at_once: bool = False) -> None:
        """Take note of a new state: by and by, or `at_once`."""

    def keep_part(self, state: State, share: Share, rank: int) -> None:
        """Take note of what one process of a team has found behind a state."""


def answer(
    queries: Sequence[Query],
    scorer: Scorer,
    batch_tokens: int,
    description: str = "scoring",
    store: Store | None = None,
    team: Team = ALONE,
    announce: Callable[[Sequence[Pass], State], object] = lambda work, state: None,
) -> tuple[list[Values], Passes]:
    """The values of every query, in the order asked, and how many passes they took.

    `announce` tells the other processes of a team what begins; they call `run` with the same.
    """
    number: dict[Input, int] = {}
    own = [number.setdefault(_input(query), len(number)) for query in queries]
    inputs = list(number)
    hosts = longest_hosts([i.input_ids for i in inputs]) if scorer.causal else list(range(len(inputs)))
    asked: dict[int, list[Query]] = {}
    for query, i in zip(queries, own, strict=True):
        asked.setdefault(hosts[i], []).append(query)
    rows, way = _rows({i: inputs[i] for i in asked}, asked, scorer, batch_tokens)
    home = {i: (n, path) for n, row in enumerate(rows) for i, path in row.paths.items()}
    asks: list[dict[Lookup, int]] = [{} for _ in rows]
    for i, some in asked.items():
        n, path = home[i]
        for ask in (ask for query in some for ask in _asks(query, path)):
            asks[n].setdefault(ask, len(asks[n]))
    # long inputs first, so what is too large for the memory shows at once
    order = sorted(range(len(rows)), key=lambda n: _place(rows[n].sequence))
    work = [(rows[n].sequence, list(asks[n])) for n in order]
    state = store.load(work, batch_tokens) if store else State(batch_tokens)
    announce(work, state)
    run(work, state, lambda: scorer, description, store, team)
    values = dict(zip(order, state.values, strict=True))
    passes = Passes(
        queries=len(queries),
        inputs=len(asked),
        tokens=sum(inputs[i].size for i in asked),
        batches=state.batches,
        computed=sum(sequence.size for sequence, _ in work),
        way=way,
    )

    def answers(query: Query, host: int) -> Values:
        n, path = home[host]
        return values[n][[asks[n][ask] for ask in _asks(query, path)]]

    return [answers(query, hosts[i]) for query, i in zip(queries, own, strict=True)], passes


def _rows(
    inputs: Mapping[int, Input], asked: Mapping[int, Sequence[Query]], scorer: Scorer, budget: int
) -> tuple[list[Row], str]:
    """The passes over some inputs, and their way: beginnings are shared where that pays and is right."""
    if scorer.causal:
        ordered = sorted(inputs, key=lambda i: _place(inputs[i]))
        # the scorer checks its short ways on these, before anything long
        few = {ordered[i] for i in _two_shortest([inputs[i] for i in ordered])}
        rows = prefixes.shared({i: inputs[i] for i in inputs if i not in few}, budget)
        rows += prefixes.alone({i: inputs[i] for i in inputs if i in few})
        if prefixes.pays(rows, inputs.values()) and scorer.shares(*_trial(rows, inputs, asked)):
            return rows, prefixes.PREFIX
    return prefixes.alone(inputs), prefixes.PLAIN


def _trial(
    rows: Sequence[Row], inputs: Mapping[int, Input], asked: Mapping[int, Sequence[Query]]
) -> tuple[Pass, list[Pass]]:
    """The widest row with what its first, middle and last text ask, and these texts by themselves."""
    widest = min(rows, key=lambda row: _place(row.sequence))
    numbers = list(widest.paths)
    in_row: list[Lookup] = []
    texts: list[Pass] = []
    for i in sorted({numbers[0], numbers[len(numbers) // 2], numbers[-1]}):
        # ln P always: a logit alone means nothing
        queries = [replace(query, normalise=True) for query in asked[i]]
        in_row += [ask for query in queries for ask in _asks(query, widest.paths[i])]
        texts.append((inputs[i], [ask for query in queries for ask in _asks(query, range(inputs[i].size))]))
    return (widest.sequence, in_row), texts


def _place(sequence: Input) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """What passes are sorted by."""
    return -sequence.size, sequence.input_ids, sequence.parents


def _input(query: Query) -> Input:
    return Input(query.input_ids, query.decoder_ids, query.type_ids)


def _asks(query: Query, path: Sequence[int]) -> list[Lookup]:
    """What a query asks, of an input whose tokens stand in the places of a path."""
    return [Lookup(path[p], t, query.normalise) for p, t in zip(query.positions, query.targets, strict=True)]


def longest_hosts(texts: Sequence[tuple[int, ...]]) -> list[int]:
    """For each text of a causal model, the longest one that starts with it: one pass serves both.

    In lexicographic order a text that is the beginning of any other is so of its successor.
    """
    hosts = list(range(len(texts)))
    order = sorted(hosts, key=texts.__getitem__)
    for i, successor in reversed(list(pairwise(order))):
        if texts[successor][: len(texts[i])] == texts[i]:
            hosts[i] = hosts[successor]
    return hosts


def run(
    work: Sequence[Pass],
    state: State,
    make: Callable[[], Scorer],
    description: str = "",
    store: Store | None = None,
    team: Team = ALONE,
) -> None:
    """Complete a state, stretch by stretch; each process of a team takes part, with a scorer of its own."""
    inputs, asks = [sequence for sequence, _ in work], [own for _, own in work]
    sizes = [sequence.size for sequence in inputs]
    scorer: Scorer

    def answers(batch: Batch) -> list[Values] | Exception:
        return _answers_or_error(scorer, inputs[slice(*batch)], asks[slice(*batch)])

    def begin() -> None:
        nonlocal scorer
        scorer = make()
        _check(scorer, inputs, asks)
        for turn in state.turns:  # the same batches make the scorer turn again
            answers(turn)

    team.each(begin)
    pace = Pace(team.size)
    shown = None if team.leads else True
    bar = tqdm(total=len(work), initial=len(state.values), desc=description, unit="inputs", disable=shown)

    def share(own: Sequence[Batch]) -> Share:
        found = computed(own, answers, scorer, bar.update, lambda batch: _no_memory(sizes[batch[0]]))
        if store and team.several:
            store.keep_part(state, found, team.rank)
        return found

    def settle(as_planned: bool, found: Share) -> None:
        if len(state.turns) > turns and not found.turned:
            answers(state.turns[-1])
        if store and team.leads:
            store.keep(state, at_once=team.several or not as_planned)

    with bar:
        while len(state.values) < len(work):
            turns = len(state.turns)
            stretch = next_stretch(state, sizes, pace.most)
            unknown = [batch for batch in stretch if batch not in state.ahead]
            own = pace.shared(unknown, sizes)[team.rank]
            shares = team.each(partial(share, own))
            as_planned = merge(state, stretch, shares, sizes)
            bar.update(len(state.values) - bar.n)  # what the others have found
            team.each(partial(settle, as_planned, shares[team.rank]))
            pace.adapt(shares)


def _check(scorer: Scorer, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> None:
    few = _two_shortest(inputs)
    try:
        scorer.check([inputs[i] for i in few], [asks[i] for i in few])
    except Exception as error:
        if not should_reduce_batch_size(error):
            raise
        raise _no_memory(inputs[few[0]].size) from error


def _answers_or_error(
    scorer: Scorer, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]
) -> list[Values] | Exception:
    """The answers, or the error of a device whose memory they do not fit into."""
    try:
        return scorer.answer(inputs, asks)
    except Exception as error:
        if not should_reduce_batch_size(error):
            raise
        failed = error.with_traceback(None)  # whose frames hold the tensors of the batch
    clear_device_cache(garbage_collection=True)
    return failed


def _no_memory(tokens: int) -> ScoringError:
    return ScoringError(
        f"Out of memory with one input of {tokens} tokens. Use a smaller model, dtype='bfloat16' or "
        f"device='cpu'."
    )


def _two_shortest(inputs: Sequence[Input]) -> list[int]:
    """The shortest input, and the shortest one of another length; long inputs come first."""
    sizes = {sequence.size: i for i, sequence in enumerate(inputs)}
    return list(reversed(sizes.values()))[:2]
