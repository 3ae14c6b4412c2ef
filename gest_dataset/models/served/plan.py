"""From queries to requests, and from responses to the values of queries.

A contrast of two words at one position asks for some tokens after a context, a continuation of several
tokens for a whole text. Each can replace the other: ln P(t | c) is also the last value of the text (c, t),
and a text is also as many contexts as it has tokens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from gest_dataset.models.prefix_sharing import longest_continuations
from gest_dataset.models.served.completions import Capabilities, Ids, Item
from gest_dataset.probes.queries import Query

# Limits of one request: prompts, their tokens, named tokens (vLLM takes 128)
MAX_PROMPTS, MAX_TOKENS, MAX_NAMED = 64, 8192, 100


def make_plan(
    queries: Sequence[Query], next_tokens: bool, full_texts: bool
) -> tuple[list[Item], list[list[tuple[Item, int]]]]:
    """The distinct items to ask for, and for each query the items and indices of its values.

    The server supports next tokens, full texts, or both.
    """
    wanted = [_lookups(query, next_tokens, full_texts) for query in queries]
    targets: dict[Ids, dict[int, int]] = defaultdict(dict)  # context -> target -> its index
    texts: dict[Ids, None] = {}
    for ids, target, _ in (lookup for lookups in wanted for lookup in lookups):
        if target is None:
            texts[ids] = None
        else:
            targets[ids].setdefault(target, len(targets[ids]))
    ordered = list(texts)
    # the values of a text are among those of a longer one that begins with it
    hosts = dict(zip(ordered, (Item(ordered[i]) for i in longest_continuations(ordered)), strict=True))
    contexts = {context: Item(context, tuple(indices)) for context, indices in targets.items()}
    sources = [
        [
            (hosts[ids], index) if target is None else (contexts[ids], targets[ids][target])
            for ids, target, index in lookups
        ]
        for lookups in wanted
    ]
    return [*contexts.values(), *dict.fromkeys(hosts.values())], sources


def _lookups(query: Query, next_tokens: bool, full_texts: bool) -> list[tuple[Ids, int | None, int]]:
    """For each target: a context and the target, or a text (no target) and the index of its value."""
    ids, last = query.input_ids, len(query.input_ids) - 1
    # the text of a continuation; a contrast has none
    continued = ids
    if query.positions[-1] == last and query.positions.count(last) == 1:
        continued = (*ids, query.targets[-1])
    lookups: list[tuple[Ids, int | None, int]] = []
    for position, target in zip(query.positions, query.targets, strict=True):
        context = ids[: position + 1]
        in_text = position + 1 < len(continued) and continued[position + 1] == target
        if next_tokens and not (full_texts and in_text and len(set(query.positions)) > 1):
            lookups.append((context, target, 0))
        else:
            lookups.append((continued if in_text else (*context, target), None, position))
    return lookups


def make_batches(items: Sequence[Item], able: Capabilities) -> Iterator[list[Item]]:
    """Items of one kind that fit into a request; contexts with the same targets are neighbours."""
    batch: list[Item] = []
    for item in sorted(items, key=lambda item: (item.targets, len(item.ids), item.ids)):
        longer = [*batch, item]
        named = {target for each in longer for target in each.targets} if able.named_tokens else ()
        if batch and (
            len(longer) > (MAX_PROMPTS if able.batched else 1)
            or sum(len(each.ids) for each in longer) > MAX_TOKENS
            or len(named) > MAX_NAMED
            or bool(item.targets) != bool(batch[0].targets)
        ):
            yield batch
            longer = [item]
        batch = longer
    if batch:
        yield batch
