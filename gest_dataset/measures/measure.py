"""What a measure is: one frozen record with all that the package knows of it.

Scores of a probe -> inputs -> statistic -> result -> headline, grid, sentences. A record has no
defaults: a measure that lacks something fails at import.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import datasets
import pyarrow as pa

from gest_dataset.builders.config import Family
from gest_dataset.measures.grid import Estimate, Grid
from gest_dataset.measures.sample_words import SampleWords
from gest_dataset.probes.probe import Probe
from gest_dataset.statistics.stereotype_rate import exp
from gest_dataset.statistics.verdict import Verdict

Inputs = dict[str, Any]
Result = Mapping[str, Any]
Facts = Mapping[str, Any]  # what a run says of itself: the model, the templates, the options
TOO_FEW = "Too few samples"


@dataclass(frozen=True)
class Headline:
    """The number that a run is judged by, and the value that means nothing found (its null).

    `name` is the key of a result, `symbol` what the papers call it. A `ratio` belongs on a
    logarithmic axis. Effects up to `zone` standard deviations of the samples (`NAME_spread` of a result) on
    either side of the null are negligible; of a ratio those of its logarithm. Models without stereotypes show
    as much (docs/limits.md has the measured ones). `words` say in a few words what each verdict means.
    """

    name: str
    symbol: str
    what: str
    null: float
    ratio: bool
    zone: float
    words: Mapping[Verdict, str]

    def zone_bounds(self, result: Result) -> tuple[float, float]:
        """The least and the largest value of a result that is negligible."""
        reach = self.zone * float(result[f"{self.name}_spread"])
        if self.ratio:
            return self.null * exp(-reach), self.null * exp(reach)
        return self.null - reach, self.null + reach


@dataclass(frozen=True)
class Unit:
    """What the bootstrap draws, in words, and the column of the data that names it; None is the row itself.

    Rows of one unit are drawn together.
    """

    words: str
    column: str | None = None


@dataclass(frozen=True)
class Contrast:
    """What the headline is a sum of: the column that groups the samples, and the weight of each group."""

    column: str
    weights: Mapping[Any, float]


@dataclass(frozen=True)
class Pairing:
    """How two runs are compared: the measure of `statistics.compare` and the columns that it takes.

    `strata` is the column that groups the samples, None where they are one group.
    """

    measure: str
    columns: tuple[str, ...]
    strata: str | None


@dataclass(frozen=True)
class Measure:
    """All that is known of one measure; `probe` is None where no model is asked (translations).

    `inputs` makes a table of scores (and the rows of the data) into what `statistic` takes; `numbers`
    are the single numbers of its result, for which a limit can be set; the first of the `headlines`
    that has a value is the run's, and runs are compared by the first of the `pairings` that they have the
    columns for. `unit` is what the bootstrap draws, `contrast` what the headline weighs against each other
    (None where it is one mean). `grid` is a result of one template in lines; `sentences` say a whole one in
    words, and `undefined` (a few words, and sentences) one whose headline has no value. `methods` is the
    paragraph of the report, `families` are the works
    to cite for it.
    """

    name: str
    probe: Probe | None
    inputs: Callable[[pa.Table, datasets.Dataset | None], Inputs]
    statistic: Callable[..., dict[str, Any]]
    numbers: tuple[str, ...]
    headlines: tuple[Headline, ...]
    unit: Unit
    contrast: Contrast | None
    pairings: tuple[Pairing, ...]
    samples: SampleWords
    grid: Callable[[Result], Grid]
    sentences: Callable[[Result, Facts], list[str]]
    undefined: Callable[[Result], tuple[str, list[str]]]
    methods: str
    families: tuple[Family, ...]

    def headline(self, result: Result) -> Headline:
        """The headline that a result has a value for; the first where it has none at all."""
        known = (h for h in self.headlines if not math.isnan(Estimate.of(result, h.name).value))
        return next(known, self.headlines[0])


def paired(scores: str, about: str) -> Callable[[pa.Table, datasets.Dataset | None], Inputs]:
    """The inputs of a statistic that takes a column of scores, and one of what the samples are about."""
    return lambda table, rows: {
        "predictions": table[scores].to_pylist(),
        "references": table[about].to_pylist(),
    }


def lacking(symbol: str) -> Callable[[Result], tuple[str, list[str]]]:
    """The words for a headline without a value."""
    sentence = f"{symbol} has no value here: some of what it averages has no sample at all."
    return lambda result: (TOO_FEW, [sentence])
