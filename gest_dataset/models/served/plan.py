"""From queries to what a server is asked, and from its answers back to the queries.

A server knows two questions: ln P of some tokens behind a context (`Next`), and ln P of each token of a text
behind those before it (`Text`). A contrast of two words at one place is a `Next`; a continuation of several
tokens is a `Text`. What a server cannot be asked is put in the other way: ln P(t | c) is also the last value
of the text (c, t), and a text is also as many contexts as it has tokens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gest_dataset.models.batching import longest_hosts
from gest_dataset.probes.queries import Query, Values

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Next:
    """Asks for ln P(target | context) of each target."""

    context: Ids
    targets: Ids

    @property
    def size(self) -> int:
        return len(self.context)


@dataclass(frozen=True)
class Text:
    """Asks for ln P of each token from the second on."""

    ids: Ids

    @property
    def size(self) -> int:
        return len(self.ids)


Item = Next | Text
Place = tuple[Item, int]  # an item, and which of its values


@dataclass(frozen=True)
class Plan:
    """What is to be asked, each thing once, and where the answers of each query are."""

    items: tuple[Item, ...]
    places: tuple[tuple[Place, ...], ...]

    def values(self, answers: Mapping[Item, Values]) -> list[Values]:
        """The values of every query, in the order asked."""
        return [np.array([answers[item][i] for item, i in places]) for places in self.places]


def plan(queries: Sequence[Query], contexts: bool, texts: bool) -> Plan:
    """How a server that can be asked for `contexts`, for `texts`, or for both, is asked."""
    wanted = [_ways(query, contexts, texts) for query in queries]
    targets: dict[Ids, dict[int, int]] = defaultdict(dict)  # of a context: a target -> its number
    wholes: dict[Ids, None] = {}
    for ways in wanted:
        for ids, target, _ in ways:
            if target is None:
                wholes[ids] = None
            else:
                targets[ids].setdefault(target, len(targets[ids]))
    written = list(wholes)
    hosts = {ids: Text(written[host]) for ids, host in zip(written, longest_hosts(written), strict=True)}
    nexts = {context: Next(context, tuple(own)) for context, own in targets.items()}
    places = tuple(
        tuple(
            (hosts[ids], offset) if target is None else (nexts[ids], targets[ids][target])
            for ids, target, offset in ways
        )
        for ways in wanted
    )
    return Plan((*nexts.values(), *dict.fromkeys(hosts.values())), places)


def _ways(query: Query, contexts: bool, texts: bool) -> list[tuple[Ids, int | None, int]]:
    """For each target: a context and the target, or a text (no target) and which of its values."""
    ids, last = query.input_ids, len(query.input_ids) - 1
    # the text that a continuation spells; a contrast spells none
    spelt = ids
    if query.positions[-1] == last and query.positions.count(last) == 1:
        spelt = (*ids, query.targets[-1])
    ways: list[tuple[Ids, int | None, int]] = []
    for position, target in zip(query.positions, query.targets, strict=True):
        context = ids[: position + 1]
        is_spelt = position + 1 < len(spelt) and spelt[position + 1] == target
        if contexts and not (texts and is_spelt and len(set(query.positions)) > 1):
            ways.append((context, target, 0))
        else:
            ways.append((spelt if is_spelt else (*context, target), None, position))
    return ways
