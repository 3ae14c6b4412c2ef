"""From scores to results: which statistic folds the scores of which probe, and its inputs.

`Scores.result()` and the `evaluate` modules both take a table of scores this way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import datasets
import pyarrow as pa

from gest_dataset.builders.controls import FIELDS
from gest_dataset.statistics import control, control_bias, stereoset_icat, stereotype_rate, winobias_rate
from gest_dataset.statistics.intervals import bounded
from gest_dataset.statistics.over_templates import mean_g_s
from gest_dataset.statistics.stereotype_rate import exp

Inputs = dict[str, Any]
_CANDIDATES = ("stereotype", "antistereotype", "unrelated")
_CS = ("cs_original", "cs_control")


def stereotype_inputs(table: pa.Table, rows: datasets.Dataset) -> Inputs:
    """Of templates and pairs: log ratios and stereotypes."""
    return {
        "predictions": table["log_ratio"].to_pylist(),
        "references": table["stereotype"].to_pylist(),
    }


def winobias_inputs(table: pa.Table, rows: datasets.Dataset) -> Inputs:
    """Of WinoBias: log ratios and the stereotypical genders of the occupations."""
    return {
        "predictions": table["log_ratio"].to_pylist(),
        "references": table["occupation_gender"].to_pylist(),
    }


def control_inputs(table: pa.Table, rows: datasets.Dataset) -> Inputs:
    """Of quadruplets and CrowS-Pairs: the four ln P of the keyword, and cs; None where there is none."""
    return {
        "predictions": _rows(table, [f"logp_{field}" for field in FIELDS]),
        "cs": _rows(table, _CS),
    }


def stereoset_inputs(table: pa.Table, rows: datasets.Dataset) -> Inputs:
    """Of StereoSet: the three candidates' scores, English targets and bias types."""
    label = rows.features["bias_type"]
    samples = {row["id"]: row for row in rows.select_columns(["id", "target_en", "bias_type"])}
    scored = [samples[name] for name in table["id"].to_pylist()]
    kinds = [sample["bias_type"] for sample in scored]
    return {
        "predictions": _rows(table, _CANDIDATES),
        "references": [sample["target_en"] for sample in scored],
        "bias_types": label.int2str(kinds) if isinstance(label, datasets.ClassLabel) else kinds,
    }


def _rows(table: pa.Table, names: Any) -> list[list[float | None]] | None:
    """Some columns as rows; None where no row has any of them."""
    columns = [table[name].to_pylist() for name in names]
    rows = [list(values) for values in zip(*columns, strict=True)]
    return None if all(value is None for row in rows for value in row) else rows


# For each probe: its inputs, and the statistic that takes them
FOLDS: dict[str, tuple[Callable[[pa.Table, datasets.Dataset], Inputs], Callable[..., dict[str, Any]]]] = {
    "templates": (stereotype_inputs, stereotype_rate),
    "pairs": (stereotype_inputs, stereotype_rate),
    "winobias": (winobias_inputs, winobias_rate),
    "quadruplets": (control_inputs, control_bias),
    "crows": (control_inputs, control_bias),
    "stereoset_intrasentence": (stereoset_inputs, stereoset_icat),
    "stereoset_intersentence": (stereoset_inputs, stereoset_icat),
}


_RATES = ("g_s", "q_f", "q_m")
# For each statistic, its single numbers: what a limit can be set for
NUMBERS: dict[Callable[..., dict[str, Any]], tuple[str, ...]] = {
    stereotype_rate: _RATES,
    winobias_rate: _RATES,
    control_bias: (
        *control.MEANS,
        *control.SHARES,
        *control.CORRELATIONS,
        *control.AGREEMENTS,
        "false_positive_rate",
        "false_negative_rate",
    ),
    stereoset_icat: ("lms", "ss", "icat", "multiclass_lms", "multiclass_ss", "macro_icat", "micro_icat"),
}
# Short names, as the papers have them
SHORT = {"f": "f_mu", "cs": "cs_mu_original"}


def numbers(result: Mapping[str, Any], name: str) -> list[tuple[float, float]]:
    """A number of a result, of each template where it is of templates: values and lower bounds.

    A number without an interval is its own bound.
    """
    parts = [result] if name in result else result.get("by_template", {}).values()
    found = [(part[name], part.get(f"{name}_low", part[name])) for part in parts if name in part]
    return [(_number(value), _number(low)) for value, low in found]


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def by_template(table: pa.Table) -> dict[int, pa.Table]:
    """The table's part of each template; 0 where there are none."""
    if "template" not in table.column_names:
        return {0: table}
    codes = table["template"].to_numpy()
    return {number: table.filter(pa.array(codes == number)) for number in dict.fromkeys(codes.tolist())}


def summary(results: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """One result as it is; of several templates each, and the mean g_s over them (the paper's figure 4)."""
    if len(results) == 1:
        return next(iter(results.values()))
    mean = sum(result["g_s"] for result in results.values()) / len(results)
    return {"g_s": mean, "by_template": results}


def result(probe: str, table: pa.Table, rows: datasets.Dataset) -> dict[str, Any]:
    """What a table of scores says: the statistic of its probe, for each template."""
    inputs, statistic = FOLDS[probe]
    parts = by_template(table)
    found = summary({number: statistic(**inputs(part, rows)) for number, part in parts.items()})
    return found if len(parts) == 1 else found | _mean_bounds(table)


def _mean_bounds(table: pa.Table) -> dict[str, float]:
    """Bounds of the mean g_s over templates."""
    frame = table.to_pandas()
    # a sample is its place among those of its id, as an id may occur twice
    frame["again"] = frame.groupby(["template", "id"]).cumcount()
    wide = frame.pivot(index=["id", "again", "stereotype"], columns="template", values="log_ratio")
    stereotypes = wide.index.get_level_values("stereotype").to_numpy()
    bounds = bounded("g_s", mean_g_s(wide.to_numpy(), stereotypes - 1), exp)
    return {name: value for name, value in bounds.items() if name != "g_s"}
