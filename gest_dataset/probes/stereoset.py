"""StereoSet: how likely are three candidates for a model, within and between sentences?

Within a sentence (section 4.1 and appendix D of Öztürk et al., 2023): for an encoder, the candidate's tokens
are unmasked from left to right in the context's BLANK, and their probabilities averaged; for a decoder, eq. 4
over the candidate's sentence, exp(mean ln P(x_i | x_0 … x_(i-1))). Between sentences: P(is next) if the model
has such a head, else eq. 4 over the candidate's tokens given the context (eq. 5); `ratio` is the original
measure, which scores candidate and context separately (criticised in appendix E).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from gest_dataset.builders.stereoset import BLANK
from gest_dataset.builders.words import same
from gest_dataset.errors import SettingError
from gest_dataset.probes import queries
from gest_dataset.probes.probe import LANGUAGE_MODELS, Probe
from gest_dataset.probes.queries import Query, Sample, Score, Values
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError, Tokens

_STOPS = (".", "!", "?")
CANDIDATES = ("stereotype", "antistereotype", "unrelated")
METHODS = {"nsp": ("nsp",), "causal": ("generative", "ratio"), "seq2seq": ("generative",)}


def choose_method(method: str, kind: str) -> str:
    """The intersentence method for a kind of model; `auto` picks the first one that it supports."""
    methods = METHODS.get(kind)
    if methods is None:
        raise SettingError(f"A {kind} model without a next-sentence head cannot score intersentence configs.")
    if method not in ("auto", *methods):
        choices = ", ".join(("auto", *methods))
        raise SettingError(f"A {kind} model does not support the method {method!r}; use one of {choices}.")
    return methods[0] if method == "auto" else method


def intrasentence_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer) -> Sample:
    """The queries of the three candidates: the sentences, or the words in the context's BLANK."""
    causal = tokenizer.kind == "causal"
    filled: list[tuple[Tokens, list[range]]] = [
        (tokenizer(row[candidate]), []) if causal else _fill_context(row, candidate, tokenizer)
        for candidate in CANDIDATES
    ]
    for (left, _), (right, _) in combinations(filled, 2):
        queries.check_compared(left, right)
    parts: list[tuple[Query, ...]] = []
    for tokens, slots in filled:
        if causal:
            parts.append(queries.likelihood(tokenizer, tokens, 0))
        elif tokenizer.kind == "masked":
            parts.append(tuple(_left_to_right(tokenizer, tokens, slots)))
        elif "encoder-pieces" in tokenizer.rules:
            parts.append(tuple(_encoder_pieces(tokenizer, tokens, slots)))
        else:
            parts.append((queries.spanned(tokenizer, tokens, slots),))
    return _sample(parts, _geometric_mean if causal else _arithmetic_mean)


def _fill_context(
    row: Mapping[str, Any], candidate: str, tokenizer: ProbeTokenizer
) -> tuple[Tokens, list[range]]:
    """The context with a candidate's word in each BLANK, and the tokens of that word."""
    word = row[f"{candidate}_word"]
    text, *others = row["context"].split(BLANK)
    if not others:
        raise SkipSampleError(f"the context has no {BLANK}")
    spans = []
    for part in others:
        spans.append((len(text), len(text) + len(word)))
        text += word + part
    if not same(text.casefold(), row[candidate].casefold()):
        raise SkipSampleError(f"the {candidate} sentence is not the context with its word in place of BLANK")
    tokens = tokenizer(text)
    slots = [tokens.slot(*span) for span in spans]
    if any(left.stop > right.start for left, right in pairwise(slots)):
        raise SkipSampleError(f"one token covers parts of two {BLANK} slots")
    return tokens, slots


def _left_to_right(tokenizer: ProbeTokenizer, tokens: Tokens, slots: Sequence[range]) -> Iterator[Query]:
    """Queries that predict the slots from left to right: at step k each has its first k tokens and a mask."""
    assert tokenizer.mask_id is not None
    for step in range(max(map(len, slots))):
        ids: tuple[int, ...] = ()
        positions, targets, end = [], [], 0
        for slot in slots:
            word = tokens.slice(slot)
            ids += tokens.ids[end : slot.start] + word[:step]
            if step < len(word):
                positions.append(len(ids))
                targets.append(word[step])
                ids += (tokenizer.mask_id,)
            end = slot.stop
        yield Query(tokenizer.check_length(ids + tokens.ids[end:]), tuple(positions), tuple(targets))


