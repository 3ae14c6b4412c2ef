"""Files and folders that are never half-written and never written by two processes at once."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from gest_dataset.errors import OutputError

LOCK = ".lock"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
CHOOSE = "Choose an empty or a new folder."


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder while this one writes to it."""
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise OutputError(
            f"Another process is writing to {folder}. Wait for it to end, or choose another folder."
        ) from error
    except OSError as error:
        raise OutputError(f"{folder} cannot be written to: {error}. Choose another folder.") from error
    try:
        yield
    finally:
        (folder / LOCK).unlink(missing_ok=True)
        lock.release()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends well.

    Its content is on the disk before it has its name, so that not even a lost machine leaves a file
    that is not whole.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{path.name}.*"):  # by a process that was killed
            left.unlink()
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        partial = Path(name)
        try:
            yield partial
            with partial.open("rb") as file:
                os.fsync(file.fileno())
            partial.chmod(0o644)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else str(error)
        raise OutputError(
            f"{path} could not be written: {reason}. Nothing half-written was left; make room or "
            f"choose another folder, and run the same command again."
        ) from error


def claim(folder: Path, ours: Callable[[Path], bool], what: str) -> None:
    """Make a folder for files of ours; one that holds anything else is refused."""
    others = foreign(folder, ours)
    if others:
        raise OutputError(f"{folder} holds {others[0]}, which is no part of {what}. {CHOOSE}")


def foreign(folder: Path, ours: Callable[[Path], bool]) -> list[str]:
    """Make a folder, and list what is in it and not ours."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return sorted(path.name for path in folder.iterdir() if not ours(path))
    except OSError as error:
        raise OutputError(f"{folder} cannot be used: {error}. {CHOOSE}") from error


def among(names: Iterable[str]) -> Callable[[Path], bool]:
    """Whether a file has one of these names, or was on its way to it."""
    known = frozenset(names)
    return lambda path: any(is_left_of(path, name) for name in known)


def is_left_of(path: Path, name: str) -> bool:
    """A file of that name, or what a process that was killed left of it."""
    return path.name == name or path.name.startswith(f".{name}.")


def write_json(path: Path, content: Any) -> None:
    """A JSON file, to be read by people as well."""
    with replacing(path) as partial:
        text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
        partial.write_text(f"{text}\n", encoding="utf-8")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV; what is not there is empty.

    A text that a spreadsheet would take for a formula gets an apostrophe in front (OWASP, "CSV
    injection"): names of models and configs are somebody else's.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value


def plain(value: Any) -> Any:
    """A value as JSON knows it: numpy's types become Python's, what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # an array, or a scalar of numpy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def check_new_file(path: Path, *inputs: Path) -> None:
    """A file to write is no folder, and none of those that are read: replacing one would lose it."""
    if path.is_dir():
        raise OutputError(f"{path} is a folder. Give the name of a file with --output.")
    if any(path.exists() and source.exists() and path.samefile(source) for source in inputs):
        raise OutputError(f"{path} is read, and would be lost. Choose another file with --output.")
