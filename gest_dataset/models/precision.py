"""The error of half precision on a CPU: some samples of a run are scored again in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import psutil
import pyarrow as pa

from gest_dataset.measures.measure import Measure
from gest_dataset.models.device import has_bfloat16_unit
from gest_dataset.models.loading import LoadedModel

SAMPLES = 16
_PROBABILITIES = ("stereotype", "antistereotype")


def is_half_on_cpu(loaded: LoadedModel) -> bool:
    """Whether a model runs in half precision on a CPU (on a GPU that is the default)."""
    return loaded.device_name == "cpu" and str(loaded.model.dtype) in ("torch.bfloat16", "torch.float16")


def warnings_on(loaded: LoadedModel) -> list[str]:
    """Notes if the CPU is slow in this number type, or if float32 does not fit into memory."""
    notes = []
    dtype = str(loaded.model.dtype).removeprefix("torch.")
    if dtype != "bfloat16" or not has_bfloat16_unit():
        notes.append(f"this CPU has no fast unit for {dtype}, so float32 is faster and exact")
    if not fits_in_float32(loaded):
        notes.append("the error of half precision is not measured: float32 does not fit into memory")
    return notes


def fits_in_float32(loaded: LoadedModel) -> bool:
    """Whether there is enough memory to load the model again in float32."""
    return bool(4 * loaded.model.num_parameters() < psutil.virtual_memory().available)


def sample_ids(scores: pa.Table) -> list[str]:
    """Evenly spaced samples, and one for each template that has a score."""
    ids = scores["id"].to_pylist()
    rows = {round(i) for i in np.linspace(0, len(ids) - 1, min(SAMPLES, len(ids)))}
    if "template" in scores.column_names:
        templates = scores["template"].to_pylist()
        rows |= {templates.index(template) for template in set(templates)}
    return list(dict.fromkeys(ids[i] for i in sorted(rows)))


def error_of(measure: Measure, half: pa.Table, exact: pa.Table) -> dict[str, Any]:
    """The median and the largest difference of the scores that both tables have."""
    half_scores, exact_scores = (_scores(measure, table) for table in (half, exact))
    differences = np.abs([half_scores[key] - exact_scores[key] for key in exact_scores if key in half_scores])
    differences = differences[np.isfinite(differences)]
    if not differences.size:
        return {"samples": 0, "median": None, "largest": None}
    median, largest = float(np.median(differences)), float(differences.max())
    return {"samples": int(differences.size), "median": median, "largest": largest}


def error_note(measure: Measure, dtype: str, error: dict[str, Any]) -> str:
    """The error in words."""
    if not error["samples"]:
        return f"{dtype}: no sample has a score both in this type and in float32"
    assert measure.display is not None
    assert measure.probe is not None
    is_probability = set(_PROBABILITIES) <= set(measure.probe.scores)
    score = "ln of stereotype / anti-stereotype" if is_probability else measure.display.score_label
    return (
        f"{dtype} changes {score} by {error['median']:.2g} (median) and at most {error['largest']:.2g}, on "
        f"{error['samples']} samples that were also scored in float32"
    )


def _scores(measure: Measure, table: pa.Table) -> dict[Any, float]:
    """The scores by id and template; for StereoSet, the log-ratios of its probabilities."""
    assert measure.display is not None
    if set(_PROBABILITIES) <= set(table.column_names):
        stereotype, antistereotype = (np.log(table[name].to_numpy()) for name in _PROBABILITIES)
        values = np.asarray(stereotype - antistereotype)
    else:
        values = measure.display.value(table)
    keys = [table[name].to_pylist() for name in ("id", "template") if name in table.column_names]
    return dict(zip(zip(*keys, strict=True), values.tolist(), strict=True))
