"""Finished runs whose scores are planted: written by what writes every run, so that all readers take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import gest_dataset
from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.data.rows import rows_of
from gest_dataset.measures import measure_of
from gest_dataset.models.scores import Scores
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
    templates = sorted({*columns.get("template", ())} - {0})
    metadata = {
        **settings,
        "model": model,
        "config": config,
        "measure": measure.name,
        "data_fingerprint": fingerprint(CONFIGS[config]),
        "templates": templates,
        "device": "cpu",
        "packages": {"torch": "0", "transformers": "0"},
        "samples": len(rows),
        "asked": len(columns["id"]),
        "scored": len(columns["id"]),
        "seconds": 0.0,
        "gest_dataset": gest_dataset.__version__,
    }
    fresh = run_folder.new_manifest(
        measure=measure.name,
        model=model,
        config=config,
        language=CONFIGS[config].languages[0],
        data_fingerprint=fingerprint(CONFIGS[config]),
        table=SCORES,
        settings=settings,
        command=["gest", "score", model],
        device=None,
    )
    with run_folder.open_run(path, fresh) as there:
        left_out = pa.Table.from_pylist(
            [dict(zip(("id", "template", "reason"), entry, strict=True)) for entry in skipped]
        )
        there.finish(Scores(pa.table(dict(columns)), left_out if skipped else _NO_SAMPLE, metadata, rows))
    return path


def translated(path: Path, language: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A run of masculine rates: rows with id, stereotype, source, translation, gender and problem."""
    config = "en"
    metadata = {
        "measure": "masculine-rate",
        "system": "planted",
        "revision": "",
        "translator": "",
        "language": language,
        "config": config,
        "data_fingerprint": fingerprint(CONFIGS[config]),
        "parser": "",
        "limit": None,
        "convention": "plain",
        "samples": len(rows),
        "known": sum(row["gender"] != "unknown" for row in rows),
        "conflicts": 0,
        "problems": {},
        "seconds": 0.0,
        "gest_dataset": gest_dataset.__version__,
    }
    fresh = run_folder.new_manifest(
        measure="masculine-rate",
        model="planted",
        config=config,
        language=language,
        data_fingerprint=fingerprint(CONFIGS[config]),
        table=DETECTIONS,
        settings={"convention": "plain"},
        command=["gest", "masculine-rate"],
        device=None,
    )
    with run_folder.open_run(path, fresh) as there:
        there.finish(MasculineRates(pa.Table.from_pylist(list(map(dict, rows))), metadata))
    return path
