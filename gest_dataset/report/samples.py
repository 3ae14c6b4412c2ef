"""The samples with the most extreme scores, with their texts where the data can be had."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import datasets
import numpy as np

from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.errors import GestError
from gest_dataset.report.figures_controls import scores as control_scores
from gest_dataset.report.measured import CONTROLS, Measured
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import STEREOTYPES

logger = logging.getLogger(__name__)

EACH_END = 10
# For each probe: what its score is called, and the fields of a row that show the sample
_TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "templates": ("ln P(w_m) − ln P(w_f)", ("sentence",)),
    "pairs": ("ln P(w_m) − ln P(w_f)", ("masculine", "feminine")),
    "winobias": ("ln P(w_m) − ln P(w_f)", ("masculine", "feminine")),
    "quadruplets": ("f, or cs without keywords", ("original_stereotype", "original_antistereotype")),
    "crows": ("cs", ("stereotyped", "other")),
    "stereoset_intrasentence": (
        "stereotype − anti-stereotype",
        ("context", "stereotype", "antistereotype"),
    ),
    "stereoset_intersentence": (
        "stereotype − anti-stereotype",
        ("context", "stereotype", "antistereotype"),
    ),
}


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
    for one in runs:
        if one.probe not in _TEXTS:
            continue
        kind, fields = _TEXTS[one.probe]
        kinds.append(kind)
        table, values = one.run.table, _values(one)
        there = np.flatnonzero(np.isfinite(values))
        order = there[np.argsort(values[there], kind="stable")][::-1]
        if len(order) > 2 * EACH_END:
            order = np.r_[order[:EACH_END], order[-EACH_END:]]
        ids = table["id"].to_pylist()
        texts, note = _texts(one, {ids[place] for place in order}, fields)
        notes += [note] if note else []
        templates = (
            table["template"].to_pylist() if "template" in table.column_names else [0] * table.num_rows
        )
        about = _about(one, texts)
        rows += [
            Extreme(
                one.label,
                ids[place],
                about(int(place), ids[place]),
                templates[place],
                float(values[place]),
                tuple(str(texts[ids[place]][field]) for field in fields) if ids[place] in texts else (),
                one.language,
            )
            for place in order
        ]
    return Samples(rows, list(dict.fromkeys(kinds)), list(dict.fromkeys(notes)))


def _values(one: Measured) -> Floats:
    """The score of each row of a run's table."""
    table = one.run.table
    if "log_ratio" in table.column_names:
        return np.asarray(table["log_ratio"].to_numpy(), dtype=float)
    if one.probe in CONTROLS:
        found = control_scores(one)
        return found["f"] if "f" in found else found["cs_original"]
    return np.asarray(table["stereotype"].to_numpy() - table["antistereotype"].to_numpy(), dtype=float)


def _about(one: Measured, texts: dict[str, dict[str, Any]]) -> Callable[[int, str], str]:
    """What a sample is about: its stereotype, its occupation's gender, or its kind of bias."""
    table = one.run.table
    if "log_ratio" in table.column_names and "stereotype" in table.column_names:
        numbers = table["stereotype"].to_pylist()
        return lambda place, _: f"{numbers[place]} {STEREOTYPES[numbers[place]].name}"
    if "occupation_gender" in table.column_names:
        genders = table["occupation_gender"].to_pylist()
        return lambda place, _: f"{genders[place]} occupation"
    return lambda _, name: str(texts.get(name, {}).get("bias_type", ""))


def _texts(
    one: Measured, ids: set[str], fields: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], str | None]:
    """The rows of some samples by id, and why there are none."""
    if one.config not in CONFIGS:
        return {}, f"{one.config} is data of your own: its samples are listed by id."
    try:
        rows = datasets.load_dataset("gest", one.config, split="test")
    except (GestError, OSError) as error:
        logger.info("the sentences of %s: %s", one.config, error)
        return {}, f"The sentences of {one.config} were not at hand when this page was made."
    label = rows.features.get("bias_type")
    found = {}
    for row in rows.to_list():
        if row["id"] in ids:
            if isinstance(label, datasets.ClassLabel):
                row["bias_type"] = label.int2str(row["bias_type"])
            found[row["id"]] = row
    if one.facts.get("data_fingerprint") == fingerprint(CONFIGS[one.config]):
        return found, None
    return found, (
        f"The run was scored with another version of {one.config} or of this package, so some of its "
        f"sentences may have been a little different."
    )


def skipped(one: Measured) -> list[tuple[str, int]]:
    """The reasons why samples have no score, the most frequent first."""
    reasons = one.facts.get("skipped") or one.facts.get("problems") or {}
    return sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
