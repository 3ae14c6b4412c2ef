"""Compare the runs of a sweep with tables 9 to 11 of the GEST paper (`gest sweep --check-published`).

A number differs if no value that rounds to the printed one lies in our 95 % interval. `gest study controls`
and `gest study stereoset` compare runs with the tables of the other papers.
"""

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


class Comparison(NamedTuple):
    """One of our numbers next to the printed one, on the printed scale."""

    table: str
    model: str
    where: str
    metric: str
    value: float
    low: float
    high: float
    printed: float
    differs: bool


def compare_with_published(run: Run) -> Iterator[Comparison]:
    """Compare a run with every printed number: g_s and the 16 q_i in each English template, q_i in pairs."""
    manifest = run.manifest
    if manifest.metadata["options"] or manifest.settings.get("limit") is not None:
        return
    labelled = LabelledRun(run, manifest.model, 0)
    if manifest.config == "en_1_0":
        name = published_name(manifest.metadata)
        for number, table in ((9, "gest_english_mlm"), (10, "gest_english_glm")):
            for row in published.load(table)["rows"]:
                if row["model"] != name or row["template"] not in labelled.templates:
                    continue
                result = labelled.templates[row["template"]]
                where = (f"GEST, table {number}", manifest.model, f"template {row['template']}")
                printed = row["g_s_published"]
                yield compare(*where, "g_s", Estimate.of(result, "g_s"), printed, half_unit(printed))
                for index, mean in enumerate(row["mean_log10_ratio"]):
                    printed, q = math.exp(mean), Estimate.of(result, "q", index)
                    yield compare(*where, f"q_{index + 1}", q, printed, half_unit(mean) * printed)
    elif manifest.config in CONFIGS and CONFIGS[manifest.config].family.name == "pairs":
        where = ("GEST, table 11", manifest.model, manifest.config)
        for row in rows_for_model(published.load("gest_slavic_mlm")["rows"], manifest.metadata, "model"):
            for index, printed in enumerate(row["q"] if row["language"] == manifest.language else ()):
                q = Estimate.of(labelled.result, "q", index)
                yield compare(*where, f"q_{index + 1}", q, printed, half_unit(printed))


def compare(
    table: str, model: str, where: str, metric: str, ratio: Estimate, printed: float, half: float
) -> Comparison:
    """Compare a geometric mean of ratios with the printed e to the mean log10 ratio, rounded by `half`."""
    value, low, high = (math.exp(math.log(end) / LN10) if end > 0 else end for end in ratio)
    reach = half * (1 + 1e-9)
    differs = printed + reach < low or printed - reach > high
    return Comparison(table, model, where, metric, value, low, high, printed, differs)


def half_unit(printed: float) -> float:
    """Return half of the last printed digit; JSON drops trailing zeros, so 0.6 stands for 0.60.

    >>> half_unit(0.6), half_unit(0.056)
    (0.005, 0.0005)
    """
    return 5.0 * 10.0 ** -(max(len(repr(printed).partition(".")[2]), 2) + 1)
