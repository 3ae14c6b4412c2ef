"""The numbers of the word-filling paper's tables: ss, cs and f of any masked models, beside the printed ones.

Everything is read from finished runs; the printed tables are in log10, and so are these means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import datasets
import numpy as np

from gest_dataset import published
from gest_dataset.builders.controls import FIELDS
from gest_dataset.errors import ConfigError
from gest_dataset.measures.control_bias import sample_scores
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.probes.author_rules import OWN_NEGATION
from gest_dataset.published.models import rows_for_model
from gest_dataset.report.measured import Measured
from gest_dataset.runs.reading import Run
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.confounders import log_relative_frequency
from gest_dataset.statistics.correlation import mean_correlation
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.asking import check_same_data, names_of

# Our names of the sets, in the order of print, and what the paper calls them
SETS = {
    "stereoset_control_gender": "SS Gender",
    "stereoset_control_gender_filtered": "SS Gender Filter",
    "stereoset_control_race": "SS Race",
    "stereoset_control_profession": "SS Profession",
    "slovak_gender": "Slovak Gender",
    "crows_control_negation": "CS Negation",
    "crows_control_antistereotype": "CS Anti-stereotype",
    "crows_gender": "CS Gender",
    "crows_gender_revised": "CS Gender, revised",
}
# The sets that have two readings
TWICE = ("crows_control_negation", "crows_control_antistereotype")
# Section 4.2: correlations of ss with the keywords' frequencies
FREQUENCY = {
    "stereoset_control_gender": "0.41",
    "stereoset_control_race": "0.36",
    "stereoset_control_profession": "0.28",
}
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
    note: str


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
            Statistic("false_positive_rate", "false positives"),
            Statistic("false_negative_rate", "false negatives"),
        ),
        "ss = log p(w_s) − log p(w_a): μ its mean, + the share above 0, ρ Pearson's correlation of original "
        "and control. False positives are those of the samples with ss original > 0 whose ss control is "
        "higher still, false negatives those with ss original < 0 whose ss control is lower still.",
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
        "cs compares the two groups' sentences by the tokens that they share, csk by the keyword; control "
        "pairs do not say the stereotype. CS Gender has no control pairs.",
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
        "f = ss original − ss control; agreement is the share of samples on which two scores have the same "
        "direction.",
    ),
)


@dataclass(frozen=True)
class Measurement:
    """A finished run of one model on one set, in one reading."""

    model: str
    config: str
    reading: str
    measured: Measured

    @property
    def run(self) -> Run:
        return self.measured.run

    @property
    def result(self) -> Result:
        """The statistic; nan for what it lacks."""
        return self.measured.result

    @property
    def label(self) -> str:
        """What the paper calls the set, and which reading this is where there are two."""
        return f"{SETS[self.config]}, {self.reading}" if self.config in TWICE else SETS[self.config]


def measurements_of(runs: Sequence[Run]) -> list[Measurement]:
    """The runs by model, in the order of print; two of the same, or of two versions of the data: an error."""
    check_same_data(runs)
    names = names_of(runs)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    found: dict[tuple[str, str, str], Measurement] = {}
    for name, run in zip(names, runs, strict=True):
        key = (name, run.manifest.config, reading_of(run))
        if key in found:
            raise ConfigError(
                f"{found[key].run.path} and {run.path} are two runs of {name} on {run.manifest.config}. Give "
                f"one of them."
            )
        found[key] = Measurement(*key, Measured(run, name, numbers[name]))
    order = list(SETS)
    return sorted(
        found.values(), key=lambda one: (numbers[one.model], order.index(one.config), one.reading != GROUPS)
    )


def estimate(result: Result, statistic: Statistic) -> Estimate:
    """A number of a result with its bounds, as the paper prints it: means in log10."""
    unit = LN10 if statistic.logarithm else 1.0  # printed: log10
    return Estimate(*(value / unit for value in Estimate.of(result, statistic.name)))


def printed(measurement: Measurement, table: Source) -> Mapping[str, Any] | None:
    """The paper's row of the same model and set."""
    rows = published.load(table.published)["rows"]
    of_model = rows_for_model(rows, measurement.run.manifest.metadata, "model")
    return next((row for row in of_model if row["config"] == measurement.config), None)


def printed_text(row: Mapping[str, Any] | None, statistic: Statistic) -> str:
    """A number as it is printed; nothing where there is none, or the copy that was read has lost it."""
    if row is None or row.get(statistic.name) is None:
        return ""
    reach = row.get(f"{statistic.name}_pm")
    return f"{row[statistic.name]:g}" + ("" if reach is None else f" ± {reach:g}")


def printed_range(config: str, table: Source, statistic: Statistic) -> str:
    """The least and the largest number that the paper prints for its models on a set."""
    rows = (row for row in published.load(table.published)["rows"] if row["config"] == config)
    values = [row[statistic.name] for row in rows if row.get(statistic.name) is not None]
    return f"{min(values):g} to {max(values):g}" if values else ""


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


@dataclass(frozen=True)
class Frequency:
    """How scores go with the log relative frequency of the keywords, over `n` pairs of known words."""

    original: Estimate
    control: Estimate
    f: Estimate
    n: int
    unknown: int


def keyword_frequency(measurement: Measurement, rows: datasets.Dataset) -> Frequency:
    """Pearson's correlations of section 4.2; of the copies of an original pair the first counts."""
    table = measurement.run.table
    scores = sample_scores(table)
    columns = np.column_stack([scores[name] for name in ("ss_original", "ss_control", "f")])
    by_id = dict(zip(table["id"].to_pylist(), columns, strict=True))
    first: dict[str, tuple[Floats, str, str]] = {}
    for row in rows.select_columns(["id", "original", "keywords", *FIELDS[:2]]).to_list():
        own = by_id.get(row["id"])
        if row["original"] not in first and own is not None and np.isfinite(own).all():
            first[row["original"]] = (own, *keywords(row))
    values, stereotypes, antistereotypes = zip(*first.values(), strict=True)
    language = measurement.run.manifest.language
    frequencies = log_relative_frequency(stereotypes, antistereotypes, language)
    known = np.isfinite(frequencies)
    both = np.column_stack([*np.array(values).T, frequencies])[known]
    original, control, f = (Estimate(*mean_correlation(both, [(column, 3)])) for column in range(3))
    return Frequency(original, control, f, int(known.sum()), int((~known).sum()))
