"""From queries to requests, and from responses to the values of queries.

A server answers two questions: ln P of some tokens after a context (`NextTokens`), and ln P of each token of
a text (`FullText`). A contrast of two words at one position is the first, a continuation of several tokens
the second. Each can replace the other: ln P(t | c) is also the last value of the text (c, t), and a text is
also as many contexts as it has tokens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gest_dataset.models.prefix_sharing import longest_continuations
from gest_dataset.models.served.capabilities import Capabilities
from gest_dataset.models.served.formats import FullText, Ids, Item, NextTokens
from gest_dataset.probes.queries import Query, Values

# Limits of one request: prompts, their tokens, named tokens (vLLM takes 128)
MAX_PROMPTS, MAX_TOKENS, MAX_NAMED = 64, 8192, 100


@dataclass(frozen=True)
class Plan:
    """The distinct items to ask for; `sources` are, for each query, the items and indices of its values."""

    items: tuple[Item, ...]
    sources: tuple[tuple[tuple[Item, int], ...], ...]

    def query_values(self, values: Mapping[Item, Values]) -> list[Values]:
        """The values of every query, in their order."""
        return [np.array([values[item][i] for item, i in source]) for source in self.sources]


def make_plan(queries: Sequence[Query], next_tokens: bool, full_texts: bool) -> Plan:
    """The items for a server that supports next tokens, full texts, or both."""
    wanted = [_requests(query, next_tokens, full_texts) for query in queries]
    targets: dict[Ids, dict[int, int]] = defaultdict(dict)  # context -> target -> its index
    texts: dict[Ids, None] = {}
    for requests in wanted:
        for ids, target, _ in requests:
            if target is None:
                texts[ids] = None
            else:
                targets[ids].setdefault(target, len(targets[ids]))
    ordered = list(texts)
    # the values of a text are among those of a longer one that begins with it
    longest = longest_continuations(ordered)
    hosts = {ids: FullText(ordered[host]) for ids, host in zip(ordered, longest, strict=True)}
    contexts = {context: NextTokens(context, tuple(indices)) for context, indices in targets.items()}
    sources = tuple(
        tuple(
            (hosts[ids], index) if target is None else (contexts[ids], targets[ids][target])
            for ids, target, index in requests
        )
        for requests in wanted
    )
    return Plan((*contexts.values(), *dict.fromkeys(hosts.values())), sources)


def _requests(query: Query, next_tokens: bool, full_texts: bool) -> list[tuple[Ids, int | None, int]]:
    """For each target: a context and the target, or a text (no target) and the index of its value."""
    ids, last = query.input_ids, len(query.input_ids) - 1
    # the text of a continuation; a contrast has none
    continued = ids
    if query.positions[-1] == last and query.positions.count(last) == 1:
        continued = (*ids, query.targets[-1])
    requests: list[tuple[Ids, int | None, int]] = []
    for position, target in zip(query.positions, query.targets, strict=True):
        context = ids[: position + 1]
        in_text = position + 1 < len(continued) and continued[position + 1] == target
        if next_tokens and not (full_texts and in_text and len(set(query.positions)) > 1):
            requests.append((context, target, 0))
        else:
            requests.append((continued if in_text else (*context, target), None, position))
    return requests


def make_batches(items: Sequence[Item], capabilities: Capabilities) -> Iterator[list[Item]]:
    """Items of one kind that fit into a request; contexts with the same targets are neighbours."""
    contexts = sorted(
        (item for item in items if isinstance(item, NextTokens)), key=lambda i: (i.targets, i.size, i.context)
    )
    texts = sorted((item for item in items if isinstance(item, FullText)), key=lambda i: (i.size, i.ids))
    most = MAX_PROMPTS if capabilities.batched else 1
    for kind in (contexts, texts):
        batch: list[Item] = []
        named: set[int] = set()
        size = 0
        for item in kind:
            targets = set(item.targets) if isinstance(item, NextTokens) else set()
            full = len(batch) == most or size + item.size > MAX_TOKENS
            if batch and (full or (capabilities.named_tokens and len(named | targets) > MAX_NAMED)):
                yield batch
                batch, named, size = [], set(), 0
            batch.append(item)
            named |= targets
            size += item.size
        if batch:
            yield batch
