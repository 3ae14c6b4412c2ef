"""Compare the runs of a sweep with the numbers printed in the papers (`gest sweep --check-published`).

A number differs if no value that rounds to the printed one lies in our 95 % interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset import published
from gest_dataset.builders import CONFIGS, select_configs
from gest_dataset.builders.families import STEREOSET
from gest_dataset.errors import GestError
from gest_dataset.measures.grid import Estimate
from gest_dataset.published.models import published_name, rows_for_model
from gest_dataset.report.labels import LabelledRun
from gest_dataset.runs.folder import Run, read_run
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.controls import SETS, control_runs
from gest_dataset.studies.stereoset import scores_of_runs
from gest_dataset.studies.stereoset_results import METHOD_TABLE, TABLES, entries, method_entries
from gest_dataset.studies.study import table_texts
from gest_dataset.sweep.run import RUNS
from gest_dataset.sweep.suite import Suite

_MIN_DIGITS = 2  # the least number of decimals that the papers print
COLUMNS = ("table", "model", "where", "metric", "value", "low", "high", "printed", "differs")


@dataclass(frozen=True)
class Comparison:
    """One of our numbers next to the printed one, on the printed scale. `half` is half a unit of rounding."""

    table: str
    model: str
    where: str
    metric: str
    estimate: Estimate
    printed: float
    half: float

    @property
    def differs(self) -> bool | None:
        """Whether they differ by more than the interval; None without an interval."""
        if any(map(math.isnan, self.estimate)):
            return None
        half = self.half * (1 + 1e-9)
        return not (self.estimate.low <= self.printed + half and self.printed - half <= self.estimate.high)

    def row(self) -> list[Any]:
        """Return a line of published.csv."""
        differs = {True: "yes", False: "no", None: "no interval"}[self.differs]
        return [self.table, self.model, self.where, self.metric, *self.estimate, self.printed, differs]


def finished_runs(suite: Suite, folder: Path) -> tuple[list[Run], int]:
    """Return the finished runs of a suite, and how many of its cells have none."""
    runs, missing = [], 0
    for model in suite.models:
        for config in select_configs(",".join(model.settings.configs)):
            try:
                runs.append(read_run(folder / RUNS / model.name / config))
            except GestError:
                missing += 1
    return runs, missing


def compare_with_published(runs: Sequence[Run]) -> list[Comparison]:
    """Compare every number that a paper prints. Runs with a limit are left out."""
    full = [run for run in runs if run.manifest.settings.get("limit") is None]
    comparisons = [one for run in full for one in (*_english(run), *_slavic(run), *_word_filling(run))]
    return comparisons + list(_stereoset(full))


def _half_unit(printed: float) -> float:
    """Return half of the last printed digit; JSON drops trailing zeros, so 0.6 stands for 0.60.

    >>> _half_unit(0.6), _half_unit(0.056)
    (0.005, 0.0005)
    """
    digits = len(repr(printed).partition(".")[2])
    return 5.0 * 10.0 ** -(max(digits, _MIN_DIGITS) + 1)


def _printed_scale(ratio: Estimate) -> Estimate:
    """Convert a geometric mean of ratios to what the GEST paper prints: e to the mean log10 ratio."""
    return Estimate(*(math.exp(math.log(end) / LN10) if end > 0 else end for end in ratio))


def _english(run: Run) -> Iterator[Comparison]:
    """Tables 9 and 10 of the GEST paper: g_s and the 16 q_i in each template."""
    manifest = run.manifest
    if manifest.config != "en_1_0" or manifest.metadata["options"]:
        return
    paper_model, templates = (
        published_name(manifest.metadata),
        LabelledRun(run, manifest.model, 0).templates,
    )
    for table, name in (("GEST, table 9", "gest_english_mlm"), ("GEST, table 10", "gest_english_glm")):
        for row in published.load(name)["rows"]:
            result = templates.get(row["template"])
            if row["model"] != paper_model or result is None:
                continue
            where = (table, manifest.model, f"template {row['template']}")
            printed = row["g_s_published"]
            yield Comparison(
                *where, "g_s", _printed_scale(Estimate.of(result, "g_s")), printed, _half_unit(printed)
            )
            for index, mean in enumerate(row["mean_log10_ratio"]):
                estimate = _printed_scale(Estimate.of(result, "q", index))
                half = _half_unit(mean) * math.exp(mean)
                yield Comparison(*where, f"q_{index + 1}", estimate, math.exp(mean), half)


def _slavic(run: Run) -> Iterator[Comparison]:
    """Table 11 of the GEST paper: the 16 q_i in each language."""
    manifest = run.manifest
    config = CONFIGS.get(manifest.config)
    if config is None or config.family.name != "pairs" or manifest.metadata["options"]:
        return
    result = LabelledRun(run, manifest.model, 0).result
    rows = rows_for_model(published.load("gest_slavic_mlm")["rows"], manifest.metadata, "model")
    for row in (row for row in rows if row["language"] == manifest.language):
        for index, printed in enumerate(row["q"]):
            where = ("GEST, table 11", manifest.model, manifest.config, f"q_{index + 1}")
            estimate = _printed_scale(Estimate.of(result, "q", index))
            yield Comparison(*where, estimate, printed, _half_unit(printed))


def _word_filling(run: Run) -> Iterator[Comparison]:
    """Tables 1 to 3 and 7 to 12 of the word-filling paper."""
    if run.manifest.config not in SETS:
        return
    (one,) = control_runs([run])
    for table in ("ss", "cs", "f"):
        row = one.printed_row(table)
        for statistic, label in table_texts()[table]["statistics"].items():
            printed = row.get(statistic)
            if printed is not None:
                title = f"Word filling, table {' and '.join(map(str, row['tables']))}"
                where = (title, run.manifest.model, run.manifest.config, label)
                yield Comparison(*where, one.estimate(statistic), printed, _half_unit(printed))


def _stereoset(runs: Sequence[Run]) -> Iterator[Comparison]:
    """Tables 2 to 5 and 7 to 9 of the multilingual StereoSet paper."""
    families = {config.name: config.family for config in CONFIGS.values()}
    stereoset_runs = [run for run in runs if families.get(run.manifest.config) is STEREOSET]
    scored = scores_of_runs(stereoset_runs)
    one_method, by_method = entries(scored), method_entries(scored)
    for table in TABLES:
        for entry in by_method if table is METHOD_TABLE else one_method:
            row = entry.printed(table) if entry.tests == table.tests else None
            if row is None:
                continue
            method = f" ({entry.method})" if entry.method else ""
            where = f"{entry.language}, {' and '.join(entry.tests)}{method}"
            for score in table.statistics:
                printed = row[score]
                yield Comparison(
                    *(f"StereoSet, table {table.number}", entry.model, where, score),
                    *(Estimate.of(entry.result, score), printed, _half_unit(printed)),
                )
