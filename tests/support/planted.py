"""Finished runs whose scores are planted: written by what writes every run, so that all readers take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import gest_dataset
from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.data.rows import rows_of
from gest_dataset.measures import measure_of
from gest_dataset.models.score_run import Scores
from gest_dataset.runs import folder as run_folder
from gest_dataset.runs.manifest import DETECTIONS, SCORES
from gest_dataset.translation.masculine_rates import MasculineRates

_NO_SAMPLE = pa.table({"id": pa.array([], pa.string()), "reason": pa.array([], pa.string())})


def scored(
    path: Path,
    model: str,
    config: str,
    columns: Mapping[str, Sequence[Any]],
    kind: str = "masked",
    skipped: Sequence[tuple[str, int, str]] = (),
    **told: Any,
) -> Path:
    """A run of a model on a config, with these columns of scores; `told` are further settings.

    `skipped` are samples without a score: id, template and reason.
    """
    rows = rows_of(config)
    measure, _ = measure_of(rows.column_names, config)
    settings = {"kind": kind, "revision": None, "limit": None, "dtype": "float32", "options": {}, **told}
    metadata = settings | {
        "templates": sorted({*columns.get("template", ())} - {0}),
        "device": "cpu",
        "packages": {"torch": "0", "transformers": "0"},
        "samples": len(rows),
        "asked": len(columns["id"]),
        "scored": len(columns["id"]),
    }
    names = ("id", "template", "reason")
    left_out = pa.Table.from_pylist([dict(zip(names, entry, strict=True)) for entry in skipped])
    facts = _facts(measure.name, model, config)
    table, left_out = pa.table(dict(columns)), left_out if skipped else _NO_SAMPLE
    result = Scores(table, left_out, metadata | facts, rows)
    return _write(path, facts, CONFIGS[config].languages[0], SCORES, settings, "score", result)


def translated(path: Path, language: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A run of masculine rates: rows with id, stereotype, source, translation, gender and problem."""
    problems = [row["problem"] for row in rows if row.get("problem")]
    facts = _facts("masculine-rate", "planted", "en")
    metadata = facts | {
        "system": "planted",
        "revision": "",
        "translator": "",
        "language": language,
        "parser": "",
        "limit": None,
        "convention": "plain",
        "samples": len(rows),
        "known": sum(row["gender"] != "unknown" for row in rows),
        "conflicts": 0,
        "problems": {problem: problems.count(problem) for problem in problems},
    }
    del metadata["model"]
    result = MasculineRates(pa.Table.from_pylist(list(map(dict, rows))), metadata)
    return _write(path, facts, language, DETECTIONS, {"convention": "plain"}, "masculine-rate", result)


@dataclass(frozen=True, repr=False)
class _Numbers(MasculineRates):
    """A run of which only the result matters."""

    numbers: dict[str, Any]

    def result(self) -> dict[str, Any]:
        return self.numbers


def measured(path: Path, measure: str, system: str, language: str, numbers: dict[str, Any]) -> Path:
    """A run of a translator with this result."""
    facts = _facts(measure, system, {"masculine-rate": "en", "entity-gender": "winomt"}[measure])
    table = pa.table({"id": ["1"], "problem": [""]})
    signed = ("system", "revision", "translator", "parser", "limit", "convention")
    metadata = facts | dict.fromkeys(signed, "") | {"language": language}
    return _write(path, facts, language, DETECTIONS, {}, measure, _Numbers(table, metadata, numbers))


def _facts(measure: str, model: str, config: str) -> dict[str, Any]:
    return {
        "measure": measure,
        "model": model,
        "config": config,
        "data_fingerprint": fingerprint(CONFIGS[config]),
        "seconds": 0.0,
        "gest_dataset": gest_dataset.__version__,
    }


def _write(
    path: Path, facts: dict[str, Any], language: str, table: str, settings: Any, command: str, result: Any
) -> Path:
    manifest = run_folder.new_manifest(
        measure=facts["measure"],
        model=facts["model"],
        config=facts["config"],
        language=language,
        data_fingerprint=facts["data_fingerprint"],
        table=table,
        settings=settings,
        command=["gest", command],
        device=None,
    )
    with run_folder.open_run(path, manifest) as run:
        run.finish(result)
    return path
