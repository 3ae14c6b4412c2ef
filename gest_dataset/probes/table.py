"""Which probe reads a config: told by the fields of its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gest_dataset.builders.controls import FIELDS
from gest_dataset.errors import ScoringError
from gest_dataset.probes import pairs, quadruplets, stereoset, templates, winobias
from gest_dataset.probes.asks import Sample
from gest_dataset.probes.text import Reader

Asker = Callable[[Mapping[str, Any], Reader], Sample]


@dataclass(frozen=True)
class Options:
    """What a user can choose about the probes."""

    templates: Sequence[int] | str | Path | None = None
    multi_token: bool = False
    cs: bool | None = None
    intersentence: str = "auto"


@dataclass(frozen=True)
class Probe:
    """A probe: the fields it reads beside `id`, the kinds of models it can ask, and its columns of scores.

    `about` is the column of a row that is copied beside its score; `askers` gives the ways to ask
    a row by template number, 0 where there are no templates.
    """

    name: str
    fields: frozenset[str]
    kinds: frozenset[str]
    scores: tuple[str, ...]
    askers: Callable[[str, Options], dict[int, Asker]]
    about: str | None = None
    templated: bool = False


def _templates(kind: str, options: Options) -> dict[int, Asker]:
    chosen = templates.choose(options.templates, kind)
    return {t.id: partial(_in_template, template=t) for t in chosen}


def _in_template(row: Mapping[str, Any], reader: Reader, template: templates.Template) -> Sample:
    return templates.ask(row, template, reader)


def _intersentence(kind: str, options: Options) -> dict[int, Asker]:
    method = stereoset.choose_method(options.intersentence, kind)
    return {0: partial(stereoset.ask_intersentence, method=method)}


_LANGUAGE_MODELS = frozenset({"masked", "causal", "seq2seq"})

_STEREOSET = frozenset({"context", "target_en", "bias_type", *stereoset.CANDIDATES})

PROBES = (
    Probe(
        "templates",
        frozenset({"sentence", "stereotype"}),
        _LANGUAGE_MODELS,
        ("log_ratio",),
        _templates,
        about="stereotype",
        templated=True,
    ),
    Probe(
        "pairs",
        frozenset({"masculine", "feminine", "word_index", "stereotype"}),
        _LANGUAGE_MODELS,
        ("log_ratio",),
        lambda kind, options: {0: partial(pairs.ask, multi_token=options.multi_token)},
        about="stereotype",
        templated=True,
    ),
    Probe(
        "winobias",
        frozenset({"masculine", "feminine", "occupation_gender"}),
        _LANGUAGE_MODELS,
        ("log_ratio",),
        lambda kind, options: {0: winobias.ask},
        about="occupation_gender",
        templated=True,
    ),
    Probe(
        "quadruplets",
        frozenset({"bias_type", *FIELDS, "keywords"}),
        frozenset({"masked", "seq2seq"}),
        quadruplets.COLUMNS,
        lambda kind, options: {0: partial(quadruplets.ask, cs=options.cs)},
    ),
    Probe(
        "crows",
        frozenset({"stereotyped", "other"}),
        frozenset({"masked"}),
        quadruplets.COLUMNS,
        lambda kind, options: {0: quadruplets.ask_pair},
    ),
    Probe(
        "stereoset_intrasentence",
        frozenset({*_STEREOSET, *(f"{c}_word" for c in stereoset.CANDIDATES)}),
        _LANGUAGE_MODELS,
        stereoset.CANDIDATES,
        lambda kind, options: {0: stereoset.ask_intrasentence},
    ),
    Probe(
        "stereoset_intersentence",
        _STEREOSET,
        frozenset({"masked", "nsp", "causal", "seq2seq"}),
        stereoset.CANDIDATES,
        _intersentence,
    ),
)


def find(fields: Sequence[str], config: str) -> Probe:
    """The first probe all of whose fields are there."""
    for probe in PROBES:
        if probe.fields <= set(fields):
            return probe
    lacking = [f"- {probe.name}: also {', '.join(sorted(probe.fields - set(fields)))}" for probe in PROBES]
    raise ScoringError(
        f"No probe reads {config}: its fields are {', '.join(fields)}. The probes need\n" + "\n".join(lacking)
    )


def check_kind(probe: Probe, kind: str, model: str, config: str) -> None:
    """Refuse a model of a kind that the probe cannot ask."""
    if kind not in probe.kinds:
        raise ScoringError(
            f"{model} is a {kind} model, and the {probe.name} probe of {config} needs a "
            f"{' or '.join(sorted(probe.kinds))} one. Choose another config or another model."
        )
