"""Runs on disk, the writing side: one process at a time, the same settings or none, whole files.

run.json says `running` -> shards while the model is asked -> scores.parquet, result.json ->
run.json says `done` -> the shards are removed
"""

from __future__ import annotations

import json
import platform
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from gest_dataset.errors import OutputError
from gest_dataset.files import LOCK, alone, foreign, replacing, write_json
from gest_dataset.runs import reading
from gest_dataset.runs.reading import DONE, FORMAT, MANIFEST, REPORT, RESULT, RUNNING, TABLES, Run
from gest_dataset.scoring.shards import Shards
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.version import __version__

KIND = "score"
_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers")
_SHARDS = "shards"
OWN = {MANIFEST, RESULT, REPORT, TABLES[KIND], LOCK, _SHARDS}


@dataclass(frozen=True)
class Record:
    """A run that is being written; `finished` is the one that is already there."""

    path: Path
    manifest: dict[str, Any]
    store: Shards
    finished: Run | None


def versions() -> dict[str, str]:
    """The versions that numbers can depend on."""
    found = {package: version(package) for package in _PACKAGES}
    return {"gest_dataset": __version__, "python": platform.python_version(), **found}


def machine(device: torch.device) -> dict[str, Any]:
    """What the last digits of a number depend on, beside versions."""
    if device.type == "cuda":
        return {"processor": torch.cuda.get_device_name(device)}
    cpu = torch.backends.cpu.get_cpu_capability() if device.type == "cpu" else device.type
    return {"processor": f"{platform.machine()} {cpu}", "threads": torch.get_num_threads()}


@contextmanager
def recording(
    path: Path, command: Sequence[str], settings: Mapping[str, Any], device: torch.device
) -> Iterator[Record]:
    """The run of a directory, new, to go on with or finished; other processes are kept out of it."""
    settings = reading.plain(dict(settings))
    prepare(path, OWN)
    with alone(path):
        shards = path / _SHARDS
        fresh = {
            "format": FORMAT,
            "kind": KIND,
            "status": RUNNING,
            "command": list(command),
            "settings": settings,
            "versions": versions(),
            "machine": machine(device),
            "seeds": {"bootstrap": SEED, "draws": DRAWS},
            "started": _now(),
        }
        manifest = fresh
        if (path / MANIFEST).exists():
            manifest = reading.read_manifest(path)
            _check_same(path, manifest, fresh)
        finished = reading.read(path) if manifest["status"] == DONE else None
        if finished:
            shutil.rmtree(shards, ignore_errors=True)  # of a run that was killed at its very end
        else:
            write_json(path / MANIFEST, reading.plain(manifest))
        yield Record(path, manifest, Shards(shards), finished)


def finish(record: Record, table: pa.Table, result: dict[str, Any], told: dict[str, Any]) -> Run:
    """Write what a run has found; `told` are the manifest's entries that are known at the end only."""
    facts = {"settings": record.manifest["settings"], "signature": told["signature"]}
    table = table.replace_schema_metadata({"gest": json.dumps(facts, sort_keys=True)})
    with replacing(record.path / TABLES[KIND]) as partial:
        pq.write_table(table, partial)
    write_json(record.path / RESULT, reading.plain(result))
    manifest = record.manifest | {"status": DONE} | reading.plain(told) | {"finished": _now()}
    write_json(record.path / MANIFEST, reading.plain(manifest))
    shutil.rmtree(record.store.directory, ignore_errors=True)
    return reading.read(record.path)


def prepare(path: Path, own: set[str]) -> None:
    """Make a directory; one that holds anything else than `own` and no run is refused."""
    others = foreign(path, own)
    if others and (path / others[0] / MANIFEST).exists():
        raise OutputError(
            f"{path} holds several runs, {others[0]} among them. Choose a directory of its own for this one "
            f"with --output, such as {path / others[0]} for the same config."
        )
    if others and not (MANIFEST in own and (path / MANIFEST).exists()):
        raise OutputError(
            f"{path} holds {others[0]}, which is no part of a run. Choose an empty or a new directory "
            f"with --output."
        )


def _check_same(path: Path, there: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to mix two runs; what a finished run was computed with need not be here any more."""
    if there["kind"] != KIND:
        raise OutputError(f"{path} holds a run of another kind ({there['kind']}). Choose another --output.")
    parts = ["settings"] if there["status"] == DONE else ["versions", "machine", "settings"]
    differences = [line for part in parts for line in reading.differences(there[part], now[part])]
    if differences:
        listed = "\n".join(differences)
        state = "a finished run" if there["status"] == DONE else "an unfinished run"
        raise OutputError(
            f"{path} holds {state} that is not of the same:\n{listed}\n"
            f"Choose another directory with --output. That run was: {shlex.join(there['command'])}"
        )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
