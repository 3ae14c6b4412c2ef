"""Reading and writing of files: atomic writes, locks, checks of folders, JSON and CSV."""

import csv
import errno
import hashlib
import io
import json
import math
import os
import shutil
import stat
import sys
import tempfile
import uuid
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock, Timeout

from gest_dataset.display import csv_cell, printable
from gest_dataset.errors import ConfigError, OutputError

LOCK = ".gest.lock"
STANDARD_OUTPUT = Path("-")
CHOOSE = "Choose an empty or a new folder."
_PARTIAL = ".gest.part"
# Bounds on files that others wrote: bytes; values of a YAML file, and how deep they are nested
_LARGEST, _MOST_VALUES, _DEEPEST = 1 << 30, 100_000, 100


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Lock a folder while this process writes to it."""
    with file_lock(folder / LOCK, f"Another process is writing to {folder}"):
        remove_temporary(folder)
        try:
            yield
        finally:
            (folder / LOCK).unlink(missing_ok=True)


@contextmanager
def file_lock(path: Path, busy: str) -> Iterator[None]:
    """Hold a lock file; raise an OutputError that starts with `busy` if another process holds it."""
    lock = FileLock(path, timeout=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise OutputError(f"{busy}. Wait until it has finished, or choose another folder.") from error
    except OSError as error:
        raise OutputError(f"{path.parent} is not writable: {error}. Choose another folder.") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` when the block succeeds.

    A reader sees the old file or the whole new one. Symbolic links are followed and an existing file
    keeps its mode. `-`, pipes and devices receive the content when it is complete.
    """
    is_stream = path == STANDARD_OUTPUT or (path.exists() and not path.is_file() and not path.is_dir())
    target = Path(tempfile.gettempdir(), path.name) if is_stream else Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}{_PARTIAL}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.touch(mode=0o600 if is_stream else 0o666, exist_ok=False)
        try:
            if target.exists() and not is_stream:
                shutil.copymode(target, partial)
            yield partial
            if is_stream:
                _send(path, partial.read_bytes())
            else:
                with partial.open("rb") as file:
                    os.fsync(file.fileno())
                partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(
            f"{path} could not be written: {error}. The previous content is unchanged; "
            f"free some space or choose another folder, then run the command again."
        ) from error


def _send(path: Path, content: bytes) -> None:
    """Write to `-`, a pipe or a device; a terminal gets no control characters."""
    sys.stdout.flush()
    if path != STANDARD_OUTPUT:
        path.write_bytes(content)
    elif sys.stdout.isatty():
        sys.stdout.write(printable(content.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(content)
    sys.stdout.flush()


def check_folder(folder: Path, is_ours: Callable[[Path], bool] | Container[str], owner: str) -> None:
    """Create a folder for files of ours; refuse it if it holds anything else.

    `is_ours` is a test or the allowed names; `owner` names what writes them, for the message.
    """
    if others := foreign_files(folder, is_ours):
        raise OutputError(f"{folder} contains {others[0]}, which is not part of {owner}. {CHOOSE}")


def foreign_files(folder: Path, is_ours: Callable[[Path], bool] | Container[str]) -> list[str]:
    """Create a folder if needed, and list the files in it that are neither ours nor locks."""
    allowed = is_ours if callable(is_ours) else lambda path: path.name in is_ours
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = [path for path in folder.iterdir() if path.name != LOCK and not is_temporary(path)]
        return sorted(path.name for path in others if not allowed(path))
    except OSError as error:
        raise OutputError(f"{folder} cannot be used: {error}. {CHOOSE}") from error


def is_temporary(path: Path) -> bool:
    """Whether a file is the temporary file of an atomic write, which a killed process may leave."""
    return path.name.startswith(".") and path.name.endswith(_PARTIAL)


def remove_temporary(folder: Path) -> None:
    """Remove what a killed process left in a folder; other processes may be writing to folders below it."""
    for path in filter(is_temporary, folder.iterdir()):
        path.unlink(missing_ok=True)


def check_output_file(path: Path, *inputs: Path) -> None:
    """Refuse an output file that is a folder or one of the inputs."""
    if path.is_dir():
        raise ConfigError(f"{path} is a folder. Pass a file name to --output.")
    if any(path.exists() and source.exists() and path.samefile(source) for source in inputs):
        raise ConfigError(f"{path} is an input and would be overwritten. Pass another file to --output.")


def sha256(content: bytes) -> str:
    """The SHA-256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


def update_hash(digest: Any, path: Path) -> None:
    """Add the content of a file to a hash of `hashlib`, in chunks."""
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a whole file atomically; texts in UTF-8."""
    with atomic_path(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)


def write_json(path: Path, content: Any) -> None:
    """Write an indented JSON file; control characters are escaped."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    write_file(path, f"{printable(text)}\n")


def read_yaml(path: Path) -> Any:
    """The content of a YAML file of this package."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster, if PyYAML has it
    return yaml.load(path.read_text(encoding="utf-8"), loader)


def json_value(value: Any) -> Any:
    """A value of plain JSON types: numpy types become Python's, NaN and infinity become None."""
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if hasattr(value, "tolist"):  # an array or a scalar of numpy
        return json_value(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def read_bytes(path: Path) -> bytes:
    """The content of a file that others wrote: a pipe, a device or a huge file would never end."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
        raise OSError(errno.EINVAL, f"it is not a regular file of at most {_LARGEST >> 20} MB")
    return path.read_bytes()


def parse_yaml(text: str | bytes, kind: Callable[[str | bytes], Any] = yaml.SafeLoader) -> Any:
    """Parse untrusted YAML; every failure is a ValueError, also nesting and aliases that never end."""
    loader = kind(text)
    try:
        depth = 0  # deep nesting ends a process that uses libyaml
        for event in yaml.parse(text, kind):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise ValueError(f"it is nested more than {_DEEPEST} times")
        node = loader.get_single_node()
        if node is not None and _expanded_size(node, {}) > _MOST_VALUES:
            raise ValueError(f"it has more than {_MOST_VALUES:,} values, with aliases expanded")
        return None if node is None else loader.construct_document(node)
    except Exception as error:  # PyYAML raises nearly anything
        raise ValueError(str(error) or repr(error)) from error
    finally:
        loader.dispose()


def _expanded_size(node: yaml.Node, sizes: dict[int, float]) -> float:
    """The number of values in a node if aliases were copies; infinite if it contains itself."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in sizes:
        sizes[id(node)] = math.inf  # while the node is being counted
        values = chain.from_iterable(node.value) if isinstance(node, yaml.MappingNode) else node.value
        sizes[id(node)] = 1 + sum(_expanded_size(value, sizes) for value in values)
    return sizes[id(node)]


def parse_json(text: str | bytes) -> Any:
    """Parse untrusted JSON; every failure is a ValueError, also a lone surrogate."""
    try:
        value = json.loads(text)
        if "\\u" in (text if isinstance(text, str) else text.decode()):  # perhaps of a lone surrogate
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV for people: missing values are empty and no cell is a spreadsheet formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([csv_cell(value) for value in row] for row in (columns, *rows))
    return buffer.getvalue()
