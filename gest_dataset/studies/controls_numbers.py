"""The numbers of the word-filling paper's tables: ss, cs and f of any masked models, beside the printed ones.

Everything is read from finished runs; the printed tables are in log10, and so are these means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import datasets
import numpy as np

from gest_dataset import published
from gest_dataset.builders.controls import FIELDS
from gest_dataset.errors import ConfigError
from gest_dataset.measures.control import sample_scores
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.probes.rules import OWN_NEGATION
from gest_dataset.published.handles import rows_of_model
from gest_dataset.runs.reading import Run
from gest_dataset.statistics import word_frequency_check
from gest_dataset.statistics.stereotype_rate import LN10

# Our names of the sets, in the order of print, and what the paper calls them
SETS = {
    "stereoset_control_gender": "SS Gender",
    "stereoset_control_gender_filtered": "SS Gender Filter",
    "stereoset_control_race": "SS Race",
    "stereoset_control_profession": "SS Profession",
    "slovak_gender": "Slovak Gender",
    "crows_control_negation": "CS Negation",
    "crows_control_antistereotype": "CS Anti-stereotype",
    "crows_gender": "CrowS-Pairs gender",
}
# The sets that have two readings
TWICE = ("crows_control_negation", "crows_control_antistereotype")
GROUPS, NEGATIONS = "group against group", "sentence against its negation"


@dataclass(frozen=True)
class Statistic:
    """A line of a table: the name in a result, what the paper writes, whether it is a mean of logarithms."""

    name: str
    label: str
    logarithm: bool = False


@dataclass(frozen=True)
class Source:
    """One of the paper's three tables, with the numbers that it has in print (appendix B repeats them)."""

    score: str
    numbers: tuple[int, ...]
    published: str
    title: str
    statistics: tuple[Statistic, ...]


def _sides(symbol: str, name: str, logarithm: bool) -> tuple[Statistic, ...]:
    return tuple(
        Statistic(f"{name}_{side}", f"{symbol} {side}", logarithm) for side in ("original", "control")
    )


TABLES = (
    Source(
        "ss",
        (1, 7, 8),
        "word_filling_ss",
        "The stereotypical keyword or the other: ss",
        (
            *_sides("ss μ", "ss_mu", True),
            *_sides("ss +", "ss_plus", False),
            Statistic("ss_rho", "ss ρ"),
            Statistic("false_positive_rate", "false positive rate"),
            Statistic("false_negative_rate", "false negative rate"),
        ),
    ),
    Source(
        "cs",
        (2, 9, 10),
        "word_filling_cs",
        "The one group or the other: cs, csk",
        (
            *_sides("cs μ", "cs_mu", True),
            *_sides("csk μ", "csk_mu", True),
            *_sides("cs +", "cs_plus", False),
            Statistic("cs_rho", "cs ρ"),
            Statistic("csk_rho", "csk ρ"),
            Statistic("cs_csk_rho", "cs-csk ρ"),
        ),
    ),
    Source(
        "f",
        (3, 11, 12),
        "word_filling_f",
        "What is left after the control: f",
        (
            Statistic("f_mu", "f μ", True),
            Statistic("f_plus", "f +"),
            Statistic("f_ss_rho", "f-ss ρ"),
            Statistic("f_ss_agreement", "f-ss agreement"),
            Statistic("f_cs_rho", "f-cs ρ"),
            Statistic("f_cs_agreement", "f-cs agreement"),
        ),
    ),
)


@dataclass(frozen=True)
class Measurement:
    """A finished run of one model on one set, in one reading; `result` has nan for what it lacks."""

    model: str
    config: str
    reading: str
    run: Run
    result: Result

    @property
    def label(self) -> str:
        """What the paper calls the set, and which reading this is where there are two."""
        return f"{SETS[self.config]}, {self.reading}" if self.config in TWICE else SETS[self.config]


def estimate(result: Result, statistic: Statistic) -> Estimate:
    """A number of a result with its bounds, as the paper prints it: means in log10."""
    unit = LN10 if statistic.logarithm else 1.0
    return Estimate(*(value / unit for value in Estimate.of(result, statistic.name)))


def printed(measurement: Measurement, table: Source) -> Mapping[str, Any] | None:
    """The paper's row of the same model and set."""
    rows = published.load(table.published)["rows"]
    of_model = rows_of_model(rows, measurement.run.manifest.metadata, "model")
    return next((row for row in of_model if row["config"] == measurement.config), None)


def printed_estimate(row: Mapping[str, Any], statistic: Statistic) -> Estimate:
    """A printed number with its bounds, from what stands behind ±; nan for what the copy has lost."""
    value, reach = row[statistic.name], row.get(f"{statistic.name}_pm")
    if value is None:
        return Estimate(math.nan, math.nan, math.nan)
    return Estimate(value, *((math.nan,) * 2 if reach is None else (value - reach, value + reach)))


def reading_of(run: Run) -> str:
    """What `cs` compares in the control sets of CrowS-Pairs, by the rules that a run followed."""
    rules = run.manifest.metadata["options"].get("rules", "").split(",")
    return NEGATIONS if OWN_NEGATION.name in rules and run.manifest.config in TWICE else GROUPS


def keywords(row: Mapping[str, Any]) -> tuple[str, str]:
    """The stereotypical and the anti-stereotypical keyword of a quadruplet, in lower case."""
    first, second = (
        row[field][slice(*span)].lower() for field, span in zip(FIELDS[:2], row["keywords"][:2], strict=True)
    )
    return first, second


def keyword_frequency(measurement: Measurement, rows: datasets.Dataset) -> dict[str, Any]:
    """How ss goes with the frequencies of the keywords (section 4.2); of copies of a pair the first counts."""
    scores = dict(
        zip(
            measurement.run.table["id"].to_pylist(),
            sample_scores(measurement.run.table)["ss_original"].tolist(),
            strict=True,
        )
    )
    first: dict[str, tuple[float, str, str]] = {}
    for row in rows.select_columns(["id", "original", "keywords", *FIELDS[:2]]):
        score = scores.get(row["id"], math.nan)
        if row["keywords"] is not None and not math.isnan(score):
            first.setdefault(row["original"], (score, *keywords(row)))
    values, stereotypes, antistereotypes = zip(*first.values(), strict=True)
    return word_frequency_check(values, stereotypes, antistereotypes, measurement.run.manifest.language)
