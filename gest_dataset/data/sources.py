"""The pinned upstream files: which they are, and how their verified bytes get to a builder.

`sources.json` is the one table: repository, commit and licence, then path and git blob id.
A file comes from a mirror (`GEST_MIRROR` or `data_dir=`, a directory `<owner>/<repo>/<path>`) or
from GitHub through the Hugging Face cache, and is compared with its git blob id every time.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shlex
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from gest_dataset.data import deadline
from gest_dataset.errors import SourceError, UnreachableError
from gest_dataset.storage import parse_json

UPSTREAM_URL = "https://raw.githubusercontent.com"
MIRROR_VARIABLE = "GEST_MIRROR"
TABLE_VARIABLE = "GEST_SOURCES"
REPO_VARIABLE = "GEST_REPO"  # a data set on the Hub that stands for ours
_TABLE = Path(__file__).with_name("sources.json")
_PAUSES = (1.0, 2.0, 4.0)  # seconds between tries
_TIMEOUT = 30.0
_LARGEST = 1 << 27  # bytes of a file: 128 MiB; the largest source has 3.3 MB, models of UDPipe some tens
_LONGEST = 600.0  # seconds for a file, all tries together
_LARGEST_IN_ALL = 1 << 30  # bytes that a process downloads: all sources and models of UDPipe have less
_LONGEST_IN_ALL = 3600.0  # seconds that a process downloads


def published() -> str:
    """The data set on the Hub (or a folder of `gest build`) that stands for ours; empty where none does."""
    return os.environ.get(REPO_VARIABLE, "").strip()


@dataclass(frozen=True)
class Source:
    """One upstream file at one commit; `blob` is git's id of exactly these bytes."""

    repository: str
    path: str
    commit: str
    blob: str
    licence: str

    @property
    def key(self) -> str:
        """The file's name in the table and its place in a mirror."""
        return f"{self.repository}/{self.path}"

    @property
    def url(self) -> str:
        return f"{UPSTREAM_URL}/{self.repository}/{self.commit}/{self.path}"


@dataclass(frozen=True)
class Verified:
    """The bytes that were compared with a blob id: these are parsed, whatever is at `path` by then."""

    path: Path
    content: bytes = field(repr=False)

    def read_bytes(self) -> bytes:
        return self.content

    def __str__(self) -> str:
        return str(self.path)


def git_blob_id(content: bytes) -> str:
    """Git's id of a file: SHA-1 of the header `blob <size>` and a NUL byte, then the bytes."""
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def table() -> dict[str, Source]:
    """All pinned files by key; `GEST_SOURCES` names another table in the same format."""
    return _read_table(Path(os.environ.get(TABLE_VARIABLE) or _TABLE))


