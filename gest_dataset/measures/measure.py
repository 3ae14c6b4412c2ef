"""What a measure is: one frozen record with everything the package needs to compute, show and cite it.

Probe scores -> inputs -> statistic -> result -> headline, grid, description. The records have no
defaults, so an incomplete measure fails at import.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import datasets
import pyarrow as pa

from gest_dataset.builders.config import Family
from gest_dataset.measures.display import SampleDisplay
from gest_dataset.measures.grid import Estimate, Grid
from gest_dataset.probes.probe import Probe
from gest_dataset.statistics.stereotype_rate import exp
from gest_dataset.statistics.verdict import Verdict

Inputs = dict[str, Any]
Result = Mapping[str, Any]
RunMetadata = Mapping[str, Any]  # of a run: its model, templates and options
InputBuilder = Callable[[pa.Table, datasets.Dataset | None], Inputs]
TOO_FEW_SAMPLES = "Too few samples"


@dataclass(frozen=True)
class Headline:
    """The number that decides a run's verdict, with its null and the zone of negligible effects.

    `name` is the key in a result, `symbol` the papers' name. A `ratio` is shown on a logarithmic axis.
    `zone` is the half-width of the negligible zone in standard deviations of the samples (`NAME_spread` of
    a result; of the logarithm for a ratio): models without stereotypes show effects of that size
    (docs/limits.md). `verdict_labels` has a short text for each verdict.
    """

    name: str
    symbol: str
    label: str
    null: float
    ratio: bool
    zone: float
    verdict_labels: Mapping[Verdict, str]

    def zone_bounds(self, result: Result) -> tuple[float, float]:
        """The lowest and the highest negligible value in a result."""
        reach = self.zone * float(result[f"{self.name}_spread"])
        if self.ratio:
            return self.null * exp(-reach), self.null * exp(reach)
        return self.null - reach, self.null + reach


@dataclass(frozen=True)
class Unit:
    """What the bootstrap resamples: a label and the dataset column that identifies it (None: each row)."""

    label: str
    column: str | None = None


@dataclass(frozen=True)
class Contrast:
    """The groups whose means the headline adds up: their column, and the weight of each group."""

    column: str
    weights: Mapping[Any, float]


@dataclass(frozen=True)
class Pairing:
    """How two runs are compared: the measure of `statistics.compare`, its columns, and the group column."""

    measure: str
    columns: tuple[str, ...]
    strata: str | None


@dataclass(frozen=True)
class Measure:
    """One measure.

    Attributes:
        probe: asks the model; None where texts are generated or translated.
        inputs: turns a score table (and the dataset rows) into the arguments of `statistic`.
        numbers: the scalars of a result for which a limit can be set.
        headlines: in order of preference; the first one with a value is the run's headline.
        unit: what the bootstrap resamples.
        contrast: the group weights of the headline; None for a plain mean.
        pairings: in order of preference; runs are compared by the first one whose columns they have.
        display: how single samples are shown.
        grid: the table of a single-template result.
        describe: sentences about a result, from the result and the run's metadata.
        describe_undefined: a label and sentences for a result whose headline is undefined.
        methods: the methods paragraph of the report.
        families: the works to cite.
    """

    name: str
    probe: Probe | None
    inputs: InputBuilder
    statistic: Callable[..., dict[str, Any]]
    numbers: tuple[str, ...]
    headlines: tuple[Headline, ...]
    unit: Unit
    contrast: Contrast | None
    pairings: tuple[Pairing, ...]
    display: SampleDisplay
    grid: Callable[[Result], Grid]
    describe: Callable[[Result, RunMetadata], list[str]]
    describe_undefined: Callable[[Result], tuple[str, list[str]]]
    methods: str
    families: tuple[Family, ...]

    def headline(self, result: Result) -> Headline:
        """The first headline with a value in the result, or the first headline if there is none."""
        defined = (head for head in self.headlines if not math.isnan(Estimate.of(result, head.name).value))
        return next(defined, self.headlines[0])


def column_inputs(predictions: str, references: str, **others: str) -> InputBuilder:
    """Inputs read from columns of the score table."""
    columns = {"predictions": predictions, "references": references, **others}
    return lambda table, rows: {name: table[column].to_pylist() for name, column in columns.items()}


def undefined_for(symbol: str) -> Callable[[Result], tuple[str, list[str]]]:
    """The description of an undefined headline that lacks samples in a group."""
    sentence = f"{symbol} is undefined: at least one group that it averages over has no samples."
    return lambda result: (TOO_FEW_SAMPLES, [sentence])
