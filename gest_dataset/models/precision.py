"""How far half precision moves the scores of a run on a CPU: some of its samples beside float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import psutil
import pyarrow as pa

from gest_dataset.measures.measure import Measure
from gest_dataset.models.device import bfloat16_unit
from gest_dataset.models.loading import Loaded
from gest_dataset.statistics.checks import Floats

# So many samples, spread over the run, tell the size of the error
SAMPLES = 16
_FLOAT32_BYTES = 4
_PROBABILITIES = ("stereotype", "antistereotype")


def is_half(loaded: Loaded) -> bool:
    """Whether a model runs in half precision on a CPU; on a GPU that is the default."""
    return loaded.place == "cpu" and str(loaded.model.dtype) in ("torch.bfloat16", "torch.float16")


def no_room(loaded: Loaded) -> str | None:
    """Why the model is not loaded a second time, in float32."""
    needed = _FLOAT32_BYTES * loaded.model.num_parameters()
    if needed < psutil.virtual_memory().available:
        return None
    return f"its error beside float32 is not measured: that takes {needed / 2**30:.0f} GB of free memory"


def some(scores: pa.Table) -> list[str]:
    """The ids of samples from the first to the last one, and of one for each template that has a score."""
    ids = scores["id"].to_pylist()
    places = {round(i) for i in np.linspace(0, len(ids) - 1, min(SAMPLES, len(ids)))}
    if "template" in scores.column_names:
        templates = scores["template"].to_pylist()
        places |= {templates.index(template) for template in set(templates)}
    return list(dict.fromkeys(ids[i] for i in sorted(places)))


def error(measure: Measure, half: pa.Table, exact: pa.Table) -> dict[str, Any]:
    """The median and the largest difference of the scores that both tables have a value for."""
    keys = [name for name in ("id", "template") if name in exact.column_names]
    own = dict(zip(_keys(half, keys), _log_ratios(measure, half), strict=True))
    theirs = dict(zip(_keys(exact, keys), _log_ratios(measure, exact), strict=True))
    differences = np.abs([own[key] - theirs[key] for key in theirs if key in own])
    differences = differences[np.isfinite(differences)]
    if not differences.size:
        return {"samples": 0, "median": None, "largest": None}
    return {
        "samples": int(differences.size),
        "median": float(np.median(differences)),
        "largest": float(differences.max()),
    }


def told(measure: Measure, dtype: str, found: dict[str, Any]) -> str:
    """What is said of it beside the numbers of the run."""
    if not found["samples"]:
        return f"{dtype}: no sample has a score in both this type and float32"
    return (
        f"{dtype} moves {_what(measure)} by {found['median']:.2g} in the median and by "
        f"{found['largest']:.2g} at most, on {found['samples']} samples that were asked in float32 too"
    )


def slow(dtype: str) -> str | None:
    """What is said of a type that this CPU does not multiply."""
    if dtype == "bfloat16" and bfloat16_unit() is not None:
        return None
    lacking = "neither AMX nor AVX512-BF16" if dtype == "bfloat16" else "no unit for it that is used"
    return f"this CPU does not compute in {dtype} ({lacking}): float32 is faster and exact"


def _log_ratios(measure: Measure, table: pa.Table) -> Floats:
    """The scores of the samples; of StereoSet's probabilities, of any size, the logarithm of their ratio."""
    assert measure.display is not None
    if not set(_PROBABILITIES) <= set(table.column_names):
        return measure.display.value(table)
    stereotype, antistereotype = (np.log(table[name].to_numpy()) for name in _PROBABILITIES)
    return np.asarray(stereotype - antistereotype)


def _what(measure: Measure) -> str:
    assert measure.display is not None
    assert measure.probe is not None
    of_probabilities = set(_PROBABILITIES) <= set(measure.probe.scores)
    return "ln of stereotype / anti-stereotype" if of_probabilities else measure.display.score_label


def _keys(table: pa.Table, names: list[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))
