"""Masculine rates of a translator: translate GEST, find the gender of each sentence, count.

The experiment of section 4.1 of Pikuliak et al. (2024); `statistics.masculine_rate` has the formulas.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import load_dataset

from gest_dataset.builders.translations import FOLDER_OF_SYSTEM
from gest_dataset.files import alone, replacing, write_json
from gest_dataset.gender import Detection
from gest_dataset.runs import reading
from gest_dataset.statistics import masculine_rate
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.statistics.masculine_rate import UNKNOWN
from gest_dataset.translation.outputs import prepare
from gest_dataset.translation.samples import TranslatedSentence, join, sentences, wanted
from gest_dataset.translation.setup import SNAPSHOT, Setup
from gest_dataset.version import __version__

KIND = "masculine-rate"
_PACKAGES = ("datasets", "numpy", "torch", "transformers", "ufal.udpipe")
_SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "stereotype": pa.int32(),
        "source": pa.string(),
        "translation": pa.string(),
        "gender": pa.string(),
        "rule": pa.string(),
        "evidence": pa.list_(pa.string()),
        "conflict": pa.bool_(),
        "problem": pa.string(),
    }
)


@dataclass(frozen=True)
class Detections:
    """The gender of every sentence: `table` has a row for each, `metadata` counts and times."""

    table: pa.Table
    metadata: dict[str, Any]

    def inputs(self) -> dict[str, list[Any]]:
        """What the metric `gest_masculine_rate` takes."""
        return {
            "predictions": self.table["gender"].to_pylist(),
            "references": self.table["stereotype"].to_pylist(),
        }

    def result(self, convention: str = "plain") -> dict[str, Any]:
        """p_1 .. p_16, p_f, p_m, f_s and f_m with their intervals."""
        inputs = self.inputs()
        return masculine_rate(inputs["predictions"], inputs["references"], convention)

    @property
    def problems(self) -> list[dict[str, Any]]:
        """The rows that no rule was asked about, with the reason."""
        return [row for row in self.table.to_pylist() if row["problem"]]


def measure(setup: Setup) -> Detections:
    """Translate, parse and decide."""
    start = perf_counter()
    samples = _published(setup) if setup.translator is None else _translated(setup)
    translated = perf_counter()
    whole = [sample for sample in samples if not sample.problem]
    genders = setup.genders([sample.translation for sample in whole])
    found = {sample.id: one for sample, one in zip(whole, genders, strict=True)}
    rows = [_row(sample, found.get(sample.id)) for sample in samples]
    metadata = {
        "system": setup.settings["system"],
        "language": setup.language,
        "config": setup.settings["data"],
        "samples": len(rows),
        "known": sum(row["gender"] != UNKNOWN for row in rows),
        "conflicts": sum(row["conflict"] for row in rows),
        "problems": dict(Counter(row["problem"] for row in rows if row["problem"])),
        "seconds": {"translate": translated - start, "detect": perf_counter() - translated},
    }
    return Detections(pa.Table.from_pylist(rows, schema=_SCHEMA), metadata)


def _translated(setup: Setup) -> list[TranslatedSentence]:
    given = sentences(setup.limit)
    return join(given, setup.ask(wanted(given, setup.system)))


def _published(setup: Setup) -> list[TranslatedSentence]:
    label = list(FOLDER_OF_SYSTEM).index(setup.system.removeprefix(SNAPSHOT))
    data = load_dataset("gest", setup.settings["data"], split="test")
    rows = [row for row in data.to_list() if row["system"] == label]
    # samples are called as their sentences are, whoever translated them, so that runs can be paired
    ending = f"-{setup.language}-{setup.system.removeprefix(SNAPSHOT)}"
    return [
        TranslatedSentence(
            row["id"].removesuffix(ending), row["stereotype"], row["source"], row["translation"]
        )
        for row in rows[: setup.limit]
    ]


def _row(sample: TranslatedSentence, found: Detection | None) -> dict[str, Any]:
    return {
        "id": sample.id,
        "stereotype": sample.stereotype,
        "source": sample.source,
        "translation": sample.translation,
        "gender": found.gender if found else UNKNOWN,
        "rule": found.rule if found else "",
        "evidence": list(found.evidence) if found else [],
        "conflict": found.conflict if found else False,
        "problem": found.problem if found else sample.problem,
    }


def default_folder(setup: Setup, revision: str | None) -> Path:
    """Where a run is kept when nobody says: of a model or a file by its path, of a service by its name."""
    kind, _, name = setup.system.replace("{language}", setup.language).partition(":")
    called = name if kind in {"hf", "file"} else setup.system
    return reading.default_folder(called, revision, setup.limit) / setup.language


@contextmanager
def writing(
    folder: Path, setup: Setup, convention: str, command: Sequence[str]
) -> Iterator[Callable[[Detections, Mapping[str, Any]], None]]:
    """A run's directory (docs/runs.md), claimed before the work; the function writes what was found."""
    table = reading.TABLES[KIND]
    settings = {**setup.settings, "convention": convention}
    prepare(
        folder,
        reading.MANIFEST,
        settings,
        frozenset({reading.MANIFEST, reading.RESULT, reading.REPORT, table}),
    )
    finished = _is_done(folder)
    signature = setup.signature(convention)
    start = perf_counter()
    manifest: dict[str, Any] = {
        "format": reading.FORMAT,
        "kind": KIND,
        "status": reading.RUNNING,
        "command": list(command),
        "settings": settings,
        "versions": {
            "gest_dataset": __version__,
            "python": python_version(),
            **{name: version(name) for name in _PACKAGES},
        },
        "seeds": {"bootstrap": SEED, "draws": DRAWS},
        "started": _now(),
        "signature": signature,
    }

    def write(found: Detections, result: Mapping[str, Any]) -> None:
        write_json(folder / reading.MANIFEST, manifest)
        (folder / reading.REPORT).unlink(missing_ok=True)  # of what was here before
        with replacing(folder / table) as partial:
            pq.write_table(found.table, partial)
        skipped = found.problems
        content = {
            "config": setup.settings["data"],
            "probe": KIND,
            "result": dict(result),
            "signature": signature,
            "skipped": {
                "id": [row["id"] for row in skipped],
                "reason": [row["problem"] for row in skipped],
            },
        }
        write_json(folder / reading.RESULT, reading.plain(content))
        done = {"metadata": found.metadata, "seconds": perf_counter() - start, "finished": _now()}
        write_json(folder / reading.MANIFEST, reading.plain({**manifest, "status": reading.DONE, **done}))

    with alone(folder):
        if not finished:  # a finished run stays one until there is another to take its place
            write_json(folder / reading.MANIFEST, manifest)
        yield write


def _is_done(folder: Path) -> bool:
    path = folder / reading.MANIFEST
    return path.exists() and json.loads(path.read_text(encoding="utf-8"))["status"] == reading.DONE


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
