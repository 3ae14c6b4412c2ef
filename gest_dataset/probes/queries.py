"""Queries, the interface between probes and models: token ids, positions, and the targets to look up there.

A probe turns a row into a `Sample`: some queries, and a function that folds their values into the row's
scores.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np
import numpy.typing as npt

from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError, Tokens

# Pairs of placebo words: fewer than 40 have no reliable 95 % quantile
LEAST_PAIRS = 40
_ENOUGH_PAIRS, _LARGEST_DISTANCE, _MOST_WORDS = 200, 5, 150

# The answers to one query, one for each target
Values = npt.NDArray[np.float64]
Score = tuple[float | None, ...]
Fold = Callable[[Sequence[Values]], Score]


@dataclass(frozen=True, slots=True)
class Query:
    """The values of `targets[i]` at `positions[i]` of one input.

    With `normalise` a value is ln P(target), else a logit, whose differences at one position are differences
    of ln P. In encoder-decoders, positions refer to `decoder_ids`; a pair of sentences has `type_ids`. The
    values of the `placebo` tokens at `placebo_position` follow; a served model leaves them out where that
    would need another request.
    """

    input_ids: tuple[int, ...]
    positions: tuple[int, ...]
    targets: tuple[int, ...]
    normalise: bool = True
    decoder_ids: tuple[int, ...] = ()
    type_ids: tuple[int, ...] = ()
    placebo: tuple[int, ...] = ()
    placebo_position: int = 0


@dataclass(frozen=True, slots=True)
class Input:
    """What one forward pass needs of a query; queries with the same input share the pass.

    For causal texts with a common beginning, `input_ids` may hold a tree of tokens: `parents[i]` is the index
    of the token before the i-th one, -1 at the start of a text. Without `parents` each token follows the last
    one.
    """

    input_ids: tuple[int, ...]
    decoder_ids: tuple[int, ...] = ()
    type_ids: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Its share of a batch's token budget."""
        return max(len(self.input_ids), len(self.decoder_ids))

    def followed_by(self, ids: tuple[int, ...]) -> "Input":
        """The input with more tokens at the end."""
        size = len(self.input_ids)
        parents = (*self.parents, *range(size - 1, size - 1 + len(ids))) if self.parents else ()
        return replace(self, input_ids=(*self.input_ids, *ids), parents=parents)


@dataclass(frozen=True, slots=True)
class Lookup:
    """The values of some targets at one position of the output of an input."""

    position: int
    targets: tuple[int, ...]
    normalise: bool


@dataclass(frozen=True)
class Placebo:
    """Words of one token that do not differ in gender: their ids, and the pairs (of indices) to compare."""

    ids: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]


def pair_neighbours(lists: Iterable[Iterable[int]], most: int | None = None) -> Placebo | None:
    """Pairs of tokens in lists that are sorted by frequency; None if they are too few.

    Neighbours at distance 1 and 2 are paired, and more distant ones while there are too few pairs. With
    `most`, only so many tokens are used, the first ones of each list.
    """
    indices: dict[int, int] = {}
    distinct = [list(dict.fromkeys(tokens)) for tokens in lists]
    share = None if most is None else most // len(distinct)
    words = [
        [indices.setdefault(token, len(indices)) for token in tokens[:share] if token not in indices]
        for tokens in distinct
    ]
    pairs: list[tuple[int, int]] = []
    for distance in range(1, _LARGEST_DISTANCE + 1):
        if distance <= 2 or len(pairs) < _ENOUGH_PAIRS:
            pairs += [pair for some in words for pair in zip(some, some[distance:], strict=False)]
    return Placebo(tuple(indices), tuple(pairs)) if len(pairs) >= LEAST_PAIRS else None


@dataclass(frozen=True, slots=True)
class Sample:
    """The queries of a row, and the function that folds their values into its scores.

    `words` are the first token of its masculine and of its feminine word, if both begin at one position:
    `position` of the first query, by default its first one. The first query also asks there for the words of
    the `placebo`, if there is one.
    """

    queries: tuple[Query, ...]
    fold: Fold
    placebo: Placebo | None = None
    words: tuple[int, ...] = ()
    position: int | None = None

    def with_placebo(self, placebo: Placebo | None) -> "Sample":
        """The sample with the words of a placebo in its first query."""
        if placebo is None:
            return self
        query = self.queries[0]
        position = query.positions[0] if self.position is None else self.position
        first = replace(query, placebo=placebo.ids, placebo_position=position)
        return replace(self, queries=(first, *self.queries[1:]), placebo=placebo)

    def beginning(self, words: Sequence[Tokens], starts: Sequence[int], added: int) -> "Sample":
        """The sample of a causal model with the first tokens of its words, at the characters `starts`.

        `added` tokens precede the texts. If these differ before the words, the sample stays as it is.
        """
        (left, first), (right, second) = (
            (side.ids, side.first_token(start)) for side, start in zip(words, starts, strict=True)
        )
        if left[:first] != right[:second] or first + added == 0 or first == len(left):
            return self
        return replace(self, words=(left[first], right[second]), position=first - 1 + added)


