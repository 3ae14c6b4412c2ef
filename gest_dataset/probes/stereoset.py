"""StereoSet: how likely does a model find three candidates, within and between sentences?

Within a sentence (section 4.1 and appendix D of Oeztuerk et al., 2023): an encoder unmasks the
candidate's tokens from left to right and averages their probabilities; a decoder takes eq. 4 over
the sentence, exp(mean ln P(x_i | x_0 … x_(i-1))). Between sentences: P(is next) where the model
has such a head, else eq. 4 over the candidate's tokens given the context (eq. 5); `ratio` is the
original measure, which takes the candidate and the context apart (criticised in appendix E).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from gest_dataset.errors import ScoringError
from gest_dataset.probes.asks import Sample, Score, check_compared, check_distinct, continuation, spanned
from gest_dataset.probes.text import CannotAskError, Reader
from gest_dataset.scoring.batching import Values
from gest_dataset.scoring.query import Query

CANDIDATES = ("stereotype", "antistereotype", "unrelated")
_BLANK = "BLANK"
METHODS = {"nsp": ("nsp",), "causal": ("generative", "ratio"), "seq2seq": ("generative",)}


def choose_method(asked: str, kind: str) -> str:
    """The way to score between sentences that suits the kind of model."""
    methods = METHODS.get(kind, ())
    if not methods:
        raise ScoringError(
            f"Between sentences a {kind} model has nothing to say: use a checkpoint with a "
            f"next-sentence head, a causal or an encoder-decoder model, or the intrasentence config."
        )
    if asked == "auto":
        return methods[0]
    if asked not in methods:
        raise ScoringError(f"A {kind} model cannot do {asked!r}; use one of auto, {', '.join(methods)}.")
    return asked


def ask_intrasentence(row: Mapping[str, Any], reader: Reader) -> Sample:
    """The queries of the three candidate words in their sentences."""
    texts = {candidate: reader(row[candidate]) for candidate in CANDIDATES}
    for left, right in combinations(texts.values(), 2):
        check_compared(left, right)
    parts: list[tuple[Query, ...]] = []
    for candidate, tokens in texts.items():
        if reader.kind == "causal":
            parts.append((continuation(reader, tokens, 0),))
            continue
        slot = tokens.of(*_slot(row["context"], row[candidate], row[f"{candidate}_word"]))
        if reader.kind == "seq2seq":
            parts.append((spanned(reader, tokens, [slot]),))
            continue
        word, queries = tokens.slice(slot), []
        for step in range(len(word)):
            assert reader.mask_id is not None
            ids = tokens.replaced(slot, (*word[:step], reader.mask_id))
            queries.append(Query(reader.fitting(ids), (slot.start + step,), (word[step],)))
        parts.append(tuple(queries))
    return _sample(parts, _geometric if reader.kind == "causal" else _arithmetic)


def ask_intersentence(row: Mapping[str, Any], reader: Reader, method: str) -> Sample:
    """The queries of the three continuations."""
    context = row["context"]
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
        whole = continuation(reader, reader(context), 0)
        for candidate in CANDIDATES:
            tokens = reader(row[candidate])
            tokens.check_known(range(len(tokens.ids)))
            parts.append((continuation(reader, tokens, 0), whole))
        return _sample(parts, _ratio)
    for candidate in CANDIDATES:
        tokens = reader(f"{context} {row[candidate]}")
        slot = tokens.of(len(context) + 1, len(context) + 1 + len(row[candidate]))
        if reader.kind == "seq2seq":
            parts.append((spanned(reader, tokens, [slot]),))
        else:
            parts.append((continuation(reader, tokens, slot.start),))
    return _sample(parts, _geometric)


def _slot(context: str, sentence: str, word: str) -> tuple[int, int]:
    """Where the word stands in the sentence: where BLANK stands in the context."""
    if context.count(_BLANK) != 1:
        raise CannotAskError(f"the context has {context.count(_BLANK)} times {_BLANK}")
    start = context.index(_BLANK)
    end = start + len(word)
    if sentence[start:end].casefold() != word.casefold():
        raise CannotAskError(f"the word {word!r} does not stand in the place of {_BLANK}")
    return start, end


def _arithmetic(values: Sequence[Values]) -> float:
    """The mean of the probabilities."""
    return float(np.exp(np.concatenate(values)).mean())


def _geometric(values: Sequence[Values]) -> float:
    """Eq. 4: the geometric mean of the probabilities."""
    return math.exp(float(np.concatenate(values).mean()))


def _ratio(values: Sequence[Values]) -> float:
    """Eq. 4 of the candidate over eq. 4 of the context."""
    return math.exp(float(values[0].mean() - values[1].mean()))


def _sample(parts: Sequence[tuple[Query, ...]], combine: Any) -> Sample:
    """One sample of all candidates' queries; each candidate's values are combined on their own."""
    ends = np.cumsum([len(part) for part in parts])

    def fold(values: Sequence[Values]) -> Score:
        return tuple(combine(values[end - len(part) : end]) for end, part in zip(ends, parts, strict=True))

    return Sample(tuple(query for part in parts for query in part), fold)
