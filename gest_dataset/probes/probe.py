"""What a probe is: the rows it reads, the models it can ask, the scores that it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset.errors import SettingError
from gest_dataset.probes.queries import Sample
from gest_dataset.probes.tokenization import ProbeTokenizer

QueryBuilder = Callable[[Mapping[str, Any], ProbeTokenizer], Sample]

LANGUAGE_MODELS = frozenset({"masked", "causal", "seq2seq"})


@dataclass(frozen=True)
class Options:
    """What a user can choose about the probes."""

    templates: Sequence[int] | str | Path | None = None
    multi_token: bool = False
    cs: bool | None = None
    intersentence: str = "auto"
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Probe:
    """A probe: the fields it reads, the kinds of models it can ask, and its columns of scores.

    `builders` gives the ways to ask a row by template number, 0 where there are no templates; `options`
    are those that mean something to it. `about` is the column of a row that is copied beside its score.
    `templated` scores have a column of template numbers. `between` sentences is what a next-sentence
    head is asked. Of causal models `likelihood` asks for that of whole texts, with a start token in front.
    """

    name: str
    fields: frozenset[str]
    kinds: frozenset[str]
    scores: tuple[str, ...]
    query_builders: Callable[[str, Options], dict[int, QueryBuilder]]
    options: tuple[str, ...] = ()
    label: str | None = None
    templated: bool = False
    intersentence: bool = False
    scores_whole_texts: bool = False


def check_kind(probe: Probe, kind: str, model: str, config: str) -> None:
    """Refuse a model of a kind that the probe cannot ask."""
    if kind not in probe.kinds:
        raise SettingError(
            f"{model} is a {kind} model, and the {probe.name} probe of {config} needs a "
            f"{' or '.join(sorted(probe.kinds))} one. Choose another config or another model."
        )
