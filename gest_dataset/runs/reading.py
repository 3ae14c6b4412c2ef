"""Runs on disk, where they are and how they are read: a manifest, a table of samples and a result.

    DIR/run.json        what is needed to repeat the run (`Run.manifest`)
    DIR/scores.parquet  one row a sample and template (detections.parquet for masculine rates)
    DIR/result.json     the statistic with its intervals, and the samples that have no score
    DIR/report.html     the same for people

docs/runs.md lists the keys.
"""

from __future__ import annotations

import json
import logging
import math
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset.errors import DataError, OutputError

logger = logging.getLogger(__name__)

FORMAT = 1
HOME = Path("gest-runs")
MANIFEST, RESULT, REPORT = "run.json", "result.json", "report.html"
RUNNING, DONE = "running", "done"
_NEEDED = {"format", "kind", "status", "command", "settings"}
# Kind of run -> the file of its samples
TABLES = {"score": "scores.parquet", "masculine-rate": "detections.parquet"}


@dataclass(frozen=True)
class Run:
    """A finished run as it lies on disk: `manifest` is run.json, `result` is result.json."""

    path: Path
    manifest: dict[str, Any]
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


def read(path: str | Path) -> Run:
    """The run in a directory; an error says what is wrong with one that is none."""
    path = Path(path)
    manifest = read_manifest(path)
    if manifest["status"] != DONE:
        command = shlex.join(manifest["command"])
        raise OutputError(f"The run in {path} is not finished. The same command goes on with it: {command}")
    try:
        table = pq.read_table(path / TABLES[manifest["kind"]])
        result = json.loads((path / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
        raise DataError(
            f"The run in {path} is damaged: {error}. Remove the directory and run again: "
            f"{shlex.join(manifest['command'])}"
        ) from error
    return Run(path, manifest, table, result)


def read_manifest(path: Path) -> dict[str, Any]:
    """The run.json of a directory, finished or not, if this version can read it."""
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        what = "holds no run.json" if path.is_dir() else "is no directory"
        raise OutputError(
            f"{path} {what}, so it is no run. Give a directory that `gest score --output` has written."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}. Remove the directory and run again.") from error
    if not isinstance(manifest, dict) or not set(manifest) >= _NEEDED:
        raise OutputError(f"{file} is not of `gest`: it has not all of {', '.join(sorted(_NEEDED))}.")
    if manifest["format"] != FORMAT:
        age = "an older" if isinstance(manifest["format"], int) and manifest["format"] < FORMAT else "a newer"
        by = manifest.get("versions", {}).get("gest_dataset", "?")
        raise OutputError(
            f"The run in {path} is of {age} format ({manifest['format']}, written by gest-dataset {by}; "
            f"this version reads {FORMAT}). Read it with that version, or run again into another directory."
        )
    if manifest["kind"] not in TABLES:
        raise OutputError(f"{file}: there is no kind of run {manifest['kind']!r}, only {', '.join(TABLES)}.")
    return manifest


def differences(there: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """A line for each entry of two tables of settings that is not the same."""
    return [
        f"  {name}: {_shown(there.get(name))} there, {_shown(now.get(name))} now"
        for name in dict.fromkeys([*there, *now])
        if there.get(name) != now.get(name)
    ]


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    is_hash = len(text) == 64 and set(text) <= set("0123456789abcdef")
    return f"{text[:12]}…" if is_hash else text


def find(paths: Iterable[str | Path]) -> list[Run]:
    """The runs in some paths; each is a run or a directory with runs somewhere below it.

    A run below a directory that is not finished is left out, and said.
    """
    found: dict[Path, Run] = {}
    for path in map(Path, paths):
        below = sorted(file.parent for file in path.rglob(MANIFEST)) if path.is_dir() else []
        if path in below or not below:
            found.setdefault(path.resolve(), read(path))
            continue
        finished = []
        for one in below:
            if read_manifest(one)["status"] == DONE:
                finished.append(one)
            else:
                logger.warning("%s is left out: the run is not finished.", one)
        if not finished:
            raise OutputError(f"There is no finished run below {path}.")
        for one in finished:
            found.setdefault(one.resolve(), read(one))
    return list(found.values())


def plain(value: Any) -> Any:
    """A value as JSON knows it: numpy's types become Python's, what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # an array, or a scalar of numpy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