def with_placebo_from_samples(samples: Sequence[Sample]) -> list[Sample]:
    """Samples whose placebo words are those of the other samples in the same gender.

    In the slot of *silný* or *silná*, the masculine forms of other adjectives and verbs differ in everything
    but their gender, and so do the feminine forms. Samples without `words` stay as they are.
    """
    contrasts = [sample.words for sample in samples if sample.words]
    genders = zip(*contrasts, strict=True) if contrasts else ()
    by_frequency = [[token for token, _ in Counter(words).most_common(_MOST_WORDS)] for words in genders]
    placebo = pair_neighbours(by_frequency)
    return [sample.with_placebo(placebo) if sample.words else sample for sample in samples]


def masked(tokenizer: ProbeTokenizer, tokens: Tokens, slot: range) -> Query:
    """ln P of each token of a slot, with all of them masked at once."""
    assert tokenizer.mask_id is not None
    ids = tokens.replace(slot, [tokenizer.mask_id] * len(slot))
    return Query(tokenizer.check_length(ids), tuple(slot), tokens.slice(slot))


def masked_pair(
    tokenizer: ProbeTokenizer, masculine: Tokens, feminine: Tokens, slots: Sequence[range], fold: Fold
) -> Sample:
    """A slot of each text, masked as a whole."""
    pairs = list(zip((masculine, feminine), slots, strict=True))
    check_distinct(*(tokens.slice(slot) for tokens, slot in pairs))
    return _pair(tuple(masked(tokenizer, tokens, slot) for tokens, slot in pairs), fold)


def _pair(queries: tuple[Query, ...], fold: Fold) -> Sample:
    """A sample whose two queries each begin with a word."""
    return Sample(queries, fold, words=tuple(query.targets[0] for query in queries))


def masked_contrast(
    tokenizer: ProbeTokenizer, masculine: Tokens, feminine: Tokens, slots: Sequence[int]
) -> Sample:
    """The contrast of the masculine and the feminine tokens at masked positions.

    Both texts must have the same tokens everywhere else.
    """
    assert tokenizer.mask_id is not None
    ids, other_ids = (
        [tokenizer.mask_id if i in slots else token for i, token in enumerate(side.ids)]
        for side in (masculine, feminine)
    )
    if ids != other_ids:
        raise SkipSampleError("the rest of the sentence is tokenized differently in the two variants")
    for i in slots:
        check_distinct(masculine.ids[i : i + 1], feminine.ids[i : i + 1])
    targets = [side.ids[i] for side in (masculine, feminine) for i in slots]
    query = Query(tokenizer.check_length(ids), (*slots, *slots), tuple(targets), normalise=False)
    return logit_contrast(query)


def check_distinct(*words: Sequence[int]) -> None:
    """Reject words that are the same tokens, whose difference would always be 0."""
    if len(set(map(tuple, words))) < len(words):
        raise SkipSampleError("the compared words have the same tokens")


def check_compared(left: Tokens, right: Tokens) -> None:
    """Reject texts that are the same tokens, or that differ in unknown tokens."""
    check_distinct(left.ids, right.ids)
    for tag, *ends in SequenceMatcher(None, left.ids, right.ids, autojunk=False).get_opcodes():
        if tag != "equal":
            left.check_known(range(*ends[:2]))
            right.check_known(range(*ends[2:]))


def logit_contrast(query: Query) -> Sample:
    """The mean of ln P(masculine) - ln P(feminine), whose logits are the halves of a query's values."""
    return Sample((query,), _difference_of_halves, words=query.targets if len(query.targets) == 2 else ())


def _difference_of_halves(values: Sequence[Values]) -> Score:
    masculine, feminine = np.split(values[0], 2)
    return (float((masculine - feminine).mean()),)


