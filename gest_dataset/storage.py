"""Files and folders that are never half-written and never written by two processes at once."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from filelock import FileLock, Timeout

from gest_dataset.errors import ConfigError, OutputError
from gest_dataset.printable import csv_cell, printable

try:
    from fcntl import LOCK_EX, LOCK_NB, flock

    _CAN_LOCK = True
except ImportError:  # Windows: what a killed process left stays
    _CAN_LOCK = False

LOCK = ".gest.lock"
STANDARD_OUTPUT = Path("-")
CHOOSE = "Choose an empty or a new folder."


class Hash(Protocol):
    """What `hashlib` makes."""

    def update(self, data: bytes, /) -> None: ...


_OURS = re.compile(r"\.gest-\d+-[0-9a-f]{16}\.part")


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder while this one writes to it."""
    busy = f"Another process is writing to {folder}. Wait for it to end, or choose another folder."
    with locked(folder / LOCK, busy, f"{folder} cannot be written to", "Choose another folder."):
        try:
            yield
        finally:
            (folder / LOCK).unlink(missing_ok=True)


@contextmanager
def locked(path: Path, busy: str, unusable: str, advice: str) -> Iterator[None]:
    """Hold a lock; the texts are for the errors where another process has it, or it cannot be made."""
    lock = FileLock(path, timeout=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise OutputError(busy) from error
    except OSError as error:
        raise OutputError(f"{unusable}: {error}. {advice}") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path whose content gets to `path` when the block ends well.

    A file is replaced: what stands there is the old one or the whole new one, not even a lost machine
    leaves another. Links are followed to it. A new file has the mode that the umask says, an old one
    keeps its own. What is no file (a pipe, a device, `-` for the standard output) is written to.
    """
    try:
        with _passed_on(path) if _is_a_stream(path) else _beside(Path(os.path.realpath(path))) as partial:
            yield partial
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else str(error)
        raise OutputError(
            f"{path} could not be written: {reason}. Nothing half-written was left; make room or "
            f"choose another folder, and run the same command again."
        ) from error


def _is_a_stream(path: Path) -> bool:
    if path == STANDARD_OUTPUT:
        return True
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return not stat.S_ISREG(kind)


@contextmanager
def _passed_on(path: Path) -> Iterator[Path]:
    """A file elsewhere, for nothing is made beside a device; its bytes are written when there are all."""
    with tempfile.TemporaryDirectory(prefix="gest-") as folder:
        whole = Path(folder) / "whole"
        whole.touch()
        yield whole
        if path == STANDARD_OUTPUT:
            _show(whole.read_bytes())
        else:
            with whole.open("rb") as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)


def _show(content: bytes) -> None:
    """Another program gets the bytes, whatever the locale is; people get what a terminal does not obey."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        sys.stdout.write(printable(content.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(content)
    sys.stdout.flush()


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A file in the same folder that takes the other one's place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _clean(path)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    # nobody else reads on the way what only the owner was to read
    partial, handle = _held(path, 0o666 if mode is None else 0o600)
    try:
        yield partial
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        if mode is not None:
            partial.chmod(mode)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)


def _held(path: Path, mode: int) -> tuple[Path, int | None]:
    """A new file of our own on its way to `path`, locked as long as its handle is open.

    The system takes the lock away from a process that ends, however it ends.
    """
    while True:
        partial = path.with_name(f".{path.name}.gest-{os.getpid()}-{secrets.token_hex(8)}.part")
        handle = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        if not _CAN_LOCK:  # there an open file cannot be renamed
            os.close(handle)
            return partial, None
        if _lock(handle) is not False and os.fstat(handle).st_nlink:
            return partial, handle
        os.close(handle)  # another process came before the lock, and has taken it for left behind


def _lock(handle: int) -> bool | None:
    """Whether the file is locked now; None where the file system has no locks."""
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _clean(path: Path) -> None:
    """Remove what killed processes left on the way to this file: nothing that is not ours, or is held."""
    if not _CAN_LOCK:
        return
    # what cannot be listed, opened or removed is no hindrance: it is another user's, or has just gone
    with suppress(OSError):
        for partial in path.parent.iterdir():
            if _is_on_its_way(partial.name, path.name):
                _remove_if_left(partial)


def _remove_if_left(partial: Path) -> None:
    with suppress(OSError):
        handle = os.open(partial, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode) and _lock(handle):
                partial.unlink()
        finally:
            os.close(handle)


def _is_on_its_way(name: str, wanted: str) -> bool:
    """Whether a file's name is one that `_held` has made for another."""
    return name.startswith(f".{wanted}.") and _OURS.fullmatch(name, len(wanted) + 1) is not None


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
    return path.name == name or _is_on_its_way(path.name, name)


def write_json(path: Path, content: Any) -> None:
    """A JSON file, to be read by people as well."""
    with replacing(path) as partial:
        partial.write_text(f"{json_text(content)}\n", encoding="utf-8")


def json_text(content: Any) -> str:
    """What such a file holds."""
    return printable(json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False))


def feed(digest: Hash, path: Path) -> None:
    """Add a file to a hash, a piece at a time: it may be larger than the memory."""
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV; what is not there is empty.

    A text that a spreadsheet would take for a formula gets an apostrophe in front (OWASP, "CSV
    injection"): names of models and configs are somebody else's.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([csv_cell(value) for value in row] for row in (columns, *rows))
    return buffer.getvalue()


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
    if path == STANDARD_OUTPUT:
        return
    if path.is_dir():
        raise ConfigError(f"{path} is a folder. Give the name of a file with --output.")
    if any(path.exists() and source.exists() and path.samefile(source) for source in inputs):
        raise ConfigError(f"{path} is read, and would be lost. Choose another file with --output.")
