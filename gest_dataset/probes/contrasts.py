"""Two variants of a text, one for a man and one for a woman: which one does a model prefer?

Causal models score ln P(masculine) - ln P(feminine) of the whole texts from the first token that differs
(with `per_token`, each divided by its number of tokens, as EuroGEST's code does since March 2026). The other
models score the words that differ:

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
from gest_dataset.gender.grammar import languages, load_grammar
from gest_dataset.probes import queries
from gest_dataset.probes.probe import LANGUAGE_MODELS, Options, Probe, QueryBuilder
from gest_dataset.probes.queries import Placebo, Sample
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError

_OTHER_TOKENS = "the rest of the sentence is tokenized differently in the two variants"


def pair_queries(
    row: Mapping[str, Any], tokenizer: ProbeTokenizer, multi_token: bool = False, per_token: bool = False
) -> Sample:
    """The queries of one gender-swapped pair."""
    masculine, feminine = (tokenizer(row[side]) for side in ("masculine", "feminine"))
    sides, index = (masculine, feminine), row["word_index"]
    exists = index < min(len(split(side.text)) for side in sides)
    if tokenizer.kind == "causal":
        sample = queries.log_likelihood_contrast(tokenizer, *sides, per_token)
        starts = [core_span(side.text, index)[0] for side in sides] if exists else []
        return sample.beginning(sides, starts, tokenizer.with_start(masculine)[1]) if exists else sample
    if not exists:
        raise SkipSampleError(f"there is no word number {index} in the sentence")
    last = max([index, *(differing_words(masculine.text, feminine.text) or ())])
    slots = [side.slot(*core_span(side.text, index, last)) for side in sides]
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


def neutral_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer, per_token: bool = False) -> Sample:
    """The queries of one neutral sentence in its two frames."""
    masculine, feminine = (tokenizer(row[side]) for side in ("masculine", "feminine"))
    spans = row["masculine_span"], row["feminine_span"]
    if tokenizer.kind == "causal":
        sample = queries.log_likelihood_contrast(tokenizer, masculine, feminine, per_token)
        starts = [start for start, _ in spans]
        return sample.beginning((masculine, feminine), starts, tokenizer.with_start(masculine)[1])
    slots = [masculine.slot(*spans[0]), feminine.slot(*spans[1])]
    if masculine.replace(slots[0], [-1]) != feminine.replace(slots[1], [-1]):
        raise SkipSampleError(_OTHER_TOKENS)
    if tokenizer.kind == "seq2seq":
        return queries.spanned_contrast(tokenizer, masculine, slots[:1], feminine, slots[1:])
    return queries.masked_pair(tokenizer, masculine, feminine, slots, queries.sum_difference)


def neutral_placebo(row: Mapping[str, Any], tokenizer: ProbeTokenizer) -> Placebo | None:
    """Verbs that may replace those of a frame and show no gender: *I say*, *I ask*, *I whisper*, …

    They are those of the language's grammar. Only the first token of each counts.
    """
    if row.get("language") not in languages():
        return None
    # the alternatives of the pattern that are plain words
    verbs = load_grammar(row["language"]).speaking_verbs.pattern.removeprefix("(?:")[:-2].split("|")
    text, (start, end) = row["masculine"], row["masculine_span"]

    def beginning(word: str) -> tuple[int, ...]:
        """The tokens up to the first one of a word in the frame."""
        tokens = tokenizer(text[:start] + word + text[end:])
        return tokens.ids[: tokens.first_token(start) + 1]

    own = beginning(text[start:end])
    begun = [beginning(verb) for verb in verbs if verb.isalpha()]
    return queries.pair_neighbours([[ids[-1] for ids in begun if ids[:-1] == own[:-1] and ids != own]])


def _neutral_builder(given: Options) -> QueryBuilder:
    found: list[Placebo | None] = []  # that of the first row, for all rows

    def build(row: Mapping[str, Any], tokenizer: ProbeTokenizer) -> Sample:
        sample = neutral_queries(row, tokenizer, given.per_token)
        if not found:
            found.append(neutral_placebo(row, tokenizer))
        return sample.with_placebo(found[0]) if sample.words else sample

    return build


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
    lambda given: partial(pair_queries, multi_token=given.multi_token, per_token=given.per_token),
    ("word_index",),
    options=("multi_token", "per_token"),
)
WINOBIAS = _probe("winobias", lambda _: winobias_queries, label="occupation_gender")
NEUTRAL = _probe("neutral", _neutral_builder, ("masculine_span", "feminine_span"), options=("per_token",))
