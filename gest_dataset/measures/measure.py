"""What a measure is: one frozen record with everything the package needs to compute, show and cite it.

Probe scores -> inputs -> statistic -> result -> headline, grid, sentences. Texts and constants are in
`measures.yaml`, functions in the modules of the measures.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
from jinja2 import Environment

from gest_dataset.builders.config import FAMILIES, Family, Row
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate, Grid
from gest_dataset.probes.probe import Probe
from gest_dataset.published.models import rank_among_published
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.stereotype_rate import exp
from gest_dataset.statistics.verdict import Verdict
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import read_yaml

Inputs = dict[str, Any]
Result = Mapping[str, Any]
InputBuilder = Callable[[pa.Table, datasets.Dataset | None], Inputs]
TOO_FEW_SAMPLES = "Too few samples"

_RECORDS: dict[str, dict[str, Any]] = read_yaml(Path(__file__).with_name("measures.yaml"))
LINES: dict[str, dict[str, str]] = _RECORDS[".lines"]  # of the grids: number -> what it is


@dataclass(frozen=True)
class Headline:
    """The number that decides a run's verdict (`headlines` in measures.yaml)."""

    name: str
    symbol: str
    label: str
    null: float
    ratio: bool
    zone: float
    verdict_labels: Mapping[Verdict, str]
    bounded: bool = False

    def zone_bounds(self, result: Result) -> tuple[float, float]:
        """The lowest and the highest negligible value in a result."""
        reach = self.zone * (1.0 if self.bounded else float(result[f"{self.name}_spread"]))
        if self.ratio:
            return self.null * exp(-reach), self.null * exp(reach)
        return self.null - reach, self.null + reach


@dataclass(frozen=True)
class Unit:
    """What the bootstrap resamples: a label and the dataset column that identifies it (None: each row)."""

    label: str
    column: str | None = None


@dataclass(frozen=True)
class Pairing:
    """How two runs are compared: the measure of `statistics.compare`, its columns, and the group column."""

    statistic: str
    columns: Sequence[str]
    group_column: str | None


@dataclass(frozen=True, kw_only=True)
class SampleDisplay:
    """How the samples of a measure are shown (`display` in measures.yaml)."""

    value: Callable[[pa.Table], Floats]
    topic: Callable[[Row, Row], str]
    score_label: str
    sides: Sequence[str]
    text_fields: Sequence[str] = ()
    variants: Sequence[str] = ()
    text_columns: Sequence[str] = ()
    number_columns: Mapping[str, str] = field(default_factory=dict)
    number_label: str = ""
    probability_note: str
    categorical: bool = False
    decimals: int = 4


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure; measures.yaml describes the other entries.

    Attributes:
        probe: asks the model; None where texts are generated or translated.
        inputs: turns a score table (and the dataset rows) into the arguments of `statistic`.
        grid: the table of a single-template result.
    """

    name: str
    probe: Probe | None = None
    inputs: InputBuilder
    statistic: Callable[..., dict[str, Any]]
    grid: Callable[[Result], Grid]
    numbers: Sequence[str]
    headlines: Sequence[Headline]
    unit: Unit
    contrast: Mapping[str, Any] | None
    pairings: Sequence[Pairing]
    display: SampleDisplay
    texts: Mapping[str, Sequence[str]]
    methods: str
    families: Sequence[Family]

    def headline(self, result: Result) -> Headline:
        """The first headline with a value in the result, or the first headline if there is none."""
        defined = (head for head in self.headlines if not math.isnan(Estimate.of(result, head.name).value))
        return next(defined, self.headlines[0])

    def describe(self, result: Result, metadata: Mapping[str, Any]) -> list[str]:
        """Sentences about a result."""
        return self.sentences("describe", result, metadata=metadata)

    def sentences(self, part: str, result: Result, **values: Any) -> list[str]:
        """The sentences that a part of `texts` has about a result."""
        known = {**result, "result": result, **values}
        return list(filter(None, (render_text(text, known) for text in self.texts[part])))


def render_text(text: str, values: Mapping[str, Any]) -> str:
    """A text from a jinja template, with the filters and tests of the sentences of measures."""
    return _template(text).render(values)


def load_measure(
    name: str,
    *,
    value: Callable[[pa.Table], Floats],
    topic: Callable[[Row, Row], str],
    statistic: Callable[..., dict[str, Any]],
    grid: Callable[[Result], Grid],
    probe: Probe | None = None,
    inputs: InputBuilder | None = None,
) -> Measure:
    """A measure with its entry in measures.yaml; `inputs` are columns of the score table if not given."""
    record = _RECORDS[name]
    return Measure(
        name=name,
        probe=probe,
        statistic=statistic,
        grid=grid,
        inputs=inputs
        or (lambda table, _: {key: table[column].to_pylist() for key, column in record["inputs"].items()}),
        numbers=record["numbers"],
        headlines=[Headline(**head) for head in record["headlines"]],
        unit=Unit(**record["unit"]),
        contrast=record.get("contrast"),
        pairings=[Pairing(**pairing) for pairing in record["pairings"]],
        display=SampleDisplay(value=value, topic=topic, **record["display"]),
        texts={part: record.get(part, ()) for part in ("describe", "undefined", "uncertainty", "placebo")},
        methods=" ".join(record["methods"]),
        families=[FAMILIES[family] for family in record["families"]],
    )


def certain_extremes(result: Result) -> dict[str, str]:
    """The stereotypes that are certainly the most feminine or masculine by the bounds of their ranks."""
    bounds = list(zip(result["feminine_ranks_low"], result["feminine_ranks_high"], strict=True))
    return {
        side: stereotype.name
        for side, end in (("feminine", 1), ("masculine", len(STEREOTYPES)))
        for stereotype, both in zip(STEREOTYPES.values(), bounds, strict=True)
        if both == (end, end)
    }


def label_values(column: str) -> Callable[[pa.Table], Floats]:
    """The score of samples with labels: 1 for male or stereotype, -1 for their opposites, 0 for another.

    It is nan if the sample is unreadable.
    """

    def value(table: pa.Table) -> Floats:
        codes = {"male": 1.0, "female": -1.0, "stereotype": 1.0, "antistereotype": -1.0}
        labels = np.array([codes.get(label, 0.0) for label in table[column].to_pylist()])
        unreadable = np.array([bool(problem) for problem in table["problem"].to_pylist()], dtype=bool)
        return np.where(unreadable, np.nan, labels)

    return value


_SENTENCES = Environment()
_SENTENCES.filters |= {
    "number": format_number,
    "percent": lambda share: "– %" if math.isnan(share) else f"{100 * share:.1f} %",
    "missing": lambda counts: ", ".join(str(n) for n, count in enumerate(counts, start=1) if not count),
}
_SENTENCES.tests["finite"] = lambda value: isinstance(value, (int, float)) and math.isfinite(value)
_SENTENCES.globals |= {"interval": Estimate.of, "extremes": certain_extremes, "ranking": rank_among_published}
_template = cache(_SENTENCES.from_string)
