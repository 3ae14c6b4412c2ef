"""Parses on disk, by text and parser: what was parsed once is never parsed again.

One SQLite file. Every batch is committed as it comes, so an interrupt loses nothing, and several
processes may write at once.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from gest_dataset.errors import OutputError

_BATCH = 256
_ASKED = 500  # names in one question: SQLite allows 999


def default_path() -> Path:
    from huggingface_hub.constants import HF_HOME

    return Path(HF_HOME) / "gest" / "parses.sqlite3"


def _key(signature: str, text: str) -> bytes:
    return hashlib.sha256(f"{signature}\0{text}".encode()).digest()


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=60)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS parses (key BLOB PRIMARY KEY, document BLOB)")
            yield connection
    except (OSError, sqlite3.Error, zlib.error, UnicodeDecodeError) as error:
        raise OutputError(
            f"The cache of parses {path} cannot be used: {error}.\n"
            f"Give another place with cache=, or delete the file: only time is lost."
        ) from error


def load(path: Path, signature: str, texts: Sequence[str]) -> dict[str, str]:
    """The documents that the cache has, by text."""
    keys = {_key(signature, text): text for text in texts}
    found: dict[str, str] = {}
    with _open(path) as connection:
        wanted = list(keys)
        for start in range(0, len(wanted), _ASKED):
            part = wanted[start : start + _ASKED]
            marks = ",".join("?" * len(part))
            rows = connection.execute(f"SELECT key, document FROM parses WHERE key IN ({marks})", part)
            for key, document in rows:
                found[keys[key]] = zlib.decompress(document).decode()
    return found


def store(path: Path, signature: str, parsed: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Hand the parses on as they come, and keep them; also those before an error."""
    batch: list[tuple[bytes, bytes]] = []

    def flush() -> None:
        with _open(path) as connection, connection:
            connection.executemany("INSERT OR IGNORE INTO parses VALUES (?, ?)", batch)
        batch.clear()

    try:
        for text, document in parsed:
            batch.append((_key(signature, text), zlib.compress(document.encode(), 1)))
            yield text, document
            if len(batch) >= _BATCH:
                flush()
    finally:
        if batch:
            flush()
