"""What a probe is: the rows it reads, the kinds of models it suits, and the scores that it gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset.probes.queries import Sample
from gest_dataset.probes.tokenization import ProbeTokenizer

QueryBuilder = Callable[[Mapping[str, Any], ProbeTokenizer], Sample]

LANGUAGE_MODELS = frozenset({"masked", "causal", "seq2seq"})


@dataclass(frozen=True)
class Options:
    """The options of the probes that a user can set."""

    templates: Sequence[int] | str | Path | None = None
    multi_token: bool = False
    per_token: bool = False
    cs: bool | None = None
    intersentence: str = "auto"
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Probe:
    """A probe.

    Attributes:
        fields: the dataset fields that it reads.
        kinds: the kinds of models that it suits.
        scores: its score columns.
        query_builders: turns a row into queries, by template number (0 without templates).
        options: the options that it uses.
        label: the dataset field that is copied next to the scores.
        templated: whether the scores have a column of template numbers.
        intersentence: whether it can use a next-sentence head.
        scores_whole_texts: whether causal models score whole texts after a start token.
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