def _encoder_pieces(tokenizer: ProbeTokenizer, tokens: Tokens, slots: Sequence[range]) -> Iterator[Query]:
    """The rule `encoder-pieces`: for each step, ln P of the next token right after the first sentinel.

    The encoder has the previous tokens and that sentinel in each slot; only the first slot is scored.
    """
    sentinel, word = tokenizer.sentinels[0], tokens.slice(slots[0])
    for step, token in enumerate(word):
        ids = tokens.ids
        for slot in reversed(slots):
            ids = (*ids[: slot.start], *tokens.slice(slot)[:step], sentinel, *ids[slot.stop :])
        query = queries.decoded(tokenizer, ids, [(token,)])
        yield replace(query, positions=query.positions[:1], targets=(token,))


def intersentence_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer, method: str) -> Sample:
    """The queries of the three continuations."""
    context = row["context"]
    if "full-stop" in tokenizer.rules and method != "nsp" and not context.endswith(_STOPS):
        context += "."
    queries.check_distinct(*(tokenizer(row[candidate]).ids for candidate in CANDIDATES))
    parts: list[tuple[Query, ...]] = []
    if method == "nsp":
        assert tokenizer.next_label is not None
        for candidate in CANDIDATES:
            tokens = tokenizer(tokenizer.prefix + context, row[candidate])
            type_ids = tokens.type_ids if any(tokens.type_ids) else ()
            ids = tokenizer.check_length(tokens.ids)
            parts.append((Query(ids, (0,), (tokenizer.next_label,), type_ids=type_ids),))
        return _sample(parts, _arithmetic_mean)
    if method == "ratio":
        whole = queries.likelihood(tokenizer, tokenizer(context), 0)
        for candidate in CANDIDATES:
            tokens = tokenizer(row[candidate])
            tokens.check_known(range(len(tokens.ids)))
            parts.append((*queries.likelihood(tokenizer, tokens, 0), *whole))

        def ratio(values: Sequence[Values]) -> float:
            return _geometric_mean(values[: -len(whole)]) / _geometric_mean(values[-len(whole) :])

        return _sample(parts, ratio)
    for candidate in CANDIDATES:
        tokens = tokenizer(f"{context} {row[candidate]}")
        slot = tokens.slot(len(context) + 1, len(context) + 1 + len(row[candidate]))
        if tokenizer.kind == "seq2seq":
            last = tokenizer.end_id if "counted-end" in tokenizer.rules else None
            parts.append((queries.spanned(tokenizer, tokens, [slot], last),))
        else:
            parts.append(queries.likelihood(tokenizer, tokens, slot.start))
    return _sample(parts, _geometric_mean)


def _arithmetic_mean(values: Sequence[Values]) -> float:
    """The mean of the probabilities."""
    return float(np.exp(np.concatenate(values)).mean())


def _geometric_mean(values: Sequence[Values]) -> float:
    """Eq. 4: the geometric mean of the probabilities."""
    return math.exp(float(np.concatenate(values).mean()))


def _sample(parts: Sequence[tuple[Query, ...]], combine: Callable[[Sequence[Values]], float]) -> Sample:
    """The queries of all candidates; the values of each candidate are combined separately."""
    ends = np.cumsum([len(part) for part in parts])

    def fold(values: Sequence[Values]) -> Score:
        return tuple(combine(values[end - len(part) : end]) for end, part in zip(ends, parts, strict=True))

    return Sample(tuple(query for part in parts for query in part), fold)


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
    lambda kind, options: {
        0: partial(intersentence_queries, method=choose_method(options.intersentence, kind))
    },
    options=("intersentence", "rules"),
    intersentence=True,
    scores_whole_texts=True,
)
