"""`gest study controls`: do word-filling measures measure a stereotype? (Pikuliak et al., 2023)

Tables 1 to 3 and 7 to 12 and figures 1 and 2 of the paper for any models: what a score finds about the
group of the stereotype next to what it finds about a control group.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import datasets
import numpy as np
import pandas as pd

from gest_dataset import published
from gest_dataset.builders.controls import FIELDS
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.stereoset import sample_scores
from gest_dataset.probes.options import OWN_NEGATION
from gest_dataset.published.models import rows_for_model
from gest_dataset.runs.folder import Run, Runs
from gest_dataset.statistics.confounders import log_relative_frequency
from gest_dataset.statistics.correlation import mean_correlation
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.study import TEXTS, Row, Study, Table, collect_runs, make_study, model_names

SETS: dict[str, str] = TEXTS["sets"]  # our names of the sets and the paper's
# Sets whose original and control can be paired in two ways
TWO_READINGS = ("crows_control_negation", "crows_control_antistereotype")
GROUPS, NEGATIONS = "group against group", "sentence against its negation"


@dataclass(frozen=True)
class ControlRun:
    model: str
    config: str
    reading: str
    run: Run

    def estimate(self, statistic: str) -> Estimate:
        """A number of the result with its bounds; means in log10, as printed."""
        unit = LN10 if "_mu" in statistic else 1.0
        return Estimate(*(value / unit for value in Estimate.of(self.run.result["result"], statistic)))

    def printed(self, table: str, statistic: str) -> tuple[str, str]:
        """The printed number of the same model and set, and the range of all printed models."""
        rows = published.load(TEXTS[table]["published"])["rows"]
        own = [row for row in rows if row["config"] == self.config]
        values = [row[statistic] for row in own if row.get(statistic) is not None]
        row = next(iter(rows_for_model(own, self.run.manifest.metadata, "model")), {})
        value, half_width = row.get(statistic), row.get(f"{statistic}_pm")
        text = "" if value is None else f"{value:g}" if half_width is None else f"{value:g} ± {half_width:g}"
        return text, f"{min(values):g} to {max(values):g}" if values else ""

    def has(self, statistic: str) -> bool:
        return not math.isnan(self.estimate(statistic).value)


def controls(runs: Runs = ()) -> Study:
    """Original and control groups of ss, cs and f."""
    found = control_runs(collect_runs(runs, "controls", lambda run: run.manifest.config in SETS))
    groups = [one for one in found if one.reading == GROUPS]
    frequency, notes = _frequency(groups)
    tables = [*(_scores(name, groups) for name in ("ss", "cs", "f")), _readings(found), frequency]
    return make_study("controls", tables, [one.run for one in found], notes=notes)


def control_runs(runs: Sequence[Run]) -> list[ControlRun]:
    """The runs by model, in the order of the paper; two of the same are an error."""
    models = model_names(runs)
    order = list(dict.fromkeys(models))
    found: dict[tuple[int, int, bool], ControlRun] = {}
    for model, run in zip(models, runs, strict=True):
        config, number = run.manifest.config, order.index(model)
        rules = run.manifest.metadata["options"].get("rules", "").split(",")
        reading = NEGATIONS if OWN_NEGATION in rules and config in TWO_READINGS else GROUPS
        key = (number, list(SETS).index(config), reading != GROUPS)
        if key in found:
            raise ConfigError(f"{run.path} is the second run of {model} on {config}. Give only one.")
        found[key] = ControlRun(model, config, reading, run)
    return [found[key] for key in sorted(found)]


def _scores(table: str, runs: Sequence[ControlRun]) -> Table:
    """One of the paper's three tables, a row per number."""
    rows: list[Row] = []
    for run, (statistic, label) in product(runs, TEXTS[table]["statistics"].items()):
        if run.has(statistic):
            n = run.run.result["result"]["n_cs" if "cs_" in statistic.replace("csk_", "") else "n"]
            paper = ("", "") if run.config in TWO_READINGS else run.printed(table, statistic)
            rows.append((SETS[run.config], label, run.model, run.estimate(statistic), int(n), *paper))
    return Table.create(table, rows)


def _readings(runs: Sequence[ControlRun]) -> Table:
    """The CrowS-Pairs controls in both readings, for models that have both."""
    groups = {(run.model, run.config): run for run in runs if run.reading == GROUPS}
    negations = [run for run in runs if run.reading == NEGATIONS and (run.model, run.config) in groups]
    rows: list[Row] = []
    for run, (statistic, label) in product(negations, TEXTS["cs"]["statistics"].items()):
        group = groups[run.model, run.config]
        if group.has(statistic) or run.has(statistic):
            values = group.estimate(statistic), run.estimate(statistic)
            rows.append((SETS[run.config], label, run.model, *values, *run.printed("cs", statistic)))
    return Table.create("readings", rows)


def keyword_frequency(one: ControlRun, rows: datasets.Dataset) -> Row:
    """Pearson's correlations of ss (original and control) and f with the frequency of the keywords.

    Also the numbers of pairs with known and unknown words. Samples with the same original pair count once.
    """
    run = one.run
    scores = pd.DataFrame(sample_scores(run.table))[["ss_original", "ss_control", "f"]]
    scores = scores.set_index(run.table["id"].to_pandas())
    texts = rows.select_columns(["id", "original", "keywords", *FIELDS[:2]]).to_pandas().set_index("id")
    frame = texts.join(scores, how="inner").dropna(subset=scores.columns).drop_duplicates("original")
    first, second = (
        [text[slice(*spans[place])].lower() for text, spans in zip(frame[field], frame.keywords, strict=True)]
        for place, field in enumerate(FIELDS[:2])
    )
    frequencies = log_relative_frequency(first, second, run.manifest.language)
    known = np.isfinite(frequencies)
    both = np.column_stack([frame[scores.columns].to_numpy(), frequencies])[known]
    correlations = [Estimate(*mean_correlation(both, [(column, 3)])) for column in range(3)]
    return (*correlations, int(known.sum()), int((~known).sum()))


def _frequency(runs: Sequence[ControlRun]) -> tuple[Table, list[str]]:
    """Section 4.2: correlations with the frequency of the keywords, and notes on what is missing."""
    rows: list[Row] = []
    notes: dict[str, None] = {}
    with_ss = [run for run in runs if run.has("ss_mu_original")]
    for run in with_ss:
        try:
            cells = keyword_frequency(run, rows_of(run.config))
        except ConfigError as error:  # wordfreq is not installed, or lacks the language
            notes[f"There are no frequencies of the keywords. {error}"] = None
            continue
        if any(isinstance(cell, Estimate) and not math.isnan(cell.value) for cell in cells):
            paper = TEXTS["keyword-frequency"]["printed"].get(run.config, "")
            rows.append((SETS[run.config], run.model, *cells, paper))
    return Table.create("keyword-frequency", rows), list(notes)
