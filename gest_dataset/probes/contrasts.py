"""Two variants of a text, one for a man and one for a woman: which one does a model prefer?

Causal models score ln P(masculine) - ln P(feminine) of the whole texts from the first token that differs. The
other models score the words that differ:

- `pairs`, masked (section 4.3 of Pikuliak et al., 2024): ln P(m) - ln P(f) at the one token that differs, for
  pairs that differ in exactly one token. With `multi_token`: mean ln P of the masculine word's tokens minus
  that of the feminine word's, with each word masked as a whole. If several words differ, the text from the
  first to the last counts as the word. The paper does not cover causal and encoder-decoder models.
- `winobias` (appendix B of Pikuliak et al., 2024): ln P(masculine pronouns) - ln P(feminine pronouns) in a
  sentence with an occupation. Several pronouns are masked together, and the score is the mean of their
  contrasts, as in the authors' code.
- `neutral`, sentences in frames with a male and a female speaker (Rowe et al., 2025, for causal models).
  Masked models use the pseudo-likelihood of the words that differ: all of their tokens are masked at once,
  and the sums of ln P are compared.

Encoder-decoders score these words in sentinel spans.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gest_dataset.builders.words import core_span, differing_words, split
from gest_dataset.probes import queries
from gest_dataset.probes.probe import LANGUAGE_MODELS, Options, Probe, QueryBuilder
from gest_dataset.probes.queries import Sample
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError

_OTHER_TOKENS = "the rest of the sentence is tokenized differently in the two variants"


def pair_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer, multi_token: bool = False) -> Sample:
    """The queries of one gender-swapped pair."""
    masculine, feminine = (tokenizer(row[side]) for side in ("masculine", "feminine"))
    if tokenizer.kind == "causal":
        return queries.log_likelihood_contrast(tokenizer, masculine, feminine)
    index = row["word_index"]
    if index >= min(len(split(side.text)) for side in (masculine, feminine)):
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
        raise SkipSampleError(_OTHER_TOKENS)
    differing = [i for i in slots[0] if masculine.ids[i] != feminine.ids[i]]
    if len(differing) != 1:
        raise SkipSampleError(f"the two words differ in {len(differing)} tokens")
    return queries.masked_contrast(tokenizer, masculine, feminine, differing)


def winobias_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer) -> Sample:
    """The queries of one pair of sentences of WinoBias."""
    masculine, feminine = (tokenizer(row[side]) for side in ("masculine", "feminine"))
    if tokenizer.kind == "causal":
        return queries.log_likelihood_contrast(tokenizer, masculine, feminine)
    words = differing_words(masculine.text, feminine.text)
    if not words:
        raise SkipSampleError("no pronoun differs")
    slots, feminine_slots = (
        [side.slot(*core_span(side.text, word)) for word in words] for side in (masculine, feminine)
    )
    if tokenizer.kind == "seq2seq":
        return queries.spanned_contrast(tokenizer, masculine, slots, feminine, feminine_slots)
    if any(len(slot) != 1 for slot in (*slots, *feminine_slots)):
        raise SkipSampleError("a pronoun is several tokens for this model")
    return queries.masked_contrast(tokenizer, masculine, feminine, [slot.start for slot in slots])


def neutral_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer) -> Sample:
    """The queries of one neutral sentence in its two frames."""
    masculine, feminine = (tokenizer(row[side]) for side in ("masculine", "feminine"))
    if tokenizer.kind == "causal":
        return queries.log_likelihood_contrast(tokenizer, masculine, feminine)
    slots = [masculine.slot(*row["masculine_span"]), feminine.slot(*row["feminine_span"])]
    if masculine.replace(slots[0], [-1]) != feminine.replace(slots[1], [-1]):
        raise SkipSampleError(_OTHER_TOKENS)
    if tokenizer.kind == "seq2seq":
        return queries.spanned_contrast(tokenizer, masculine, slots[:1], feminine, slots[1:])
    return queries.masked_pair(tokenizer, masculine, feminine, slots, queries.sum_difference)


def _probe(
    name: str,
    builder: Callable[[Options], QueryBuilder],
    fields: tuple[str, ...] = (),
    label: str = "stereotype",
    options: tuple[str, ...] = (),
) -> Probe:
    return Probe(
        name,
        frozenset({"masculine", "feminine", label, *fields}),
        LANGUAGE_MODELS,
        ("log_ratio",),
        lambda kind, given: {0: builder(given)},
        options=options,
        label=label,
        templated=True,
        scores_whole_texts=True,
    )


PAIRS = _probe(
    "pairs",
    lambda given: partial(pair_queries, multi_token=given.multi_token),
    ("word_index",),
    options=("multi_token",),
)
WINOBIAS = _probe("winobias", lambda _: winobias_queries, label="occupation_gender")
NEUTRAL = _probe("neutral", lambda _: neutral_queries, ("masculine_span", "feminine_span"))
