"""The runs of a sweep beside the numbers that the papers print, and which differ by more than the interval.

The studies say which printed number belongs to which of ours: `published` (GEST), `studies.controls` (word
filling) and `studies.stereoset_results`. Only a model that was loaded from the Hub under the paper's
name is the paper's. A number differs where all that the printed one can have been before it was rounded lies
outside our 95 % interval. Both are of the same sentences, so that this is a generous measure: equal models
and codes agree to the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.builders.families import STEREOSET
from gest_dataset.data.selection import names
from gest_dataset.measures.grid import Estimate
from gest_dataset.published.handles import rows_of_model
from gest_dataset.published.standing import paper_name
from gest_dataset.report.measured import Measured
from gest_dataset.runs.manifest import MANIFEST, read_manifest
from gest_dataset.runs.reading import Run, read_run
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.controls import SETS, control_runs
from gest_dataset.studies.stereoset import scores_of_runs
from gest_dataset.studies.stereoset_results import METHOD_TABLE, TABLES, entries, method_entries
from gest_dataset.studies.study import table_texts
from gest_dataset.sweep.place import Place, run_name
from gest_dataset.sweep.suite import Suite

_ENGLISH = "en_1_0"  # the sentences of the paper
_DIGITS = 2  # behind the point, that the papers print at least
COLUMNS = ("table", "model", "where", "number", "ours", "low", "high", "printed", "differs")


@dataclass(frozen=True)
class Beside:
    """A number of ours beside the printed one, on the scale of print; `half` is what rounding hides of it."""

    table: str
    model: str
    where: str
    number: str
    ours: Estimate
    printed: float
    half: float

    @property
    def differs(self) -> bool | None:
        """Whether they differ by more than the interval; None where there is no interval."""
        if any(map(math.isnan, self.ours)):
            return None
        reach = self.half * (1 + 1e-9)
        return not (self.ours.low <= self.printed + reach and self.printed - reach <= self.ours.high)

    def told(self) -> list[Any]:
        """A line of published.csv."""
        differs = {True: "yes", False: "no", None: "no interval"}[self.differs]
        return [self.table, self.model, self.where, self.number, *self.ours, self.printed, differs]


def runs_of(suite: Suite, place: Place) -> tuple[list[Run], int]:
    """The finished runs of a suite, and how many of its cells have none."""
    found, lacking = [], 0
    for subject in suite.subjects:
        for config in names(",".join(subject.asking.configs)):
            name = run_name(subject.name, config)
            run = None
            if place.read(f"{name}/{MANIFEST}") is not None:
                with place.run(name) as path:
                    run = read_run(path) if read_manifest(path).done else None
            found += [run] if run is not None else []
            lacking += run is None
    return found, lacking


def check_published(runs: Sequence[Run]) -> list[Beside]:
    """Every number of some runs that a paper prints."""
    whole = [run for run in runs if run.manifest.settings.get("limit") is None]
    found = [pair for run in whole for pair in (*_english(run), *_slavic(run), *_word_filling(run))]
    return found + list(_stereoset(whole))


def _half(printed: float) -> float:
    """Half of the last printed digit: of 0.6 that of 0.60, as JSON drops the zeros behind it.

    >>> _half(0.6), _half(0.056)
    (0.005, 0.0005)
    """
    digits = len(repr(printed).partition(".")[2])
    return 5.0 * 10.0 ** -(max(digits, _DIGITS) + 1)


def _as_printed(ratio: Estimate) -> Estimate:
    """A geometric mean of ratios as the GEST paper prints it: e to the mean log10 ratio (docs/metrics.md)."""
    return Estimate(*(math.exp(math.log(end) / LN10) if end > 0 else end for end in ratio))


def _english(run: Run) -> Iterator[Beside]:
    """Tables 9 and 10 of the GEST paper: g_s and the 16 q_i in each template."""
    facts = run.manifest.metadata
    if run.manifest.config != _ENGLISH or facts["options"]:
        return
    model, measured = paper_name(facts), Measured(run, run.manifest.subject, 0)
    for table, name in (("GEST, table 9", "gest_english_mlm"), ("GEST, table 10", "gest_english_glm")):
        for row in published.load(name)["rows"]:
            result = measured.templates.get(row["template"])
            if row["model"] != model or result is None:
                continue
            about = (table, run.manifest.subject, f"template {row['template']}")
            printed = row["g_s_published"]
            yield Beside(*about, "g_s", _as_printed(Estimate.of(result, "g_s")), printed, _half(printed))
            for place, mean in enumerate(row["mean_log10_ratio"]):
                ours = _as_printed(Estimate.of(result, "q", place))
                yield Beside(*about, f"q_{place + 1}", ours, math.exp(mean), _half(mean) * math.exp(mean))


def _slavic(run: Run) -> Iterator[Beside]:
    """Table 11 of the GEST paper: the 16 q_i in each language."""
    config = CONFIGS.get(run.manifest.config)
    if config is None or config.family.name != "pairs" or run.manifest.metadata["options"]:
        return
    result = Measured(run, run.manifest.subject, 0).result
    rows = rows_of_model(published.load("gest_slavic_mlm")["rows"], run.manifest.metadata, "model")
    for row in (row for row in rows if row["language"] == run.manifest.language):
        for place, printed in enumerate(row["q"]):
            ours = _as_printed(Estimate.of(result, "q", place))
            where = run.manifest.config
            about = ("GEST, table 11", run.manifest.subject, where, f"q_{place + 1}")
            yield Beside(*about, ours, printed, _half(printed))


def _word_filling(run: Run) -> Iterator[Beside]:
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
                about = (title, run.manifest.subject, run.manifest.config, label)
                yield Beside(*about, one.estimate(statistic), printed, _half(printed))


def _stereoset(runs: Sequence[Run]) -> Iterator[Beside]:
    """Tables 2 to 5 and 7 to 9 of the multilingual StereoSet paper: of one test or both, in each language."""
    scored = scores_of_runs([run for run in runs if _is_stereoset(run)])
    one_method, by_method = entries(scored), method_entries(scored)
    for table in TABLES:
        for entry in by_method if table is METHOD_TABLE else one_method:
            row = entry.printed(table) if entry.tests == table.tests else None
            if row is None:
                continue
            method = f" ({entry.method})" if entry.method else ""
            where = f"{entry.language}, {' and '.join(entry.tests)}{method}"
            for score in table.statistics:
                about = (f"StereoSet, table {table.number}", entry.model, where, score)
                yield Beside(*about, Estimate.of(entry.result, score), row[score], _half(row[score]))


def _is_stereoset(run: Run) -> bool:
    config = CONFIGS.get(run.manifest.config)
    return config is not None and config.family is STEREOSET
