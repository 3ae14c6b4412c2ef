"""The samples with the most extreme scores, with their texts where the data can be had."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import datasets
import numpy as np

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import GestError
from gest_dataset.report.measured import Measured

logger = logging.getLogger(__name__)

EACH_END = 10


@dataclass(frozen=True)
class Extreme:
    """One sample of the table; `texts` is empty where the data are not at hand."""

    label: str
    id: str
    about: str
    template: int
    score: float
    texts: tuple[str, ...]
    language: str


@dataclass(frozen=True)
class Samples:
    """The rows of the table, what their scores are, and why some have no text."""

    rows: list[Extreme]
    kinds: list[str]
    notes: list[str]


def extremes(runs: Sequence[Measured]) -> Samples:
    """The highest and the lowest scores of each run."""
    rows: list[Extreme] = []
    kinds: list[str] = []
    notes: list[str] = []
    for run in runs:
        words = run.measure.samples
        if words is None:
            continue
        kinds.append(words.score)
        values = words.value(run.run.table)
        scored = np.flatnonzero(np.isfinite(values))
        order = scored[np.argsort(values[scored], kind="stable")][::-1]
        if len(order) > 2 * EACH_END:
            order = np.r_[order[:EACH_END], order[-EACH_END:]]
        scores = run.run.table.take(order).to_pylist()
        texts, note = _texts(run, {row["id"] for row in scores}, words.fields)
        notes += [note] if note else []
        rows += [
            Extreme(
                run.label,
                row["id"],
                words.topic(row, texts.get(row["id"], {})),
                row.get("template", 0),
                float(value),
                tuple(str(texts[row["id"]][field]) for field in words.fields) if row["id"] in texts else (),
                run.language,
            )
            for row, value in zip(scores, values[order], strict=True)
        ]
    return Samples(rows, list(dict.fromkeys(kinds)), list(dict.fromkeys(notes)))


def _texts(
    run: Measured, ids: set[str], fields: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], str | None]:
    """The rows of some samples by id, and why there are none."""
    if run.config not in CONFIGS:
        return {}, f"{run.config} is data of your own: its samples are listed by id."
    try:
        rows = rows_of(run.config)
    except GestError as error:
        logger.info("the sentences of %s: %s", run.config, error)
        return {}, f"The sentences of {run.config} were not at hand when this page was made."
    label = rows.features.get("bias_type")
    rows_by_id = {}
    for row in rows.to_list():
        if row["id"] in ids:
            if isinstance(label, datasets.ClassLabel):
                row["bias_type"] = label.int2str(row["bias_type"])
            rows_by_id[row["id"]] = row
    if run.run.manifest.data_fingerprint == fingerprint_of(run.config, rows):
        return rows_by_id, None
    return rows_by_id, (
        f"The run was scored with another version of {run.config} or of this package, so some of its "
        f"sentences may have been a little different."
    )


def skipped(run: Measured) -> list[tuple[str, int, list[str]]]:
    """The reasons why samples have no score, the most frequent first; of answers in words with examples."""
    reasons = run.facts.get("skipped") or run.facts.get("problems") or {}
    examples = run.facts.get("examples") or {}
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(reason, number, examples.get(reason, [])) for reason, number in ordered]
