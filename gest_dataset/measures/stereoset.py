"""The measures of StereoSet: LMS, SS and ICAT, ss, csk, cs and f of control quadruplets, cs of CrowS-Pairs.

Öztürk et al. (2023), eq. 1 to 3; Pikuliak et al. (2023), eq. 1 to 3; Nangia et al. (2020).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import datasets
import numpy as np
import pyarrow as pa

from gest_dataset.builders.config import Row
from gest_dataset.builders.controls import FIELDS
from gest_dataset.measures.grid import EMPTY, Estimate, Grid, Line, number_lines
from gest_dataset.measures.measure import LINES, Inputs, Result, label_values, load_measure
from gest_dataset.probes import quadruplets, stereoset
from gest_dataset.statistics import control_bias, control_choice_rate, stereoset_icat
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.control_bias import control_scores

_SCORES = ("lms", "ss", "icat")


def control_inputs(scores: pa.Table, rows: datasets.Dataset | None) -> Inputs:
    """The four ln P of the keyword, both cs, and f_prefix of each row; None where the set has none."""
    inputs: Inputs = {
        "predictions": rows_of_columns(scores, [f"logp_{field}" for field in FIELDS]),
        "cs": rows_of_columns(scores, ("cs_original", "cs_control")),
    }
    f_prefix = rows_of_columns(scores, ("f_prefix",))
    return inputs if f_prefix is None else inputs | {"f_prefix": f_prefix}


def rows_of_columns(scores: pa.Table, names: Sequence[str]) -> list[list[float | None]] | None:
    """The rows of some columns; None if they are all empty or missing."""
    if not {*names} <= {*scores.column_names}:
        return None
    rows = [list(values) for values in zip(*(scores[name].to_pylist() for name in names), strict=True)]
    return None if all(value is None for row in rows for value in row) else rows


def sample_scores(scores: pa.Table) -> dict[str, Floats]:
    """ss, csk, cs and f of each sample; nan where a sample has none."""
    columns = control_inputs(scores, None)
    keywords = columns["predictions"]
    if keywords is not None:
        keywords = [[math.nan if value is None else value for value in row] for row in keywords]
    return control_scores(keywords, columns["cs"], columns.get("f_prefix"))


def _value(scores: pa.Table) -> Floats:
    """f of each sample, or cs of the original pair where there are no keywords."""
    values = sample_scores(scores)
    return np.asarray(values["f"] if "f" in values else values["cs_original"])


def bias_type(scores: Row, row: Row) -> str:
    """The bias type of a sample, if the dataset has it."""
    return str(row.get("bias_type", ""))


def control_grid(result: Result) -> Grid:
    """The numbers of the original and the control group side by side, then those that contrast them."""
    sides = [
        Line(label, tuple(Estimate.of(result, f"{name}_{side}") for side in ("original", "control")))
        for name, label in LINES["sides"].items()
    ]
    contrasts = [Line(text, (Estimate.of(result, name), EMPTY)) for name, text in LINES["contrasts"].items()]
    lines: list[Line] = []
    for section in (sides, contrasts):
        defined = [line for line in section if any(not math.isnan(one.value) for one in line.estimates)]
        lines += [replace(line, ends_section=line is defined[-1]) for line in defined]
    return Grid(("original", "control"), tuple(lines))


_control_measure = partial(
    load_measure,
    statistic=control_bias,
    inputs=control_inputs,
    value=_value,
    topic=bias_type,
    grid=control_grid,
)
QUADRUPLETS = _control_measure("quadruplets", probe=quadruplets.QUADRUPLETS)
CROWS = _control_measure("crows", probe=quadruplets.CROWS)


def control_choice_grid(result: Result) -> Grid:
    """How often the stereotype is chosen in both pairs, then f and what the answers are like."""
    both = tuple(Estimate.of(result, f"choice_{pair}") for pair in ("original", "control"))
    lines = [Line("the stereotype is chosen", both, ends_section=True)]
    lines += number_lines(result, LINES["control_choices"], "f_choice", columns=2)
    return Grid(("original", "control"), tuple(lines), "0 = never chosen, 1 = always")


CONTROL_CHOICE = load_measure(
    "control-choice",
    statistic=control_choice_rate,
    value=label_values("option"),
    topic=bias_type,
    grid=control_choice_grid,
)


# --- StereoSet


def stereoset_inputs(scores: pa.Table, rows: datasets.Dataset | None) -> Inputs:
    """The three candidates' scores, English targets and bias types."""
    if rows is None:
        raise TypeError("pass the dataset's rows: StereoSet's targets are read from them")
    label = rows.features["bias_type"]
    by_id = {row["id"]: row for row in rows.select_columns(["id", "target_en", "bias_type"]).to_list()}
    scored = [by_id[name] for name in scores["id"].to_pylist()]
    bias_types = [row["bias_type"] for row in scored]
    return {
        "predictions": rows_of_columns(scores, stereoset.CANDIDATES),
        "references": [row["target_en"] for row in scored],
        "bias_types": label.int2str(bias_types) if isinstance(label, datasets.ClassLabel) else bias_types,
    }


def stereoset_grid(result: Result) -> Grid:
    """All samples, bias types, and the multi-class means, in per cent."""
    lines = [
        Line(name, tuple(Estimate.of(part, score) for score in _SCORES), count=part["n"], bold=part is result)
        for name, part in {"all": result, **result["by_bias_type"]}.items()
    ]
    lines[-1] = replace(lines[-1], ends_section=True)
    micro = tuple(Estimate.of(result, name) for name in ("multiclass_lms", "multiclass_ss", "micro_icat"))
    macro = (EMPTY, EMPTY, Estimate.of(result, "macro_icat"))
    lines += [Line("multi-class, micro", micro), Line("multi-class, macro", macro)]
    return Grid(_SCORES, tuple(lines))


_measure = partial(
    load_measure,
    statistic=stereoset_icat,
    inputs=stereoset_inputs,
    value=lambda scores: scores["stereotype"].to_numpy() - scores["antistereotype"].to_numpy(),
    topic=bias_type,
    grid=stereoset_grid,
)
INTRASENTENCE = _measure("stereoset_intrasentence", probe=stereoset.INTRASENTENCE)
INTERSENTENCE = _measure("stereoset_intersentence", probe=stereoset.INTERSENTENCE)
