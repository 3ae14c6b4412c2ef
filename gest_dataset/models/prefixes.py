"""Beginnings that texts of a causal model share, computed once: texts laid into rows as trees.

In lexicographic order a text shares most with its neighbours. A row takes one text after the other, and
of each only the tokens that it does not share with the one before; every token keeps the place of the one
that it follows (`Input.parents`). One forward pass over a row then gives the states of all of its texts, as
a mask lets each token attend to those before it in its own text alone (`trees.py`). The keys and values of a
beginning live as long as that pass. A cache that is filled by depth was measured beside it: it pads at every
depth and runs a pass for each, which costs what it saves with texts of a sentence (docs/scoring.md).

Where a row ends and the next begins, a beginning is computed again; in a long row every token looks at more
that are not its own. Rows end where both together cost least (`_ends`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from math import inf

from gest_dataset.probes.queries import Input

# Tokens in a row, at most
WIDTH = 256
# What each token of its row adds to the cost of a token, as a part of it: measured with states 768 wide,
# where looking at 256 tokens took a fourteenth of a pass
_LOOK = 3e-4
# A sharing that computes more than so much of all tokens is not worth a way of its own
_SHARE = 0.95
# Nor is one that spares less than so many rows: its check takes about one
_ROWS = 2

PLAIN, PREFIX = "plain", "prefix"  # what the ways are called in the metadata of a run


@dataclass(frozen=True)
class Row:
    """One forward pass: `paths` are the places in it of the tokens of each of its texts, by number."""

    sequence: Input
    paths: Mapping[int, Sequence[int]]


def alone(inputs: Mapping[int, Input]) -> list[Row]:
    """Each input in a pass of its own."""
    return [Row(given, {number: range(given.size)}) for number, given in inputs.items()]


def shared(inputs: Mapping[int, Input], budget: int) -> list[Row]:
    """The cheapest rows of at most WIDTH tokens (the budget, where that is less), or of one longer text."""
    ordered = sorted(inputs, key=lambda number: (inputs[number].input_ids, number))
    texts = [inputs[number].input_ids for number in ordered]
    ends = _ends([len(ids) for ids in texts], [*starmap(_common, pairwise(texts))], min(WIDTH, budget))
    bounds = pairwise([0, *ends])
    return [_row(dict(zip(ordered[a:b], texts[a:b], strict=True))) for a, b in bounds]


def pays(rows: Sequence[Row], inputs: Collection[Input]) -> bool:
    """Whether rows spare enough tokens to be worth their check and their wider attention."""
    plain, computed = sum(one.size for one in inputs), sum(row.sequence.size for row in rows)
    widest = max((row.sequence.size for row in rows), default=0)
    return computed < _SHARE * plain and plain - computed > _ROWS * widest


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two texts share at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _ends(sizes: Sequence[int], common: Sequence[int], limit: int) -> list[int]:
    """Where rows of texts in lexicographic order end, so that all of them together cost least.

    `common` tokens a text shares with the next one. A row of n tokens costs n (1 + _LOOK n). The best rows up
    to a text go on from the best ones up to where its row begins.
    """
    costs, begins = [0.0] + [inf] * len(sizes), [0] * (len(sizes) + 1)
    for begin, size in enumerate(sizes):
        tokens = size
        for end in range(begin + 1, len(sizes) + 1):
            if end > begin + 1:
                tokens += sizes[end - 1] - common[end - 2]
                if tokens > limit:
                    break
            cost = costs[begin] + tokens * (1 + _LOOK * tokens)
            if cost < costs[end]:
                costs[end], begins[end] = cost, begin
    ends, end = [], len(sizes)
    while end:
        ends.append(end)
        end = begins[end]
    return ends[::-1]


def _row(texts: Mapping[int, Sequence[int]]) -> Row:
    """A tree of texts in lexicographic order: of each the tokens that the one before it lacks."""
    ids: list[int] = []
    parents: list[int] = []
    paths: dict[int, Sequence[int]] = {}
    last: Sequence[int] = ()
    path: list[int] = []
    for number, text in texts.items():
        path = path[: _common(last, text)]
        for token in text[len(path) :]:
            parents.append(path[-1] if path else -1)
            path.append(len(ids))
            ids.append(token)
        last, paths[number] = text, path
    return Row(Input(tuple(ids), parents=tuple(parents)), paths)
