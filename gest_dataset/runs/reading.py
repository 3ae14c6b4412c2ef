"""Runs on disk, where they are and how they are read: a manifest, a table of samples and a result.

    DIR/run.json        what is needed to say and to repeat the run (`Run.manifest`)
    DIR/scores.parquet  one row a sample and template (detections.parquet for masculine rates)
    DIR/result.json     the statistic with its intervals, and the samples that have no score
    DIR/report.html     the same for people

docs/runs.md lists the keys.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from gest_dataset.data.parquet import read_table
from gest_dataset.errors import DataError, OutputError
from gest_dataset.runs.manifest import MANIFEST, RESULT, Manifest, read_manifest
from gest_dataset.storage import parse_json

logger = logging.getLogger(__name__)

HOME = Path("gest-runs")
REPORT = "report.html"


@dataclass(frozen=True)
class Run:
    """A finished run as it lies on disk: `manifest` is run.json, `result` is result.json."""

    path: Path
    manifest: Manifest
    table: pa.Table
    result: dict[str, Any]


def default_folder(name: str, revision: str | None = None, limit: int | None = None) -> Path:
    """Where a model's or a translator's runs are kept when nobody says, by its id or its path.

    Something on this disk is called by its folder and its own name, so that `a/checkpoint-500` and
    `b/checkpoint-500` stay apart; by its own name alone in the current directory.

    >>> default_folder("EleutherAI/pythia-70m", revision="step1000", limit=5).as_posix()
    'gest-runs/EleutherAI--pythia-70m@step1000-limit5'
    """
    path = Path(name).expanduser()
    if path.exists():
        path = path.resolve()
        own = path.stem if path.is_file() else path.name
        name = own if path.parent == Path.cwd() else f"{path.parent.name}/{own}"
    name += f"@{revision}" if revision else ""
    name += f"-limit{limit}" if limit else ""
    name = name.strip("/").replace("/", "--").replace(":", "-")
    return HOME / re.sub(r"[^\w.@-]", "_", name)


def read_run(path: str | Path) -> Run:
    """The run in a directory; an error says what is wrong with one that is none.

    The bytes that are checked against the manifest are those that are read.
    """
    path = Path(path)
    manifest = read_manifest(path)
    command = shlex.join(manifest.command)
    if not manifest.done:
        raise OutputError(f"The run in {path} is not finished. The same command goes on with it: {command}")
    try:
        contents = {name: (path / name).read_bytes() for name in (manifest.table, RESULT)}
        changed = [name for name, content in contents.items() if sha256(content) != manifest.files[name]]
        if changed:
            raise DataError(
                f"{path / changed[0]} is not as the run has written it: it was damaged, or changed by hand, "
                f"and its numbers cannot be trusted. Put the file back, or remove the directory and run "
                f"again: {command}"
            )
        table = read_table(pa.BufferReader(contents[manifest.table]))
        result = parse_json(contents[RESULT])
    except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
        raise DataError(
            f"The run in {path} is damaged: {error}. Remove the directory and run again: {command}"
        ) from error
    return Run(path, manifest, table, result)


def sha256(content: bytes) -> str:
    """What a manifest says of a file."""
    return hashlib.sha256(content).hexdigest()


def find_runs(paths: Iterable[str | Path | Run]) -> list[Run]:
    """The runs in some paths; each is a run or a directory with runs somewhere below it.

    A run below a directory that is not finished is left out, and said.
    """
    runs: dict[Path, Run] = {}
    for place in paths:
        if isinstance(place, Run):
            runs.setdefault(place.path.resolve(), place)
            continue
        path = Path(place)
        below = sorted(file.parent for file in path.rglob(MANIFEST)) if path.is_dir() else []
        wanted = [path]
        if below and path not in below:
            wanted = [folder for folder in below if read_manifest(folder).done]
            for folder in sorted({*below} - {*wanted}):
                logger.warning("%s is left out: the run is not finished.", folder)
        if not wanted:
            raise OutputError(f"There is no finished run below {path}.")
        for folder in wanted:
            runs.setdefault(folder.resolve(), read_run(folder))
    return list(runs.values())