def continuation(tokenizer: ProbeTokenizer, tokens: Tokens, first: int) -> Query:
    """ln P(token | preceding tokens) from the token `first` to the end, for a causal model.

    Special tokens at either end are not scored.
    """
    ids, added = tokenizer.with_start(tokens)
    plain = [i for i, special in enumerate(tokens.special) if not special]
    begin, end = max(first, min(plain, default=0)) + added, max(plain, default=-1) + 1 + added
    if begin >= end:
        raise SkipSampleError("no token can be scored")
    if begin == 0:
        raise SkipSampleError("the first token has no context: the tokenizer has no start or end token")
    return Query(tokenizer.check_length(ids[: end - 1]), tuple(range(begin - 1, end - 1)), ids[begin:end])


def likelihood(tokenizer: ProbeTokenizer, tokens: Tokens, first: int) -> tuple[Query, ...]:
    """`continuation`; with the rule `bos-first`, only the first token is scored after the start token."""
    query = continuation(tokenizer, tokens, first)
    if "bos-first" not in tokenizer.rules:
        return (query,)
    start = tokenizer.with_start(tokens)[1] + tokens.special.index(False)
    after_start = sum(position < start for position in query.positions)
    first_targets, targets = query.targets[:after_start], query.targets[after_start:]
    positions = tuple(position - start for position in query.positions[after_start:])
    queries = (
        Query(query.input_ids[:start], query.positions[:after_start], first_targets),
        Query(query.input_ids[start:], positions, targets),
    )
    return tuple(part for part in queries if part.targets)


def decoded(
    tokenizer: ProbeTokenizer,
    encoder_ids: Sequence[int],
    candidates: Sequence[Sequence[int]],
    last: int | None = None,
) -> Query:
    """ln P of the candidates that an encoder-decoder writes after the sentinels, by teacher forcing.

    Each candidate includes the sentinel that closes it (`last` for the last one, if given). Without it a word
    would never be less likely than a longer one that starts with it.
    """
    closable = len(tokenizer.sentinels) - 1
    if len(candidates) > closable:
        raise SkipSampleError(f"{len(candidates)} slots, but the tokenizer has sentinels for only {closable}")
    assert tokenizer.decoder_start_id is not None
    ids = [tokenizer.decoder_start_id, tokenizer.sentinels[0]]
    for candidate, closing in zip(candidates, tokenizer.sentinels[1:], strict=False):
        ids += [*candidate, closing]
    ids[-1] = ids[-1] if last is None else last
    positions = tuple(range(1, len(ids) - 1))
    return Query(tokenizer.check_length(encoder_ids), positions, tuple(ids[2:]), decoder_ids=tuple(ids[:-1]))


def spanned(
    tokenizer: ProbeTokenizer, tokens: Tokens, slots: Sequence[range], last: int | None = None
) -> Query:
    """ln P of the tokens of some slots and of what closes them; the encoder has sentinels there."""
    ids = list(tokens.ids)
    for slot, sentinel in reversed(list(zip(slots, tokenizer.sentinels, strict=False))):
        ids[slot.start : slot.stop] = [sentinel]
    return decoded(tokenizer, ids, [tokens.slice(slot) for slot in slots], last)


def spanned_contrast(
    tokenizer: ProbeTokenizer,
    masculine: Tokens,
    masculine_slots: Sequence[range],
    feminine: Tokens,
    feminine_slots: Sequence[range],
) -> Sample:
    """An encoder-decoder's ln P of the masculine spans minus that of the feminine ones, per slot."""
    for slot, counterpart in zip(masculine_slots, feminine_slots, strict=True):
        check_distinct(masculine.slice(slot), feminine.slice(counterpart))
    queries = (spanned(tokenizer, masculine, masculine_slots), spanned(tokenizer, feminine, feminine_slots))
    number = len(masculine_slots)
    return _pair(queries, lambda values: (float(values[0].sum() - values[1].sum()) / number,))


def log_likelihood_contrast(
    tokenizer: ProbeTokenizer, masculine: Tokens, feminine: Tokens, per_token: bool = False
) -> Sample:
    """ln P(masculine sentence) - ln P(feminine one), from the first token that differs.

    With `per_token`, each is divided by its number of tokens from there on.
    """
    pairs = zip(masculine.ids, feminine.ids, strict=False)
    first = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    if first is None:
        raise SkipSampleError("the two variants have the same tokens")
    check_compared(masculine, feminine)
    queries = tuple(continuation(tokenizer, tokens, first) for tokens in (masculine, feminine))
    return Sample(queries, mean_difference if per_token else sum_difference)


def mean_difference(values: Sequence[Values]) -> Score:
    """The mean of the first query's values minus that of the second's."""
    return (float(values[0].mean() - values[1].mean()),)


def sum_difference(values: Sequence[Values]) -> Score:
    """The sum of the first query's values minus that of the second's."""
    return (float(values[0].sum() - values[1].sum()),)
