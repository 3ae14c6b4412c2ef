"""Compare the runs of a sweep with tables 9 to 11 of the GEST paper (`gest sweep --check-published`).

A number differs if no value that rounds to the printed one lies in our 95 % interval. `gest study controls`
and `gest study stereoset` compare runs with the tables of the other papers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.measures.grid import Estimate
from gest_dataset.published.models import published_name, rows_for_model
from gest_dataset.report.labels import LabelledRun
from gest_dataset.runs.folder import Run
from gest_dataset.statistics.stereotype_rate import LN10

COLUMNS = ("table", "model", "where", "metric", "value", "low", "high", "printed", "differs")


class Comparison(NamedTuple):
    """One of our numbers next to the printed one, on the printed scale. `half` is half a unit of rounding."""

    table: str
    model: str
    where: str
    metric: str
    estimate: Estimate
    printed: float
    half: float

    @property
    def differs(self) -> bool:
        """Whether they differ by more than the interval."""
        half = self.half * (1 + 1e-9)
        return self.printed + half < self.estimate.low or self.printed - half > self.estimate.high


def compare_with_published(run: Run) -> Iterator[Comparison]:
    """Compare a run with every printed number: g_s and the 16 q_i in each English template, q_i in pairs."""
    manifest = run.manifest
    if manifest.metadata["options"] or manifest.settings.get("limit") is not None:
        return
    labelled = LabelledRun(run, manifest.model, 0)
    if manifest.config == "en_1_0":
        name = published_name(manifest.metadata)
        for number, table in ((9, "gest_english_mlm"), (10, "gest_english_glm")):
            rows = [row for row in published.load(table)["rows"] if row["model"] == name]
            for row in (row for row in rows if row["template"] in labelled.templates):
                result = labelled.templates[row["template"]]
                where = (f"GEST, table {number}", manifest.model, f"template {row['template']}")
                printed, estimate = row["g_s_published"], _printed_scale(Estimate.of(result, "g_s"))
                yield Comparison(*where, "g_s", estimate, printed, half_unit(printed))
                for index, mean in enumerate(row["mean_log10_ratio"]):
                    estimate = _printed_scale(Estimate.of(result, "q", index))
                    half = half_unit(mean) * math.exp(mean)
                    yield Comparison(*where, f"q_{index + 1}", estimate, math.exp(mean), half)
    elif manifest.config in CONFIGS and CONFIGS[manifest.config].family.name == "pairs":
        for row in rows_for_model(published.load("gest_slavic_mlm")["rows"], manifest.metadata, "model"):
            for index, printed in enumerate(row["q"] if row["language"] == manifest.language else ()):
                where = ("GEST, table 11", manifest.model, manifest.config)
                estimate = _printed_scale(Estimate.of(labelled.result, "q", index))
                yield Comparison(*where, f"q_{index + 1}", estimate, printed, half_unit(printed))


def half_unit(printed: float) -> float:
    """Return half of the last printed digit; JSON drops trailing zeros, so 0.6 stands for 0.60.

    >>> half_unit(0.6), half_unit(0.056)
    (0.005, 0.0005)
    """
    return 5.0 * 10.0 ** -(max(len(repr(printed).partition(".")[2]), 2) + 1)


def _printed_scale(ratio: Estimate) -> Estimate:
    """Convert a geometric mean of ratios to what the paper prints: e to the mean log10 ratio."""
    return Estimate(*(math.exp(math.log(end) / LN10) if end > 0 else end for end in ratio))
