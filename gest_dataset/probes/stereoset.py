"""StereoSet: how likely does a model find three candidates, within and between sentences?

Within a sentence (section 4.1 and appendix D of Oeztuerk et al., 2023): an encoder gets the context,
in whose BLANK the candidate's tokens are unmasked from left to right, and averages their probabilities;
a decoder takes eq. 4 over the candidate's sentence, exp(mean ln P(x_i | x_0 … x_(i-1))). Between
sentences: P(is next) where the model has such a head, else eq. 4 over the candidate's tokens given
the context (eq. 5); `ratio` is the original measure, which takes the candidate and the context apart
(criticised in appendix E).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from gest_dataset.builders.stereoset import BLANK
from gest_dataset.builders.words import same
from gest_dataset.errors import SettingError
from gest_dataset.probes.author_rules import COUNTED_END, ENCODER_PIECES, FULL_STOP
from gest_dataset.probes.probe import LANGUAGE_MODELS, Options, Probe, QueryBuilder
from gest_dataset.probes.queries import (
    Query,
    Sample,
    Score,
    Values,
    check_compared,
    check_distinct,
    decoded,
    likelihood,
    spanned,
)
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError, Tokens

_STOPS = (".", "!", "?")
CANDIDATES = ("stereotype", "antistereotype", "unrelated")
METHODS = {"nsp": ("nsp",), "causal": ("generative", "ratio"), "seq2seq": ("generative",)}


def choose_method(asked: str, kind: str) -> str:
    """The way to score between sentences that suits the kind of model."""
    methods = METHODS.get(kind, ())
    if not methods:
        raise SettingError(
            f"Between sentences a {kind} model has nothing to say: use a checkpoint with a "
            f"next-sentence head, a causal or an encoder-decoder model, or the intrasentence config."
        )
    if asked == "auto":
        return methods[0]
    if asked not in methods:
        raise SettingError(f"A {kind} model cannot do {asked!r}; use one of auto, {', '.join(methods)}.")
    return asked


def intrasentence_queries(row: Mapping[str, Any], reader: ProbeTokenizer) -> Sample:
    """The queries of the three candidates: the sentence, or the words in the context's BLANK."""
    if reader.kind == "causal":
        sentences = [reader(row[candidate]) for candidate in CANDIDATES]
        _check_all(sentences)
        return _sample([likelihood(reader, tokens, 0) for tokens in sentences], _geometric)
    filled = [_in_context(row, candidate, reader) for candidate in CANDIDATES]
    _check_all([tokens for tokens, _ in filled])
    parts: list[tuple[Query, ...]] = []
    for tokens, slots in filled:
        if reader.kind == "seq2seq" and ENCODER_PIECES.name in reader.rules:
            parts.append(tuple(_behind_earlier_pieces(reader, tokens, slots)))
        elif reader.kind == "seq2seq":
            parts.append((spanned(reader, tokens, slots),))
        else:
            parts.append(tuple(_unmasked(reader, tokens, slots)))
    return _sample(parts, _arithmetic)


def _check_all(texts: Sequence[Tokens]) -> None:
    for left, right in combinations(texts, 2):
        check_compared(left, right)


def _in_context(row: Mapping[str, Any], candidate: str, reader: ProbeTokenizer) -> tuple[Tokens, list[range]]:
    """The context with a candidate's word in the place of BLANK, and the tokens of that word."""
    text, places = _filled(row["context"], row[f"{candidate}_word"])
    if not same(text.casefold(), row[candidate].casefold()):
        raise SkipSampleError(f"the {candidate} sentence is not the context with its word")
    tokens = reader(text)
    slots = [tokens.of(*place) for place in places]
    if any(left.stop > right.start for left, right in pairwise(slots)):
        raise SkipSampleError(f"one token stands in two places of {BLANK}")
    return tokens, slots


def _filled(context: str, word: str) -> tuple[str, list[tuple[int, int]]]:
    """The context with the word in each place of BLANK, and these places."""
    first, *others = context.split(BLANK)
    if not others:
        raise SkipSampleError(f"the context has no {BLANK}")
    text, places = first, []
    for part in others:
        places.append((len(text), len(text) + len(word)))
        text += word + part
    return text, places


def _unmasked(reader: ProbeTokenizer, tokens: Tokens, slots: Sequence[range]) -> Iterator[Query]:
    """For each step ln P of the next token of each slot, a mask there, the later ones absent."""
    assert reader.mask_id is not None
    for step in range(max(map(len, slots))):
        ids: tuple[int, ...] = ()
        positions, targets, end = [], [], 0
        for slot in slots:
            word = tokens.slice(slot)
            ids += tokens.ids[end : slot.start] + word[:step]
            if step < len(word):
                positions.append(len(ids))
                targets.append(word[step])
                ids += (reader.mask_id,)
            end = slot.stop
        yield Query(reader.fitting(ids + tokens.ids[end:]), tuple(positions), tuple(targets))


