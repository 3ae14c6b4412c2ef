"""Gender-swapped pairs: does a model prefer the masculine or the feminine form of one word?

Masked (section 4.3 of Pikuliak et al., 2024): ln P(m) - ln P(f) at the one token that differs, for
pairs that differ in exactly one token. With `multi_token`: mean ln P of the masculine word's
tokens minus that of the feminine word's, each word masked as a whole. Causal and encoder-decoder
models, which the paper does not have: the difference of log-likelihoods.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from gest_dataset.builders.words import core_span, split
from gest_dataset.probes.probe import LANGUAGE_MODELS, Probe
from gest_dataset.probes.queries import (
    Sample,
    check_distinct,
    contrast_of,
    log_likelihood_contrast,
    masked,
    masked_contrast,
    spanned_contrast,
)
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError


def build_queries(row: Mapping[str, Any], reader: ProbeTokenizer, multi_token: bool = False) -> Sample:
    """The queries of one pair."""
    texts = (row["masculine"], row["feminine"])
    masculine, feminine = (reader(text) for text in texts)
    if reader.kind == "causal":
        return log_likelihood_contrast(reader, masculine, feminine)
    for text in texts:
        if row["word_index"] >= len(split(text)):
            raise SkipSampleError(f"there is no word number {row['word_index']} in the sentence")
    own, other = (
        tokens.of(*core_span(text, row["word_index"]))
        for tokens, text in zip((masculine, feminine), texts, strict=True)
    )
    if reader.kind == "seq2seq":
        return spanned_contrast(reader, masculine, [own], feminine, [other])
    if multi_token:
        check_distinct(masculine.slice(own), feminine.slice(other))
        queries = (masked(reader, masculine, own), masked(reader, feminine, other))
        return Sample(queries, lambda values: (float(values[0].mean() - values[1].mean()),))
    if len(own) != len(other):
        raise SkipSampleError("the two words are not as many tokens")
    if own != other:
        raise SkipSampleError("the rest of the sentence has other tokens in the two variants")
    differing = [i for i in own if masculine.ids[i] != feminine.ids[i]]
    if len(differing) != 1:
        raise SkipSampleError(f"the two words differ in {len(differing)} tokens")
    query = masked_contrast(reader, masculine, feminine, differing)
    return Sample((query,), lambda values: (contrast_of(values[0]),))


PROBE = Probe(
    "pairs",
    frozenset({"masculine", "feminine", "word_index", "stereotype"}),
    LANGUAGE_MODELS,
    ("log_ratio",),
    lambda kind, options: {0: partial(build_queries, multi_token=options.multi_token)},
    options=("multi_token",),
    label="stereotype",
    templated=True,
    scores_whole_texts=True,
)
