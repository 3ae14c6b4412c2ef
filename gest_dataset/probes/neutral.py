"""Neutral sentences in a frame with a speaker: does a model prefer the man's frame or the woman's?

    ln P(sentence in the masculine frame) - ln P(sentence in the feminine frame)

Causal models: of the whole texts, which the same tokens at the start do not touch; so do Rowe et al. (2025).
Masked models, which they do not have: the pseudo-likelihood of the words that differ. All of their tokens are
masked together in each text, and the score is the sum of ln P of the masculine ones less that of the feminine
ones; these may be another number of tokens. Encoder-decoders: these words behind one sentinel, with its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gest_dataset.probes.probe import LANGUAGE_MODELS, Probe
from gest_dataset.probes.queries import (
    Sample,
    check_distinct,
    log_likelihood_contrast,
    masked,
    spanned_contrast,
    sum_difference,
)
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError


def build_queries(row: Mapping[str, Any], reader: ProbeTokenizer) -> Sample:
    """The queries of one sentence in its two frames."""
    masculine, feminine = (reader(row[side]) for side in ("masculine", "feminine"))
    if reader.kind == "causal":
        return log_likelihood_contrast(reader, masculine, feminine)
    own, other = (
        tokens.of(*row[f"{side}_span"]) for tokens, side in ((masculine, "masculine"), (feminine, "feminine"))
    )
    if _around(masculine.ids, own) != _around(feminine.ids, other):
        raise SkipSampleError("the rest of the sentence has other tokens in the two variants")
    if reader.kind == "seq2seq":
        return spanned_contrast(reader, masculine, [own], feminine, [other])
    check_distinct(masculine.slice(own), feminine.slice(other))
    queries = (masked(reader, masculine, own), masked(reader, feminine, other))
    return Sample(queries, sum_difference)


def _around(ids: tuple[int, ...], slot: range) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tokens on both sides of a slot."""
    return ids[: slot.start], ids[slot.stop :]


PROBE = Probe(
    "neutral",
    frozenset({"masculine", "feminine", "masculine_span", "feminine_span", "stereotype"}),
    LANGUAGE_MODELS,
    ("log_ratio",),
    lambda kind, options: {0: build_queries},
    label="stereotype",
    templated=True,
    scores_whole_texts=True,
)
