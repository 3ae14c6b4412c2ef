"""What is kept from one run to the next: SQLite files that several processes may use at once.

What is committed is on the disk, even where the machine is lost; what a kill leaves half-written is rolled
back by the next one that opens the file. Each row has a checksum of all that it says, its key included:
what a disk has changed is not taken for what was kept.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from gest_dataset.errors import OutputError

_PATIENCE = 60.0  # seconds that a process waits for the others


def checksum(*parts: bytes) -> bytes:
    """Of the parts of a row, in their order."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d:" % len(part) + part)
    return digest.digest()


def is_whole(row: Sequence[Any], *key: bytes) -> bool:
    """Whether a row, whose last column is its checksum, is as it was written."""
    *parts, told = row
    return all(isinstance(part, bytes) for part in parts) and told == checksum(*key, *parts)


@contextmanager
def opened(path: Path, schema: str, name: str, advice: str) -> Iterator[sqlite3.Connection]:
    """A file that has the table of `schema`; the two texts are for the error where it cannot be used."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=_PATIENCE)) as connection:
            connection.execute("PRAGMA synchronous = EXTRA")  # the folder, too, before a commit returns
            connection.execute(schema)
            yield connection
    except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
        raise OutputError(f"{name} {path} cannot be used: {error}.\n{advice}") from error
