"""Gender-swapped pairs: does a model prefer the masculine or the feminine form of one word?

Masked (section 4.3 of Pikuliak et al., 2024): ln P(m) - ln P(f) at the one token that differs, for pairs that
differ in exactly one token. With `multi_token`: mean ln P of the masculine word's tokens minus that of the
feminine word's, with each word masked as a whole. Causal and encoder-decoder models, which the paper does not
cover: the difference of log-likelihoods. If several words differ, the text from the first to the last counts
as the word.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from gest_dataset.builders.words import core_span, differing_words, split
from gest_dataset.probes import queries
from gest_dataset.probes.probe import LANGUAGE_MODELS, Probe
from gest_dataset.probes.queries import Sample
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError


def build_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer, multi_token: bool = False) -> Sample:
    """The queries of one pair."""
    masculine, feminine = (tokenizer(row[side]) for side in ("masculine", "feminine"))
    if tokenizer.kind == "causal":
        return queries.log_likelihood_contrast(tokenizer, masculine, feminine)
    index = row["word_index"]
    for side in (masculine, feminine):
        if index >= len(split(side.text)):
            raise SkipSampleError(f"there is no word number {index} in the sentence")
    last = max([index, *(differing_words(masculine.text, feminine.text) or ())])
    slots = [side.slot(*core_span(side.text, index, last)) for side in (masculine, feminine)]
    if tokenizer.kind == "seq2seq":
        return queries.spanned_contrast(tokenizer, masculine, slots[:1], feminine, slots[1:])
    if multi_token:
        return queries.masked_pair(tokenizer, masculine, feminine, slots, queries.mean_difference)
    if len(slots[0]) != len(slots[1]):
        raise SkipSampleError("the two words have different numbers of tokens")
    if slots[0] != slots[1]:
        raise SkipSampleError("the rest of the sentence is tokenized differently in the two variants")
    differing = [i for i in slots[0] if masculine.ids[i] != feminine.ids[i]]
    if len(differing) != 1:
        raise SkipSampleError(f"the two words differ in {len(differing)} tokens")
    return queries.masked_contrast(tokenizer, masculine, feminine, differing)


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
