"""Neutral sentences in frames with a male and a female speaker: which frame does a model prefer?

    ln P(sentence in the masculine frame) - ln P(sentence in the feminine frame)

Causal models score the whole texts from the first token that differs (Rowe et al., 2025). Masked models,
which they do not cover, use the pseudo-likelihood of the words that differ: all of their tokens are masked at
once, and the sums of ln P are compared. Encoder-decoders score these words in one sentinel span.
"""

from collections.abc import Mapping
from typing import Any

from gest_dataset.probes import queries
from gest_dataset.probes.probe import LANGUAGE_MODELS, Probe
from gest_dataset.probes.queries import Sample
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError


def build_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer) -> Sample:
    """The queries of one sentence in its two frames."""
    masculine, feminine = (tokenizer(row[side]) for side in ("masculine", "feminine"))
    if tokenizer.kind == "causal":
        return queries.log_likelihood_contrast(tokenizer, masculine, feminine)
    slots = masculine.slot(*row["masculine_span"]), feminine.slot(*row["feminine_span"])
    around = [
        (tokens.ids[: slot.start], tokens.ids[slot.stop :])
        for tokens, slot in zip((masculine, feminine), slots, strict=True)
    ]
    if around[0] != around[1]:
        raise SkipSampleError("the rest of the sentence is tokenized differently in the two variants")
    if tokenizer.kind == "seq2seq":
        return queries.spanned_contrast(tokenizer, masculine, slots[:1], feminine, slots[1:])
    return queries.masked_pair(tokenizer, masculine, feminine, slots, queries.sum_difference)


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
