"""`gest study controls`: do word-filling measures measure a stereotype? (Pikuliak et al., 2023)

Tables 1 to 3 and 7 to 12 and figures 1 and 2 of the paper for any masked models: what a score finds about the
group of the stereotype next to what it finds about a control group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import datasets
import numpy as np

from gest_dataset import published
from gest_dataset.builders import select_configs
from gest_dataset.builders.controls import FIELDS
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.measures.control_bias import sample_scores
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.probes.author_rules import OWN_NEGATION
from gest_dataset.probes.probe import Options
from gest_dataset.published.models import rows_for_model
from gest_dataset.report.labels import LabelledRun
from gest_dataset.report.panel import Panel
from gest_dataset.report.panels_headlines import control_differences, control_scatters
from gest_dataset.runs.folder import Run
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.confounders import log_relative_frequency
from gest_dataset.statistics.correlation import mean_correlation
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.inputs import (
    Batch,
    Inputs,
    collect_runs,
    limitations,
    model_names,
    require_runs,
    sources_of,
)
from gest_dataset.studies.study import Row, Study, Table, table_texts

ALL_SETS = "controls,crows"
# Our names of the sets and the paper's, in its order
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
# Sets whose original and control can be paired in two ways
TWO_READINGS = ("crows_control_negation", "crows_control_antistereotype")
GROUPS, NEGATIONS = "group against group", "sentence against its negation"
_SLOW_CS = ("stereoset_control_race", "stereoset_control_profession")  # ten times the passes
# Section 4.2: correlations of ss with the frequency of the keywords
_PRINTED_FREQUENCY = {
    "stereoset_control_gender": "0.41",
    "stereoset_control_race": "0.36",
    "stereoset_control_profession": "0.28",
}


@dataclass(frozen=True)
class ControlRun:
    """A run of one model on one set in one reading."""

    model: str
    config: str
    reading: str
    labelled: LabelledRun

    @property
    def run(self) -> Run:
        return self.labelled.run

    @property
    def result(self) -> Result:
        return self.labelled.result

    def estimate(self, statistic: str) -> Estimate:
        """A number of the result with its bounds; means in log10, as printed."""
        unit = LN10 if "_mu" in statistic else 1.0
        return Estimate(*(value / unit for value in Estimate.of(self.result, statistic)))

    def printed_row(self, table: str) -> Mapping[str, Any]:
        """The row of the same model and set in one of the paper's tables; empty without one."""
        rows = published.load(table_texts()[table]["published"])["rows"]
        of_model = rows_for_model(rows, self.run.manifest.metadata, "model")
        return next((row for row in of_model if row["config"] == self.config), {})

    def has(self, statistic: str) -> bool:
        return not math.isnan(self.estimate(statistic).value)


def controls(
    inputs: Inputs | Sequence[str | Path | Run] = (), sets: str = ALL_SETS, cs: bool = False
) -> Study:
    """Original and control groups of ss, cs and f; models are scored on `sets`.

    `cs` also scores cs of race and profession (tables 3 and 11), which takes ten times as long as the rest.
    """
    wanted = list(select_configs(sets))
    unknown = [name for name in wanted if name not in SETS]
    if unknown:
        raise ConfigError(f"{unknown[0]} has no controls. Choose from {', '.join(SETS)}.")
    slow = [name for name in wanted if cs and name in _SLOW_CS]
    twice = [name for name in wanted if name in TWO_READINGS]
    batches = [
        Batch(",".join(name for name in wanted if name not in slow)),
        Batch(",".join(slow), Options(cs=True), "cs", ("masked",)),
        Batch(",".join(twice), Options(rules=(OWN_NEGATION.name,)), OWN_NEGATION.name, ("masked",)),
    ]
    runs = collect_runs(
        inputs,
        "controls",
        [batch for batch in batches if batch.configs],
        lambda run: run.manifest.config in SETS,
    )
    require_runs(runs, "controls")
    return controls_study(control_runs(runs), sources_of(runs))


def control_runs(runs: Sequence[Run]) -> list[ControlRun]:
    """The runs by model, in the order of the paper; two of the same are an error."""
    models = model_names(runs)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(models))}
    found: dict[tuple[str, str, str], ControlRun] = {}
    for model, run in zip(models, runs, strict=True):
        config = run.manifest.config
        rules = run.manifest.metadata["options"].get("rules", "").split(",")
        reading = NEGATIONS if OWN_NEGATION.name in rules and config in TWO_READINGS else GROUPS
        key = (model, config, reading)
        if key in found:
            raise ConfigError(f"{found[key].run.path} and {run.path} are two runs of {model} on {config}.")
        label = f"{SETS[config]}, {reading}" if config in TWO_READINGS else SETS[config]
        found[key] = ControlRun(*key, LabelledRun(run, label, numbers[model]))
    order = list(SETS)
    return sorted(
        found.values(), key=lambda one: (numbers[one.model], order.index(one.config), one.reading != GROUPS)
    )


