"""WinoBias: ln P(masculine pronouns) - ln P(feminine pronouns) in a sentence with an occupation.

Appendix B of Pikuliak et al. (2024). If a sentence marks several pronouns they are masked together, and the
score is the mean of their contrasts, as in the authors' code. Causal models: the difference of the sentences'
log-likelihoods.
"""

from collections.abc import Mapping
from typing import Any

from gest_dataset.builders.words import core_span, differing_words
from gest_dataset.probes import queries
from gest_dataset.probes.probe import LANGUAGE_MODELS, Probe
from gest_dataset.probes.queries import Sample
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError


def build_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer) -> Sample:
    """The queries of one pair of sentences."""
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


PROBE = Probe(
    "winobias",
    frozenset({"masculine", "feminine", "occupation_gender"}),
    LANGUAGE_MODELS,
    ("log_ratio",),
    lambda kind, options: {0: build_queries},
    label="occupation_gender",
    templated=True,
    scores_whole_texts=True,
)
