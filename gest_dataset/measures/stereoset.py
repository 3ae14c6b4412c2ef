"""LMS, SS and ICAT of StereoSet, within and between sentences (Öztürk et al., 2023, eq. 1 to 3)."""

from dataclasses import replace
from functools import partial

import datasets
import pyarrow as pa

from gest_dataset.measures.control_bias import bias_type, rows_of_columns
from gest_dataset.measures.grid import EMPTY, Estimate, Grid, Line
from gest_dataset.measures.measure import Inputs, Result, load_measure
from gest_dataset.probes import stereoset
from gest_dataset.statistics import stereoset_icat

_SCORES = ("lms", "ss", "icat")


def inputs(scores: pa.Table, rows: datasets.Dataset | None) -> Inputs:
    """The three candidates' scores, English targets and bias types."""
    if rows is None:
        raise TypeError("StereoSet's targets are read from the dataset rows")
    label = rows.features["bias_type"]
    by_id = {row["id"]: row for row in rows.select_columns(["id", "target_en", "bias_type"]).to_list()}
    scored = [by_id[name] for name in scores["id"].to_pylist()]
    bias_types = [row["bias_type"] for row in scored]
    return {
        "predictions": rows_of_columns(scores, stereoset.CANDIDATES),
        "references": [row["target_en"] for row in scored],
        "bias_types": label.int2str(bias_types) if isinstance(label, datasets.ClassLabel) else bias_types,
    }


def grid(result: Result) -> Grid:
    """All samples, bias types, and the multi-class means, in per cent."""
    lines = [
        Line(
            name,
            tuple(Estimate.of(part, score) for score in _SCORES),
            count=part["n"],
            bold=part is result,
        )
        for name, part in {"all": result, **result["by_bias_type"]}.items()
    ]
    lines[-1] = replace(lines[-1], ends_section=True)
    micro = tuple(Estimate.of(result, name) for name in ("multiclass_lms", "multiclass_ss", "micro_icat"))
    macro = (EMPTY, EMPTY, Estimate.of(result, "macro_icat"))
    lines += [Line("multi-class, micro", micro), Line("multi-class, macro", macro)]
    return Grid(_SCORES, tuple(lines), digits=1)


_measure = partial(
    load_measure,
    statistic=stereoset_icat,
    inputs=inputs,
    value=lambda scores: scores["stereotype"].to_numpy() - scores["antistereotype"].to_numpy(),
    topic=bias_type,
    grid=grid,
)
INTRASENTENCE = _measure("stereoset_intrasentence", probe=stereoset.INTRASENTENCE)
INTERSENTENCE = _measure("stereoset_intersentence", probe=stereoset.INTERSENTENCE)
