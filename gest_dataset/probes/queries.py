"""The only thing that a scorer sees: token ids, where to look, which ids to look for.

The queries that several probes share, and the sample that they end up in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np
import numpy.typing as npt

from gest_dataset.probes.author_rules import BOS_FIRST
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError, Tokens

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
class Lookup:
    """One number that is wanted of an input."""

    position: int
    target: int
    normalise: bool


Score = tuple[float | None, ...]


@dataclass(frozen=True)
class Sample:
    """A row as queries, and how their answers become its scores."""

    queries: tuple[Query, ...]
    fold: Callable[[Sequence[Values]], Score]


def masked(reader: ProbeTokenizer, tokens: Tokens, slot: range) -> Query:
    """ln P of each token of a slot, all of them masked at the same time."""
    ids = tokens.replaced(slot, [_mask(reader)] * len(slot))
    return Query(reader.fitting(ids), tuple(slot), tokens.slice(slot))


def masked_contrast(
    reader: ProbeTokenizer, masculine: Tokens, feminine: Tokens, slots: Sequence[int]
) -> Query:
    """The logits of the masculine and then of the feminine token at each of some masked places.

    Both texts must be the same tokens everywhere else.
    """
    ids = [_mask(reader) if i in slots else token for i, token in enumerate(masculine.ids)]
    other = [_mask(reader) if i in slots else token for i, token in enumerate(feminine.ids)]
    if ids != other:
        raise SkipSampleError("the rest of the sentence has other tokens in the two variants")
    for i in slots:
        check_distinct(masculine.ids[i : i + 1], feminine.ids[i : i + 1])
    targets = [side.ids[i] for side in (masculine, feminine) for i in slots]
    return Query(reader.fitting(ids), (*slots, *slots), tuple(targets), normalise=False)


def check_distinct(*words: Sequence[int]) -> None:
    """Refuse words two of which are the same tokens: their difference would be 0, and say nothing."""
    if len(set(map(tuple, words))) < len(words):
        raise SkipSampleError("the words that are compared are the same tokens")


def check_compared(left: Tokens, right: Tokens) -> None:
    """Refuse texts that are the same tokens, or that differ in tokens that are not known."""
    check_distinct(left.ids, right.ids)
    for tag, *ends in SequenceMatcher(None, left.ids, right.ids, autojunk=False).get_opcodes():
        if tag != "equal":
            left.check_known(range(*ends[:2]))
            right.check_known(range(*ends[2:]))


def contrast_of(values: Values) -> float:
    """The mean of ln P(masculine) - ln P(feminine) over the places of a masked contrast."""
    half = len(values) // 2
    return float((values[:half] - values[half:]).mean())


def continuation(reader: ProbeTokenizer, tokens: Tokens, first: int) -> Query:
    """ln P(token | tokens to its left) from the token `first` to the end, for a causal model.

    Special tokens at either end do not count.
    """
    ids, added = reader.started(tokens)
    plain = [i for i, special in enumerate(tokens.special) if not special]
    begin, end = max(first, min(plain, default=0)) + added, max(plain, default=-1) + 1 + added
    if begin >= end:
        raise SkipSampleError("no token of the text counts")
    if begin == 0:
        raise SkipSampleError("nothing is on the left of the first token: no start token, and no end token")
    return Query(reader.fitting(ids[: end - 1]), tuple(range(begin - 1, end - 1)), ids[begin:end])


def likelihood(reader: ProbeTokenizer, tokens: Tokens, first: int) -> tuple[Query, ...]:
    """The continuation from the token `first`; by `bos-first` only the text's first token has the start."""
    whole = continuation(reader, tokens, first)
    if BOS_FIRST.name not in reader.rules:
        return (whole,)
    start = reader.started(tokens)[1] + tokens.special.index(False)
    alone = sum(position < start for position in whole.positions)
    queries = (
        Query(whole.input_ids[:start], whole.positions[:alone], whole.targets[:alone]),
        Query(
            whole.input_ids[start:],
            tuple(position - start for position in whole.positions[alone:]),
            whole.targets[alone:],
        ),
    )
    return tuple(query for query in queries if query.targets)


def decoded(
    reader: ProbeTokenizer,
    encoder_ids: Sequence[int],
    candidates: Sequence[Sequence[int]],
    last: int | None = None,
) -> Query:
    """ln P of what an encoder-decoder puts behind the first sentinel, by teacher forcing.

    `last` is what closes the last candidate, if that is no sentinel. What is asked are
    the tokens of each candidate and the sentinel that closes it, which is also the one that opens the next.
    Without it a word would never be less likely than a longer one that it begins.
    """
    closable = len(reader.sentinels) - 1
    if len(candidates) > closable:
        raise SkipSampleError(f"{len(candidates)} slots, the tokeniser has sentinels to close {closable}")
    assert reader.decoder_start_id is not None
    ids = [reader.decoder_start_id, reader.sentinels[0]]
    for candidate, closing in zip(candidates, reader.sentinels[1:], strict=False):
        ids += [*candidate, closing]
    ids[-1] = ids[-1] if last is None else last
    positions = range(1, len(ids) - 1)
    return Query(reader.fitting(encoder_ids), tuple(positions), tuple(ids[2:]), decoder_ids=tuple(ids[:-1]))


def spanned_contrast(
    reader: ProbeTokenizer, masculine: Tokens, own: Sequence[range], feminine: Tokens, other: Sequence[range]
) -> Sample:
    """An encoder-decoder's ln P of a masculine span minus that of the feminine one, the mean over slots."""
    for slot, counterpart in zip(own, other, strict=True):
        check_distinct(masculine.slice(slot), feminine.slice(counterpart))
    queries = (spanned(reader, masculine, own), spanned(reader, feminine, other))
    return Sample(queries, lambda values: (float(values[0].sum() - values[1].sum()) / len(own),))


def spanned(reader: ProbeTokenizer, tokens: Tokens, slots: Sequence[range], last: int | None = None) -> Query:
    """ln P of some slots' tokens and of what closes them; in the encoder each slot is a sentinel."""
    ids = list(tokens.ids)
    for slot, sentinel in reversed(list(zip(slots, reader.sentinels, strict=False))):
        ids[slot.start : slot.stop] = [sentinel]
    return decoded(reader, ids, [tokens.slice(slot) for slot in slots], last)


def log_likelihood_contrast(reader: ProbeTokenizer, masculine: Tokens, feminine: Tokens) -> Sample:
    """ln P(masculine sentence) - ln P(feminine one), from the first token that differs on."""
    pairs = zip(masculine.ids, feminine.ids, strict=False)
    first = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    if first is None:
        raise SkipSampleError("the two variants have no token that differs")
    check_compared(masculine, feminine)
    queries = tuple(continuation(reader, tokens, first) for tokens in (masculine, feminine))
    return Sample(queries, sum_difference)


def sum_difference(values: Sequence[Values]) -> Score:
    """Of two queries: the sum of the first one's values minus that of the second one's."""
    return (float(values[0].sum() - values[1].sum()),)


def _mask(reader: ProbeTokenizer) -> int:
    assert reader.mask_id is not None
    return reader.mask_id