@lru_cache(maxsize=8)
def _read_table(path: Path) -> dict[str, Source]:
    try:
        repositories = parse_json(path.read_text(encoding="utf-8"))
        sources = [
            Source(
                repository=repository,
                path=file,
                commit=_text(entry, "commit"),
                blob=_text(facts, "git_blob"),
                licence=_text(entry, "licence"),
            )
            for repository, entry in repositories.items()
            for file, facts in entry["files"].items()
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(
            f"The table of sources {path} cannot be read ({error!r}).\n"
            f"Set {TABLE_VARIABLE} to a JSON file in the format of {_TABLE}, or unset it."
        ) from error
    return {source.key: source for source in sources}


def _text(entry: Mapping[str, object], name: str) -> str:
    value = entry[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, expected a text")
    return value


def blobs(keys: Iterable[str]) -> list[str]:
    """The pinned blob ids of some files: what a cache key has to depend on."""
    return [_source(key).blob for key in keys]


def licences(keys: Iterable[str]) -> str:
    """The licences of some files, each named once."""
    return ", ".join(dict.fromkeys(_source(key).licence for key in keys))


def mirror_directory(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """The mirror in force: the call's own, else the environment's, else none."""
    name = data_dir or os.environ.get(MIRROR_VARIABLE)
    return Path(name).expanduser() if name else None


def fetch(key: str, data_dir: str | os.PathLike[str] | None = None) -> Verified:
    """An upstream file: read once, and verified as it was read."""
    source = _source(key)
    mirror = mirror_directory(data_dir)
    if mirror is not None:
        return _from_mirror(source, mirror)
    return _from_network(source)


def verify_mirror(keys: Iterable[str], data_dir: str | os.PathLike[str] | None = None) -> None:
    """Compare the files that the mirror in force holds; nothing to do without a mirror."""
    mirror = mirror_directory(data_dir)
    if mirror is not None:
        for source in map(_source, keys):
            if os.path.lexists(mirror / source.key):
                _from_mirror(source, mirror)


def _source(key: str) -> Source:
    try:
        return table()[key]
    except KeyError:
        raise SourceError(
            f"{key} is not in the table of sources ({os.environ.get(TABLE_VARIABLE) or _TABLE})."
        ) from None


def _from_mirror(source: Source, mirror: Path) -> Verified:
    path = mirror / source.key
    if not mirror.is_dir():
        raise SourceError(
            f"The mirror {mirror} is not a directory.\n"
            f"Set {MIRROR_VARIABLE} (or data_dir) to a directory that holds {source.key}, "
            f"or unset it to download."
        )
    command = f"curl --create-dirs -o {shlex.quote(str(path))} {source.url}"
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{path} is not a file.\nRemove it and get the file with: {command}")
        content = _read(path)
    except FileNotFoundError:
        raise SourceError(f"The mirror {mirror} lacks {source.key}.\nGet it with: {command}") from None
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error}.\nGet it again with: {command}") from error
    blob = git_blob_id(content)
    if blob != source.blob:
        reason = f"its git blob id is {blob}, expected {source.blob}"
        if len(content) > _LARGEST:
            reason = f"it is larger than {_LARGEST:,} bytes"
        raise SourceError(f"{path} is not the pinned file: {reason}.\nGet the pinned one with: {command}")
    return Verified(path, content)


def _read(path: Path) -> bytes:
    """A file's bytes, as far as a source may be long and one more: a longer one is not the pinned one."""
    with path.open("rb") as file:
        return file.read(_LARGEST + 1)


def cache_directory() -> Path:
    """Where downloads stay: in the layout of a mirror, so that a copy of it is one."""
    from huggingface_hub.constants import HF_HOME

    return Path(HF_HOME) / "gest" / "upstream"


def _from_network(source: Source) -> Verified:
    from huggingface_hub.utils import WeakFileLock  # type: ignore[attr-defined]

    path = cache_directory() / source.key
    # one partial file per blob: bytes of another commit are never continued
    partial = path.with_name(f"{path.name}.{source.blob[:12]}.incomplete")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with WeakFileLock(path.with_name(path.name + ".lock")):
            if path.exists() and git_blob_id(content := _read(path)) == source.blob:
                return Verified(path, content)
            _download(source, partial)
            content = _read(partial)
            blob = git_blob_id(content)
            if blob != source.blob:
                partial.unlink()
                raise SourceError(
                    f"{source.url} gave other bytes than the pinned ones: git blob id {blob}, "
                    f"expected {source.blob}.\nNothing was kept. A proxy may have changed the "
                    f"file: try again, or set {MIRROR_VARIABLE} to a mirror."
                )
            partial.replace(path)
    except OSError as error:
        raise SourceError(
            f"{source.key} could not be stored in {path.parent}: {error}.\n"
            + _storage_advice(error)
            + " The download goes on where it stopped."
        ) from error
    return Verified(path, content)


def _storage_advice(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "The disk is full: free some space, or set HF_HOME to another disk, and try again."
    return "Set HF_HOME to a directory that can be written, and try again."


class _LineLost(Exception):
    """The transfer broke off, or the server was not well: worth another try."""


class _TooLarge(Exception):
    """More bytes than a file may have."""


class _RangeRefused(Exception):
    """What is here is no beginning of that file."""


@dataclass
class _Spent:
    """What the downloads of this process have taken so far."""

    size: int = 0
    seconds: float = 0.0


_spent = _Spent()


def _download(source: Source, partial: Path) -> None:
    """Bring `partial` to the whole file, going on from the bytes that it already has.

    However the servers answer, it ends: after `_LONGEST` seconds and `_LARGEST` bytes on the disk for a
    file, and for all files of a process after `_LONGEST_IN_ALL` and `_LARGEST_IN_ALL`.
    """
    began = time.monotonic()
    try:
        _try_to_download(source, partial, began)
    finally:
        _spent.seconds += time.monotonic() - began


def _try_to_download(source: Source, partial: Path, began: float) -> None:
    for pause in (*_PAUSES, None):
        spent = time.monotonic() - began
        _check_spent(source, spent)
        done = partial.stat().st_size if partial.exists() else 0
        if done and git_blob_id(_read(partial)) == source.blob:
            return
        try:
            with partial.open("ab") as file:
                for chunk in _stream(source, done, _time_left(spent)):
                    _spent.size += len(chunk)
                    _check_spent(source, time.monotonic() - began)
                    done += len(chunk)
                    if done > _LARGEST:
                        raise _TooLarge
                    file.write(chunk)
            return
        except _TooLarge:
            partial.unlink()
            raise SourceError(
                f"{source.url} gives more than {_LARGEST:,} bytes, which no upstream file has.\n"
                f"Nothing was kept. A proxy may have changed the file: try again, or set "
                f"{MIRROR_VARIABLE} to a mirror."
            ) from None
        except _RangeRefused:
            partial.unlink()
        except _LineLost as error:
            if pause is None:
                raise _unreachable(source, str(error)) from error
            time.sleep(pause)
    raise _unreachable(source, "the server refused every part of the file that was asked for")


def _check_spent(source: Source, seconds: float) -> None:
    """Whether a file that has taken some seconds may take more of this process's time and bytes."""
    if seconds > _LONGEST:
        raise _unreachable(source, f"it took longer than {_LONGEST:.0f} seconds")
    if _spent.seconds + seconds > _LONGEST_IN_ALL:
        limit = f"took longer than {_LONGEST_IN_ALL:,.0f} seconds in all"
    elif _spent.size > _LARGEST_IN_ALL:
        limit = f"gave more than {_LARGEST_IN_ALL:,} bytes in all"
    else:
        return
    raise UnreachableError(
        f"{source.url} was not read to its end: the downloads of this process {limit}, more than all "
        f"upstream files need.\nWhat came is kept: run it again to go on, or set {MIRROR_VARIABLE} to a "
        f"mirror."
    )


def _time_left(seconds: float) -> float:
    """How many seconds a file that has taken some may still take."""
    return min(_LONGEST, _LONGEST_IN_ALL - _spent.seconds) - seconds


def _stream(source: Source, start: int, seconds: float) -> Iterator[bytes]:
    """The bytes of an upstream file from `start` on, for some seconds at most, with a progress bar."""
    from datasets import config
    from huggingface_hub import get_session
    from huggingface_hub.utils import tqdm  # type: ignore[attr-defined]

    if config.HF_HUB_OFFLINE:  # HF_HUB_OFFLINE or HF_DATASETS_OFFLINE
        raise _unreachable(source, "offline mode is set")
    headers = {**deadline.HEADERS, "Accept-Encoding": "identity"}  # ranges count plain bytes
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        with (
            deadline.ending_after(seconds) as extensions,
            get_session().stream(
                "GET", source.url, headers=headers, timeout=_TIMEOUT, extensions=extensions
            ) as answer,
        ):
            status = answer.status_code
            if status == 416:
                raise _RangeRefused
            if status >= 500 or status == 429:
                raise _LineLost(f"HTTP status {status}")
            if status not in (200, 206):
                raise SourceError(
                    f"{source.url} answers with HTTP status {status}.\nIf it has moved, get the file "
                    f"elsewhere and set {MIRROR_VARIABLE} to a directory that holds {source.key}."
                )
            skip = start if status == 200 else 0  # a server without ranges sends it all again
            length = int(answer.headers.get("Content-Length", 0)) or None
            with tqdm(  # type: ignore[no-untyped-call]
                total=length and length + start - skip,
                initial=start - skip,
                desc=source.path,
                unit="B",
                unit_scale=True,
            ) as bar:
                # as the line brings them: a chunk of a size that is waited for could be waited for long
                for chunk in answer.iter_bytes():
                    bar.update(len(chunk))
                    yield chunk[skip:]
                    skip = max(0, skip - len(chunk))
    except (SourceError, _LineLost, _RangeRefused):
        raise
    except Exception as error:
        # the HTTP library's own errors: which library it is depends on huggingface_hub's age
        raise _LineLost(f"{type(error).__name__}: {error}") from error


def _unreachable(source: Source, reason: str) -> UnreachableError:
    return UnreachableError(
        f"{source.url} cannot be reached ({reason}).\n"
        f"Connect to the network and try again, or set {MIRROR_VARIABLE} to a directory that "
        f"holds {source.key}."
    )