def _behind_earlier_pieces(reader: ProbeTokenizer, tokens: Tokens, slots: Sequence[range]) -> Iterator[Query]:
    """By the rule `encoder-pieces`: for each step ln P of the next token right behind the first sentinel.

    In the encoder stand the earlier tokens and that sentinel, in each slot; the first slot's word is asked.
    """
    sentinel, word = reader.sentinels[0], tokens.slice(slots[0])
    for step, token in enumerate(word):
        ids = tokens.ids
        for slot in reversed(slots):
            ids = (*ids[: slot.start], *tokens.slice(slot)[:step], sentinel, *ids[slot.stop :])
        asked = decoded(reader, ids, [(token,)])
        yield replace(asked, positions=asked.positions[:1], targets=(token,))


def intersentence_queries(row: Mapping[str, Any], reader: ProbeTokenizer, method: str) -> Sample:
    """The queries of the three continuations."""
    context = row["context"]
    if FULL_STOP.name in reader.rules and method != "nsp" and not context.endswith(_STOPS):
        context += "."
    check_distinct(*(reader(row[candidate]).ids for candidate in CANDIDATES))
    parts: list[tuple[Query, ...]] = []
    if method == "nsp":
        assert reader.next_label is not None
        for candidate in CANDIDATES:
            tokens = reader(context, row[candidate])
            type_ids = tokens.type_ids if any(tokens.type_ids) else ()
            ids = reader.fitting(tokens.ids)
            parts.append((Query(ids, (0,), (reader.next_label,), type_ids=type_ids),))
        return _sample(parts, _arithmetic)
    if method == "ratio":
        whole = likelihood(reader, reader(context), 0)
        for candidate in CANDIDATES:
            tokens = reader(row[candidate])
            tokens.check_known(range(len(tokens.ids)))
            own = likelihood(reader, tokens, 0)
            parts.append((*own, *whole))
        return _sample(parts, partial(_ratio, context=len(whole)))
    for candidate in CANDIDATES:
        tokens = reader(f"{context} {row[candidate]}")
        slot = tokens.of(len(context) + 1, len(context) + 1 + len(row[candidate]))
        if reader.kind == "seq2seq":
            last = reader.end_id if COUNTED_END.name in reader.rules else None
            parts.append((spanned(reader, tokens, [slot], last),))
        else:
            parts.append(likelihood(reader, tokens, slot.start))
    return _sample(parts, _geometric)


def _arithmetic(values: Sequence[Values]) -> float:
    """The mean of the probabilities."""
    return float(np.exp(np.concatenate(values)).mean())


def _geometric(values: Sequence[Values]) -> float:
    """Eq. 4: the geometric mean of the probabilities."""
    return math.exp(float(np.concatenate(values).mean()))


def _ratio(values: Sequence[Values], context: int) -> float:
    """Eq. 4 of the candidate over eq. 4 of the context, which has the last `context` queries."""
    return _geometric(values[:-context]) / _geometric(values[-context:])


def _sample(parts: Sequence[tuple[Query, ...]], combine: Any) -> Sample:
    """One sample of all candidates' queries; each candidate's values are combined on their own."""
    ends = np.cumsum([len(part) for part in parts])

    def fold(values: Sequence[Values]) -> Score:
        return tuple(combine(values[end - len(part) : end]) for end, part in zip(ends, parts, strict=True))

    return Sample(tuple(query for part in parts for query in part), fold)


def _intersentence_builders(kind: str, options: Options) -> dict[int, QueryBuilder]:
    return {0: partial(intersentence_queries, method=choose_method(options.intersentence, kind))}


_FIELDS = frozenset({"context", "target_en", "bias_type", *CANDIDATES})

INTRASENTENCE = Probe(
    "stereoset_intrasentence",
    frozenset({*_FIELDS, *(f"{candidate}_word" for candidate in CANDIDATES)}),
    LANGUAGE_MODELS,
    CANDIDATES,
    lambda kind, options: {0: intrasentence_queries},
    options=("rules",),
    scores_whole_texts=True,
)
INTERSENTENCE = Probe(
    "stereoset_intersentence",
    _FIELDS,
    LANGUAGE_MODELS | {"nsp"},
    CANDIDATES,
    _intersentence_builders,
    options=("intersentence", "rules"),
    intersentence=True,
    scores_whole_texts=True,
)
