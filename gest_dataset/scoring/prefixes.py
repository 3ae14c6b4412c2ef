"""Beginnings that texts of a causal model share, computed once: texts laid into rows as trees.

In lexicographic order a text shares most with its neighbours. A row takes one text after the other, and
of each only the tokens that it does not share with the one before, until the row is full; every token
keeps the place of the one that it follows (`Input.parents`). One forward pass over a row then gives the
states of all of its texts, as a mask lets each token attend to those before it in its own text alone
(`trees.py`). The keys and values of a beginning live as long as that pass, and all rows are nearly as
long as each other. A cache that is filled by depth was measured beside it: it pads at every depth and
runs a pass for each, which costs what it saves with texts of a sentence (docs/scoring.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gest_dataset.probes.query import Input

# Tokens in a row. A wider one shares more beginnings, and every token looks at more that are not its own:
# with 768 wide states 256 cost a twentieth of a pass
WIDTH = 256
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
    """Rows of at most WIDTH tokens (of the budget, where that is less), or of a single longer text."""
    rows = [_Growing()]
    for number in sorted(inputs, key=lambda number: (inputs[number].input_ids, number)):
        ids = inputs[number].input_ids
        if len(rows[-1].ids) + rows[-1].new(ids) > max(min(WIDTH, budget), len(ids)):
            rows.append(_Growing())
        rows[-1].add(number, ids)
    return [row.finished() for row in rows if row.ids]


def pays(rows: Sequence[Row], inputs: Collection[Input]) -> bool:
    """Whether rows spare enough tokens to be worth their check and their wider attention."""
    plain, computed = sum(one.size for one in inputs), sum(row.sequence.size for row in rows)
    widest = max((row.sequence.size for row in rows), default=0)
    return computed < _SHARE * plain and plain - computed > _ROWS * widest


class _Growing:
    """A row that takes texts in lexicographic order."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.parents: list[int] = []
        self.paths: dict[int, list[int]] = {}
        self.last: Sequence[int] = ()
        self.path: list[int] = []

    def _shares(self, ids: Sequence[int]) -> int:
        """How many tokens a text shares with the one before it; no earlier one has more of them."""
        pairs = enumerate(zip(self.last, ids, strict=False))
        return next((i for i, (a, b) in pairs if a != b), min(len(self.last), len(ids)))

    def new(self, ids: Sequence[int]) -> int:
        """How many tokens a text would add."""
        return len(ids) - self._shares(ids)

    def add(self, number: int, ids: Sequence[int]) -> None:
        path = self.path[: self._shares(ids)]
        for token in ids[len(path) :]:
            self.parents.append(path[-1] if path else -1)
            path.append(len(self.ids))
            self.ids.append(token)
        self.last, self.path, self.paths[number] = ids, path, path

    def finished(self) -> Row:
        return Row(Input(tuple(self.ids), parents=tuple(self.parents)), self.paths)
