"""What lm-evaluation-harness calls: rows as its documents, its answers as scores, scores as g_s.

The files of `gest lm-eval-tasks` name these functions. Their import also registers `gest` with `datasets`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import datasets
import numpy as np
import pyarrow as pa

from gest_dataset.harness.contrasts import contrasts
from gest_dataset.measures import MEASURES, measure_of
from gest_dataset.measures.result import compute_result

logger = logging.getLogger(__name__)
LOG_RATIO = "log_ratio"
RATES = ("g_s", "g_s_low", "g_s_high")


class Sample(NamedTuple):
    """A score, and all that the statistic needs to know of it."""

    measure: str
    id: str
    template: int
    about: Any
    unit: Any
    log_ratio: float


def docs(rows: datasets.Dataset) -> datasets.Dataset:
    """A document for each row and template: `context` and `choices`, the masculine one first."""
    measure, probe = measure_of(rows.column_names, rows.info.config_name or "the data")
    assert probe.label is not None
    feature = rows.features[probe.label]
    made: list[dict[str, Any]] = []
    for row in rows.to_list():
        about = row[probe.label]
        for template, asked in contrasts(row, probe).items():
            made.append(
                {
                    "measure": measure.name,
                    "id": row["id"],
                    "template": template,
                    "about": feature.int2str(about) if isinstance(feature, datasets.ClassLabel) else about,
                    "unit": row.get(measure.unit.column or ""),
                    "context": asked.context,
                    "choices": [asked.masculine, asked.feminine],
                }
            )
    return datasets.Dataset.from_list(made)


def process_results(
    doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]
) -> dict[str, float | Sample]:
    """ln P(masculine continuation) - ln P(feminine one); for the rates with what is known of the sample."""
    (masculine, _), (feminine, _) = results
    log_ratio = masculine - feminine
    known = {name: doc[name] for name in Sample._fields if name != LOG_RATIO}
    return {LOG_RATIO: log_ratio, **dict.fromkeys(RATES, Sample(**known, log_ratio=log_ratio))}


def mean_log_ratio(values: Sequence[float]) -> float:
    """The mean of the scores; its level depends on words and templates and means nothing by itself."""
    return float(np.mean(values))


def g_s(samples: Sequence[Sample]) -> float:
    """The stereotype rate, of several templates their mean."""
    return _rates(tuple(samples))["g_s"]


def g_s_low(samples: Sequence[Sample]) -> float:
    """The lower bound of its 95 % interval."""
    return _rates(tuple(samples))["g_s_low"]


def g_s_high(samples: Sequence[Sample]) -> float:
    """The upper bound."""
    return _rates(tuple(samples))["g_s_high"]


@lru_cache(maxsize=1)  # the rates of a task are asked for one after the other
def _rates(samples: tuple[Sample, ...]) -> dict[str, float]:
    """The numbers of `gest score` on these samples, whatever order they come in."""
    scored = [sample for sample in samples if math.isfinite(sample.log_ratio)]
    if len(scored) < len(samples):
        logger.warning(
            "%d of %d samples have no score: the model's values are not finite. Load it with dtype=float32.",
            len(samples) - len(scored),
            len(samples),
        )
    if not scored:
        return dict.fromkeys(RATES, math.nan)
    measure = MEASURES[scored[0].measure]
    assert measure.probe is not None
    columns = dict(zip(Sample._fields, zip(*scored, strict=True), strict=True))
    table = pa.table(
        {
            "id": columns["id"],
            "template": pa.array(columns["template"], pa.int32()),
            str(measure.probe.label): columns["about"],
            LOG_RATIO: pa.array(columns[LOG_RATIO], pa.float64()),
        }
    )
    named = {"id": columns["id"], **({measure.unit.column: columns["unit"]} if measure.unit.column else {})}
    result = compute_result(measure, table, datasets.Dataset.from_dict(named))
    return {name: float(result[name]) for name in RATES}
