"""From a table of scores to a result: the measure's statistic, of each template where there are several.

`Scores.result()` and the `evaluate` modules both go this way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import pyarrow as pa

from gest_dataset.errors import DataError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Inputs, Measure, Result, Unit
from gest_dataset.statistics import checks
from gest_dataset.statistics.contrasts import deviation_within
from gest_dataset.statistics.intervals import bounded
from gest_dataset.statistics.over_templates import LN_MEAN, LN_Q, resampled_templates
from gest_dataset.statistics.permutation import permutation_p
from gest_dataset.statistics.ranks import feminine_ranks
from gest_dataset.statistics.simultaneous import families, rank_bounds
from gest_dataset.statistics.stereotype_rate import exp
from gest_dataset.statistics.verdict import verdict


def result_of(
    measure: Measure, scores: pa.Table, rows: datasets.Dataset | None, **options: Any
) -> dict[str, Any]:
    """What a table of scores says: the statistic of its measure, for each template, with its verdict."""
    parts = by_template(scores)
    results = {
        number: judged(measure, measure.statistic(**inputs_of(measure, part, rows), **options))
        for number, part in parts.items()
    }
    whole = over_templates(results)
    return whole if len(parts) == 1 else judged(measure, whole | _over_templates(measure, scores, rows))


def inputs_of(measure: Measure, scores: pa.Table, rows: datasets.Dataset | None) -> Inputs:
    """What the statistic takes, with the unit of each sample."""
    return measure.inputs(scores, rows) | {"units": units_of(measure.unit, scores["id"].to_pylist(), rows)}


def units_of(unit: Unit, ids: Sequence[str], rows: datasets.Dataset | None) -> list[Any] | None:
    """The unit of each sample, which the rows of the data say; None where each sample is one.

    Data of one's own may lack the column, or have it empty in a row: then that row is a unit.
    """
    if unit.column is None:
        return None
    if unit.column == "id":
        return list(ids)
    if rows is None:
        raise TypeError(f"the units ({unit.column}) stand in the rows of the data")
    if unit.column not in rows.column_names:
        return None
    columns = rows.select_columns(["id", unit.column])
    named = dict(zip(columns["id"], columns[unit.column], strict=True))
    for name in ids:
        if name not in named:
            raise DataError(
                f"The sample {name} is not in the data, so its {unit.column} is unknown: score it again."
            )
    return [("row", place) if named[name] is None else named[name] for place, name in enumerate(ids)]


def judged(
    measure: Measure, result: dict[str, Any], zone: tuple[float, float] | None = None
) -> dict[str, Any]:
    """A result with the verdict on its headline, and the zone of negligible effects around its null."""
    head = measure.headline(result)
    low, high = zone or head.zone_bounds(result)
    estimate = Estimate.of(result, head.name)
    # a tie counts as no win, and says nothing: had its sides differed it might have been one
    said = verdict(estimate.low, estimate.high + result.get(f"{head.name}_ties", 0.0), (low, high))
    return result | {"verdict": said, "zone_low": low, "zone_high": high}


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


def _over_templates(measure: Measure, scores: pa.Table, rows: datasets.Dataset | None) -> dict[str, Any]:
    """Bounds of the mean g_s over templates, and the ranks and permutations of the mean ln q_i."""
    frame = scores.to_pandas()
    # a sample is its place among those of its id, as an id may occur twice
    frame["again"] = frame.groupby(["template", "id"]).cumcount()
    wide = frame.pivot(index=["id", "again", "stereotype"], columns="template", values="log_ratio")
    stereotypes = wide.index.get_level_values("stereotype").to_numpy()
    units = units_of(measure.unit, wide.index.get_level_values("id").tolist(), rows)
    resamples = resampled_templates(wide.to_numpy(), stereotypes - 1, checks.units("units", units, len(wide)))
    bounds = bounded("g_s", resamples.interval(LN_MEAN), exp)
    del bounds["g_s"]
    alone, differences = families(resamples, LN_Q)
    least, most = rank_bounds(differences, len(LN_Q))
    whole = wide.dropna()
    means = whole.to_numpy().mean(axis=1)
    return bounds | {
        "g_s_spread": deviation_within(means, whole.index.get_level_values("stereotype").to_numpy()),
        "g_s_permutation_p": permutation_p(alone.value),
        "feminine_ranks": feminine_ranks(alone.value.tolist()),
        "feminine_ranks_low": least,
        "feminine_ranks_high": most,
    }


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
