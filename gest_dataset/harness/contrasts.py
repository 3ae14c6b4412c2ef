"""Rows as texts for whoever tokenises himself: a context, and the two continuations that are compared.

A causal model's log-ratio of a row is ln P(masculine continuation) - ln P(feminine one), given the context.
lm-evaluation-harness tokenises context and continuation together, takes the context's own tokens for the
beginning of that, and puts BOS (or EOS where there is none) in front of a continuation without a context, but
of no other. So that it asks the queries of `probes`:

templates    What stands before the word is the context. The space between belongs to the word, as it does in
             vocabularies: a context that ends with it would have other tokens.
others       Both whole texts are continuations, and the context is empty: they stand behind BOS, and what
             they begin with alike takes nothing from the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gest_dataset.probes.probe import Probe
from gest_dataset.probes.templates import Template, select_templates

KIND = "causal"  # of models


@dataclass(frozen=True)
class Contrast:
    """A context and what may follow it, with the space that stands between."""

    context: str
    masculine: str
    feminine: str


def is_contrast(probe: Probe) -> bool:
    """Whether a probe compares two texts of a causal model and nothing else."""
    return KIND in probe.kinds and probe.scores == ("log_ratio",)


def contrasts(row: Mapping[str, Any], probe: Probe) -> dict[int, Contrast]:
    """What a row asks by template number, 0 where there are no templates."""
    if probe.scores_whole_texts:
        return {0: Contrast("", row["masculine"], row["feminine"])}
    return {template.id: _around(row["sentence"], template) for template in select_templates(None, KIND)}


def _around(sentence: str, template: Template) -> Contrast:
    """
    >>> from gest_dataset.probes.templates import TEMPLATES
    >>> _around("I ran.", TEMPLATES[4])
    Contrast(context='"I ran.", the', masculine=' man', feminine=' woman')
    """
    continuations = []
    for word in (template.masculine, template.feminine):
        text, start, end = template.around(sentence, word)
        context = text[:start].rstrip()
        continuations.append(text[len(context) : end])
    return Contrast(context, *continuations)
