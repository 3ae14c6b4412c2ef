"""The only thing that a scorer sees: token ids, where to look, which ids to look for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

# The answers to one query, one for each of its targets
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Query:
    """Asks for the values of `targets[i]` at `positions[i]` of one input.

    With `normalise` a value is ln P(target); without it, a logit, of which only differences at one
    position mean anything (they are differences of ln P, and need no normaliser). An
    encoder-decoder is asked at positions of `decoder_ids`; a pair of sentences has `type_ids`.
    """

    input_ids: tuple[int, ...]
    positions: tuple[int, ...]
    targets: tuple[int, ...]
    normalise: bool = True
    decoder_ids: tuple[int, ...] = ()
    type_ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class Input:
    """What one forward pass needs of a query; queries that share it share the pass.

    Of a causal model's texts that begin alike, `input_ids` may hold the tokens of a tree: `parents[i]` is the
    place of the token that the i-th one follows, -1 where it begins a text. Without `parents` each token
    follows the one before it.
    """

    input_ids: tuple[int, ...]
    decoder_ids: tuple[int, ...] = ()
    type_ids: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Its share in a batch's budget of tokens."""
        return max(len(self.input_ids), len(self.decoder_ids))

    def followed_by(self, ids: tuple[int, ...]) -> Input:
        """With more tokens behind the last one."""
        size = len(self.input_ids)
        parents = (*self.parents, *range(size - 1, size - 1 + len(ids))) if self.parents else ()
        return replace(self, input_ids=(*self.input_ids, *ids), parents=parents)


@dataclass(frozen=True)
class Ask:
    """One number that is wanted of an input."""

    position: int
    target: int
    normalise: bool
