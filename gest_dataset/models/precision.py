"""The error of half precision on a CPU: some samples of a run are scored again in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from gest_dataset.measures.measure import Measure

SAMPLES = 16


def sample_ids(scores: pa.Table) -> set[str]:
    """Evenly spaced samples, and one for each template that has a score."""
    ids = scores["id"].to_pylist()
    rows = {round(i) for i in np.linspace(0, len(ids) - 1, min(SAMPLES, len(ids)))}
    if "template" in scores.column_names:
        templates = scores["template"].to_pylist()
        rows |= {templates.index(template) for template in set(templates)}
    return {ids[i] for i in rows}


def precision_error(measure: Measure, half: pa.Table, exact: pa.Table) -> dict[str, Any]:
    """The median and the largest difference of the scores that both tables have."""
    half_scores, exact_scores = (_log_ratios(measure, table) for table in (half, exact))
    differences = np.abs([half_scores[key] - exact_scores[key] for key in exact_scores if key in half_scores])
    differences = differences[np.isfinite(differences)]
    if not differences.size:
        return {"samples": 0, "median": None, "largest": None}
    median, largest = float(np.median(differences)), float(differences.max())
    return {"samples": int(differences.size), "median": median, "largest": largest}


def precision_note(dtype: str, error: dict[str, Any]) -> str:
    """The error in words."""
    if not error["samples"]:
        return f"{dtype}: no sample has a score both in this type and in float32"
    return (
        f"{dtype} changes a log ratio by {error['median']:.2g} (median) and at most {error['largest']:.2g}, "
        f"on {error['samples']} samples that were also scored in float32"
    )


def _log_ratios(measure: Measure, table: pa.Table) -> dict[Any, float]:
    """The scores by id and template; for StereoSet, the log ratios of its probabilities."""
    if "unrelated" in table.column_names:
        values = np.log(table["stereotype"].to_numpy()) - np.log(table["antistereotype"].to_numpy())
    else:
        assert measure.display is not None
        values = measure.display.value(table)
    keys = [table[name].to_pylist() for name in ("id", "template") if name in table.column_names]
    return dict(zip(zip(*keys, strict=True), values.tolist(), strict=True))
