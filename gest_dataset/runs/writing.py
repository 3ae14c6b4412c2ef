"""Runs on disk, the writing side: one process at a time, the same settings or none, whole files.

run.json says `running` -> what is kept on the way -> the table, result.json -> run.json says `done`
"""

from __future__ import annotations

import json
import logging
import platform
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from importlib.metadata import version
from inspect import signature as parameters_of
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from gest_dataset.data.parquet import write_table
from gest_dataset.errors import OutputError
from gest_dataset.runs.manifest import DONE, MANIFEST, RESULT, Manifest, differences, read_manifest
from gest_dataset.runs.progress import SCRATCH
from gest_dataset.runs.reading import REPORT, Run, read_run, sha256
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.storage import (
    CHOOSE,
    LOCK,
    check_folder,
    folder_lock,
    foreign_files,
    json_value,
    write_json,
)
from gest_dataset.version import __version__

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)
_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers", "ufal.udpipe")


class Finding(Protocol):
    """What a run has found: samples, those that were left out, and what is said of them."""

    @property
    def table(self) -> pa.Table: ...

    @property
    def skipped(self) -> pa.Table: ...

    @property
    def metadata(self) -> dict[str, Any]: ...

    @property
    def signature(self) -> str: ...

    def result(self) -> dict[str, Any]:
        """The statistic with its intervals."""
        ...


@dataclass(frozen=True)
class Record:
    """A run that is being written.

    `scratch` is for what is kept on the way: there while the run goes on, and removed at its end.
    `finished` is the run that is already there; it stays until another one takes its place.
    """

    path: Path
    manifest: Manifest
    scratch: Path
    finished: Run | None


def versions() -> dict[str, str]:
    """The versions that numbers can depend on."""
    packages = {package: version(package) for package in _PACKAGES}
    return {"gest_dataset": __version__, "python": platform.python_version(), **packages}


def machine(device: torch.device | None) -> dict[str, Any]:
    """What the last digits of a number depend on, beside versions; no device: nothing runs in torch."""
    if device is None:
        return {"processor": platform.machine()}
    import torch  # takes seconds, and a file of translations needs none

    if device.type == "cuda":
        return {"processor": torch.cuda.get_device_name(device)}
    cpu = torch.backends.cpu.get_cpu_capability() if device.type == "cpu" else device.type
    return {"processor": f"{platform.machine()} {cpu}", "threads": torch.get_num_threads()}


def begun(
    *, settings: Mapping[str, Any], command: Sequence[str], device: torch.device | None, **about: Any
) -> Manifest:
    """The manifest of a run that begins here and now; `about` are its entries that name what it is of."""
    return Manifest(
        **about,
        command=list(command),
        settings=json_value(dict(settings)),
        versions=versions(),
        machine=machine(device),
        seeds={"bootstrap": SEED, "draws": DRAWS},
        started=_now(),
    )


@contextmanager
def threads_of(path: Path, device: torch.device | None) -> Iterator[None]:
    """On a CPU the threads that an unfinished run began with; its floats depend on how many there are.

    A launcher gives each process fewer than there are cores, and a run may go on without it.
    """
    there = claim_run(path)
    kept = there is not None and not there.done and (path / SCRATCH).exists()
    began = there.machine.get("threads") if there is not None and kept else None
    if device is None or device.type != "cpu" or not isinstance(began, int):
        yield
        return
    import torch

    before = torch.get_num_threads()
    if began != before:
        logger.warning("The run goes on with the %d threads that it began with (here: %d).", began, before)
    torch.set_num_threads(began)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def claim_run(path: Path) -> Manifest | None:
    """Make a run's folder, or take one that holds a run: its manifest. One with anything else is refused."""
    others = foreign_files(path, {MANIFEST, LOCK})
    if (path / MANIFEST).exists():
        return read_manifest(path)
    if others and (path / others[0] / MANIFEST).exists():
        raise OutputError(
            f"{path} holds several runs, {others[0]} among them. Choose a directory of its own for this one "
            f"with --output, such as {path / others[0]} for the same config."
        )
    if others:
        raise OutputError(f"{path} holds {others[0]}, which is no part of a run. {CHOOSE}")
    return None


def claim_several(path: Path, names: Iterable[str]) -> None:
    """Make a folder for runs and what else is called by these names, and the report of them."""
    check_folder(path, {*names, REPORT, LOCK}, "a folder of runs")


@contextmanager
def recording(path: Path, fresh: Manifest) -> Iterator[Record]:
    """The run of a directory, new, to go on with or finished; other processes are kept out of it."""
    claim_run(path)
    with folder_lock(path):
        there = claim_run(path)
        scratch = path / SCRATCH
        if there is not None:
            kept = there.done or scratch.exists() or (path / there.table).exists()
            if kept:
                _check_same(path, there, fresh)
            else:  # it has come to nothing, and what it was to be need not be what this one is
                there = None
        finished = read_run(path) if there is not None and there.done else None
        manifest = fresh if there is None or finished else there
        if finished:
            shutil.rmtree(scratch, ignore_errors=True)  # of a run that was killed at its very end
        else:
            write_json(path / MANIFEST, manifest.to_json())
        yield Record(path, manifest, scratch, finished)


def finish(record: Record, finding: Finding) -> Run:
    """Write what a run has finding."""
    path, manifest = record.path, record.manifest
    if record.finished:
        write_json(path / MANIFEST, manifest.to_json())
    (path / REPORT).unlink(missing_ok=True)  # of what was here before
    facts = {"settings": manifest.identity(), "signature": finding.signature}
    table = finding.table.replace_schema_metadata({"gest": json.dumps(facts, sort_keys=True)})
    write_table(path / manifest.table, table)
    told = {
        "config": manifest.config,
        "measure": manifest.measure,
        "result": finding.result(),
        "signature": finding.signature,
        "skipped": finding.skipped.to_pydict(),
    }
    write_json(path / RESULT, json_value(told))
    done = replace(
        manifest,
        status=DONE,
        signature=finding.signature,
        metadata=json_value(finding.metadata),
        seconds=finding.metadata["seconds"],
        finished=_now(),
        files={name: sha256((path / name).read_bytes()) for name in (manifest.table, RESULT)},
    )
    write_json(path / MANIFEST, done.to_json())
    shutil.rmtree(record.scratch, ignore_errors=True)
    return read_run(path)


def python_call(function: Callable[..., Any], given: Mapping[str, Any]) -> list[str]:
    """A call in Python as a command; what was handed over loaded is told by its class."""
    defaults = parameters_of(function).parameters
    call = ", ".join(
        f"{name}={_argument(value)}" for name, value in given.items() if value != defaults[name].default
    )
    return ["python", "-c", f"import gest_dataset; gest_dataset.{function.__name__}({call})"]


def _argument(value: Any) -> str:
    if isinstance(value, Path):
        return repr(str(value))
    parts = value if isinstance(value, (list, tuple)) else [value]
    if all(part is None or isinstance(part, (str, int, float)) for part in parts):
        return repr(value)
    return f"<{type(parts[0]).__name__}>"


def _check_same(path: Path, there: Manifest, now: Manifest) -> None:
    """Refuse to mix two runs; what a finished run was computed with need not be here any more."""
    lines = differences(there.identity(), now.identity())
    if not there.done:
        lines += differences(there.versions, now.versions) + differences(there.machine, now.machine)
    if lines:
        listed = "\n".join(lines)
        state = "a finished run" if there.done else "an unfinished run"
        raise OutputError(
            f"{path} holds {state} that is not of the same:\n{listed}\n"
            f"Choose another directory with --output. That run was: {shlex.join(there.command)}"
        )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