def controls_study(found: Sequence[ControlRun], sources: dict[str, str]) -> Study:
    """The study of some runs."""
    groups = [one for one in found if one.reading == GROUPS]
    frequency, notes = _frequency(groups)
    tables = [*(_scores(name, groups) for name in ("ss", "cs", "f")), _readings(found), frequency]
    return Study(
        "controls",
        "Do word-filling measures measure a stereotype?",
        tuple(table for table in tables if table.rows),
        tuple(_figures(found)),
        (*limitations([one.run for one in found], [one.model for one in found]), *notes),
        sources,
    )


def _scores(table: str, found: Sequence[ControlRun]) -> Table:
    """One of the paper's three tables, a row per number."""
    rows: list[Row] = []
    for one in found:
        for statistic, label in table_texts()[table]["statistics"].items():
            if one.has(statistic):
                n = one.result["n_cs" if "cs_" in statistic.replace("csk_", "") else "n"]
                paper = ("", "") if one.config in TWO_READINGS else _printed(one, table, statistic)
                value = one.estimate(statistic)
                rows.append((SETS[one.config], label, one.model, value, int(n), *paper))
    return Table.create(table, rows)


def _printed(one: ControlRun, table: str, statistic: str) -> tuple[str, str]:
    """The printed number of the same model and set, and the range of all printed models."""
    rows = published.load(table_texts()[table]["published"])["rows"]
    values = [
        row[statistic] for row in rows if row["config"] == one.config and row.get(statistic) is not None
    ]
    value_range = f"{min(values):g} to {max(values):g}" if values else ""
    row = one.printed_row(table)
    if row.get(statistic) is None:
        return "", value_range
    half_width = row.get(f"{statistic}_pm")
    return f"{row[statistic]:g}" + ("" if half_width is None else f" ± {half_width:g}"), value_range


def _readings(found: Sequence[ControlRun]) -> Table:
    """The CrowS-Pairs controls in both readings, for models that have both."""
    runs = {(one.model, one.config, one.reading): one for one in found if one.config in TWO_READINGS}
    rows: list[Row] = []
    for (model, config, reading), negated in runs.items():
        groups = runs.get((model, config, GROUPS))
        if reading == GROUPS or groups is None:
            continue
        for statistic, label in table_texts()["cs"]["statistics"].items():
            if groups.has(statistic) or negated.has(statistic):
                values = groups.estimate(statistic), negated.estimate(statistic)
                rows.append((SETS[config], label, model, *values, *_printed(negated, "cs", statistic)))
    return Table.create("readings", rows)


def keyword_frequency(one: ControlRun, rows: datasets.Dataset) -> tuple[list[Estimate], int, int]:
    """Pearson's correlations of ss (original and control) and f with the frequency of the keywords.

    Also the numbers of pairs with known and with unknown words. Of several samples with the same original
    pair the first counts.
    """
    table = one.run.table
    scores = sample_scores(table)
    columns = np.column_stack([scores[name] for name in ("ss_original", "ss_control", "f")])
    by_id = dict(zip(table["id"].to_pylist(), columns, strict=True))
    first: dict[str, tuple[Floats, str, str]] = {}
    for row in rows.select_columns(["id", "original", "keywords", *FIELDS[:2]]).to_list():
        values = by_id.get(row["id"])
        if row["original"] not in first and values is not None and np.isfinite(values).all():
            first[row["original"]] = (values, *_keywords(row))
    values, stereotypes, antistereotypes = zip(*first.values(), strict=True)
    frequencies = log_relative_frequency(stereotypes, antistereotypes, one.run.manifest.language)
    known = np.isfinite(frequencies)
    both = np.column_stack([*np.array(values).T, frequencies])[known]
    correlations = [Estimate(*mean_correlation(both, [(column, 3)])) for column in range(3)]
    return correlations, int(known.sum()), int((~known).sum())


def _keywords(row: Mapping[str, Any]) -> tuple[str, str]:
    """The stereotypical and the anti-stereotypical keyword of a quadruplet."""
    (start, end), (other_start, other_end) = row["keywords"][:2]
    return row[FIELDS[0]][start:end].lower(), row[FIELDS[1]][other_start:other_end].lower()


def _frequency(found: Sequence[ControlRun]) -> tuple[Table, list[str]]:
    """Section 4.2: correlations with the frequency of the keywords, and notes on what is missing."""
    rows: list[Row] = []
    notes: dict[str, None] = {}
    for one in found:
        if not one.has("ss_mu_original"):
            continue
        try:
            correlations, n, unknown = keyword_frequency(one, rows_of(one.config))
        except ConfigError as error:  # wordfreq is not installed, or lacks the language
            notes[f"There are no frequencies of the keywords. {error}"] = None
            continue
        if any(not math.isnan(r.value) for r in correlations):
            paper = _PRINTED_FREQUENCY.get(one.config, "")
            rows.append((SETS[one.config], one.model, *correlations, n, unknown, paper))
    return Table.create("keyword-frequency", rows), list(notes)


def _figures(found: Sequence[ControlRun]) -> Iterator[Panel]:
    """Figures 1 and 2 and f, for each model."""
    for number, model in enumerate(dict.fromkeys(one.model for one in found), start=1):
        own = [one.labelled for one in found if one.model == model]
        for panel in (*control_scatters(own), *control_differences(own)):
            yield replace(panel, name=f"{panel.name}-{number}", title=f"{panel.title}, {model}")
