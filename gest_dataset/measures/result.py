"""From a table of scores to a result: the measure's statistic, of each template where there are several.

`Scores.result()` and the `evaluate` modules both go this way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import datasets
import pyarrow as pa

from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Measure, Result
from gest_dataset.statistics.intervals import bounded
from gest_dataset.statistics.over_templates import ln_mean_g_s
from gest_dataset.statistics.stereotype_rate import exp


def result_of(measure: Measure, scores: pa.Table, rows: datasets.Dataset | None) -> dict[str, Any]:
    """What a table of scores says: the statistic of its measure, for each template."""
    parts = by_template(scores)
    results = {number: measure.statistic(**measure.inputs(part, rows)) for number, part in parts.items()}
    whole = over_templates(results)
    return whole if len(parts) == 1 else whole | _mean_bounds(scores)


def by_template(scores: pa.Table) -> dict[int, pa.Table]:
    """The table's part of each template; 0 where there are none."""
    if "template" not in scores.column_names:
        return {0: scores}
    numbers = scores["template"].to_numpy()
    return {number: scores.filter(pa.array(numbers == number)) for number in dict.fromkeys(numbers.tolist())}


def over_templates(results: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    """One result as it is; of several templates each, and the mean g_s over them (the paper's figure 4)."""
    if len(results) == 1:
        return next(iter(results.values()))
    mean = sum(result["g_s"] for result in results.values()) / len(results)
    return {"g_s": mean, "by_template": results}


def of_templates(result: Result) -> dict[int, Result]:
    """The parts of a result by template number; 0 where there are no templates."""
    return {int(number): part for number, part in result.get("by_template", {0: result}).items()}


def _mean_bounds(scores: pa.Table) -> dict[str, float]:
    """Bounds of the mean g_s over templates."""
    frame = scores.to_pandas()
    # a sample is its place among those of its id, as an id may occur twice
    frame["again"] = frame.groupby(["template", "id"]).cumcount()
    wide = frame.pivot(index=["id", "again", "stereotype"], columns="template", values="log_ratio")
    stereotypes = wide.index.get_level_values("stereotype").to_numpy()
    bounds = bounded("g_s", ln_mean_g_s(wide.to_numpy(), stereotypes - 1), exp)
    return {name: value for name, value in bounds.items() if name != "g_s"}


def headline_text(measure: Measure, result: Result) -> str:
    """The headline with its 95 % interval, or why it has no value: `g_s=1.12 (1.05 to 1.20)`."""
    name = measure.headline(result).name
    estimate = Estimate.of(result, name)
    if math.isnan(estimate.value):
        return f"{name}={measure.undefined(result)[0].lower()}"
    mean = "mean " if "by_template" in result else ""
    return f"{mean}{name}={estimate}"


def estimates(result: Result, name: str) -> list[Estimate]:
    """A number of a result, of each template where it is of templates.

    A number without an interval is its own bound.
    """
    parts = [result] if name in result else result.get("by_template", {}).values()
    return [
        Estimate.of(part, name) if f"{name}_low" in part else Estimate.exact(part[name])
        for part in parts
        if name in part
    ]
