"""The error of half precision on a CPU: some samples of a run are scored again in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from gest_dataset.measures.measure import Measure

SAMPLES = 16


def sample_ids(scores: pa.Table) -> set[str]:
    """Evenly spaced samples, and one for each template that has a score."""
    frame = scores.to_pandas()
    rows = np.linspace(0, len(frame) - 1, min(SAMPLES, len(frame))).round().astype(int)
    ids = set(frame["id"].iloc[rows])
    return ids if "template" not in frame else ids | set(frame.groupby("template")["id"].first())


def precision_error(measure: Measure, half: pa.Table, exact: pa.Table) -> dict[str, Any]:
    """The median and the largest difference of the scores that both tables have."""
    differences = (_log_ratios(measure, half) - _log_ratios(measure, exact)).abs()
    differences = differences[np.isfinite(differences)]
    if differences.empty:
        return {"samples": 0, "median": None, "largest": None}
    median, largest = float(differences.median()), float(differences.max())
    return {"samples": len(differences), "median": median, "largest": largest}


def precision_note(dtype: str, error: dict[str, Any]) -> str:
    """The error in words."""
    if not error["samples"]:
        return f"{dtype}: no sample has a score both in this type and in float32"
    return (
        f"{dtype} changes a log ratio by {error['median']:.2g} (median) and at most {error['largest']:.2g}, "
        f"on {error['samples']} samples that were also scored in float32"
    )


def _log_ratios(measure: Measure, table: pa.Table) -> pd.Series[float]:
    """The scores by id and template; for StereoSet, the log ratios of its probabilities."""
    frame = table.to_pandas()
    if "unrelated" in frame:
        values = np.log(frame["stereotype"]) - np.log(frame["antistereotype"])
    else:
        assert measure.display is not None
        values = measure.display.value(table)
    names = [name for name in ("id", "template") if name in frame]
    return frame.assign(value=values).groupby(names)["value"].last()
