"""Shared prefixes of a causal model's texts are computed once: texts are packed into rows as tries.

In lexicographic order, neighbouring texts share the longest prefixes. A row packs consecutive texts and
repeats only the tokens after the prefix shared with the previous text; `Input.parents` holds the index of
each token's predecessor. An attention mask lets each token attend to its own text only. Longer rows share
more, but every token then attends over more foreign tokens, so rows are cut where the total cost is lowest.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, starmap
from math import inf
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import DynamicCache

from gest_dataset.probes.queries import Input

MAX_TOKENS = 256  # in a row
# The relative cost that each token of a row adds to every other one (measured with 768-wide states)
_ATTENTION_COST = 3e-4
# Packing must save at least this share of all tokens, and this many rows (its check costs about one row)
_MIN_SAVING = 0.05
_MIN_ROWS_SAVED = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One forward pass; `paths` gives, for each text by number, the positions of its tokens in the row."""

    sequence: Input
    paths: Mapping[int, Sequence[int]]


def longest_continuations(texts: Sequence[tuple[int, ...]]) -> list[int]:
    """For each text, the number of the longest text that starts with it.

    In lexicographic order, a text that is a prefix of any other is a prefix of its successor.
    """
    hosts = list(range(len(texts)))
    order = sorted(hosts, key=texts.__getitem__)
    for i, successor in reversed(list(pairwise(order))):
        if texts[successor][: len(texts[i])] == texts[i]:
            hosts[i] = hosts[successor]
    return hosts


def separate_rows(inputs: Mapping[int, Input]) -> list[Row]:
    return [Row(given, {number: range(given.size)}) for number, given in inputs.items()]


def packed_rows(inputs: Mapping[int, Input], budget: int) -> list[Row]:
    """The cheapest rows of at most `MAX_TOKENS` or `budget` tokens; a longer text has its own row."""
    ordered = sorted(inputs, key=lambda number: (inputs[number].input_ids, number))
    texts = [inputs[number].input_ids for number in ordered]
    shared = [0, *starmap(_shared_prefix, pairwise(texts))]  # with the text before
    ends = _row_ends([len(ids) for ids in texts], shared, min(MAX_TOKENS, budget))
    rows = []
    for start, end in pairwise([0, *ends]):  # the trie of these texts
        ids: list[int] = []
        parents: list[int] = []
        paths: dict[int, Sequence[int]] = {}
        path: list[int] = []
        for i in range(start, end):
            path = path[: shared[i]]
            for token in texts[i][len(path) :]:
                parents.append(path[-1] if path else -1)
                path.append(len(ids))
                ids.append(token)
            paths[ordered[i]] = path
        rows.append(Row(Input(tuple(ids), parents=tuple(parents)), paths))
    return rows


def is_worthwhile(rows: Sequence[Row], inputs: Collection[Input]) -> bool:
    plain = sum(one.size for one in inputs)
    packed = sum(row.sequence.size for row in rows)
    longest = max((row.sequence.size for row in rows), default=0)
    return packed < (1 - _MIN_SAVING) * plain and plain - packed > _MIN_ROWS_SAVED * longest


def _shared_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


def _row_ends(sizes: Sequence[int], shared: Sequence[int], limit: int) -> list[int]:
    """The ends of the cheapest rows of consecutive texts, by dynamic programming.

    Text i shares `shared[i]` tokens with the one before. A row of n tokens costs n (1 + _ATTENTION_COST n).
    """
    best = [(0.0, 0)] + [(inf, 0)] * len(sizes)  # the cost of all rows up to an end, the start of the last
    added = [size - prefix for size, prefix in zip(sizes, shared, strict=False)]
    for start, size in enumerate(sizes):
        for end, tokens in enumerate(accumulate([size, *added[start + 1 : start + limit]]), start + 1):
            if tokens > limit and end > start + 1:
                break
            best[end] = min(best[end], (best[start][0] + tokens * (1 + _ATTENTION_COST * tokens), start))
    ends = [len(sizes)] if sizes else []
    while ends and (start := best[ends[-1]][1]):
        ends.append(start)
    return ends[::-1]


def tree_tensors(parents: Sequence[Sequence[int]], length: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """The additive attention mask and the position ids of packed rows.

    A token attends to itself and to its ancestors, and its position is the number of its ancestors. Padding
    attends to itself only, and no token attends to padding.
    """
    parent = torch.full((len(parents), length), -1)
    for row, given in enumerate(parents):
        parent[row, : len(given)] = torch.tensor(given)
    visible = torch.eye(length, dtype=torch.bool).repeat(len(parents), 1, 1)
    ancestor = parent
    while (exists := ancestor >= 0).any():
        rows, tokens = exists.nonzero(as_tuple=True)
        visible[rows, tokens, ancestor[rows, tokens]] = True
        ancestor = torch.where(exists, parent.gather(1, ancestor.clamp(min=0)), -1)
    mask = torch.zeros(visible.shape, dtype=dtype).masked_fill_(~visible, torch.finfo(dtype).min)
    return {"attention_mask": mask[:, None], "position_ids": visible.sum(dim=-1) - 1}


def attention_window(model: Any) -> float:
    """The number of tokens that a model attends to; packed rows ignore a window that is smaller."""
    layers = DynamicCache(config=model.config).layers
    return min((getattr(layer, "sliding_window", None) or inf for layer in layers), default=inf)
