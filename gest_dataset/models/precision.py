"""The error of half precision on a CPU: some samples of a run are scored again in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import psutil
import pyarrow as pa

from gest_dataset.measures.measure import Measure
from gest_dataset.models.device import has_bfloat16_unit
from gest_dataset.models.loading import LoadedModel
from gest_dataset.statistics.checks import Floats

SAMPLES = 16
_FLOAT32_BYTES = 4
_PROBABILITIES = ("stereotype", "antistereotype")


def is_half_on_cpu(loaded: LoadedModel) -> bool:
    """Whether a model runs in half precision on a CPU (on a GPU that is the default)."""
    return loaded.device_name == "cpu" and str(loaded.model.dtype) in ("torch.bfloat16", "torch.float16")


def missing_memory(loaded: LoadedModel) -> str | None:
    """A note if there is no memory to load the model again in float32."""
    needed = _FLOAT32_BYTES * loaded.model.num_parameters()
    if needed < psutil.virtual_memory().available:
        return None
    return (
        f"the error of half precision is not measured: float32 needs {needed / 2**30:.0f} GB of free memory"
    )


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
    keys = [name for name in ("id", "template") if name in exact.column_names]
    half_scores, exact_scores = (
        dict(
            zip(
                zip(*(table[key].to_pylist() for key in keys), strict=True),
                _scores(measure, table),
                strict=True,
            )
        )
        for table in (half, exact)
    )
    shared = [key for key in exact_scores if key in half_scores]
    differences = np.abs([half_scores[key] - exact_scores[key] for key in shared])
    differences = differences[np.isfinite(differences)]
    if not differences.size:
        return {"samples": 0, "median": None, "largest": None}
    return {
        "samples": int(differences.size),
        "median": float(np.median(differences)),
        "largest": float(differences.max()),
    }


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


def slowness_note(dtype: str) -> str | None:
    """A note if this CPU has no unit for a number type."""
    if dtype == "bfloat16" and has_bfloat16_unit():
        return None
    return f"this CPU has no fast unit for {dtype}, so float32 is faster and exact"


def _scores(measure: Measure, table: pa.Table) -> Floats:
    """The scores of the samples; for StereoSet, the log-ratios of its probabilities."""
    assert measure.display is not None
    if not set(_PROBABILITIES) <= set(table.column_names):
        return measure.display.value(table)
    stereotype, antistereotype = (np.log(table[name].to_numpy()) for name in _PROBABILITIES)
    return np.asarray(stereotype - antistereotype)
