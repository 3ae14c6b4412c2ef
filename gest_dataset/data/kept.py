"""What is kept from one run to the next: SQLite files that several processes may use at once.

What is committed is on the disk, even where the machine is lost; what a kill leaves half-written is rolled
back by the next one that opens the file.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from gest_dataset.errors import OutputError

_PATIENCE = 60.0  # seconds that a process waits for the others


@contextmanager
def opened(path: Path, schema: str, name: str, advice: str) -> Iterator[sqlite3.Connection]:
    """A file that has the table of `schema`; the two texts are for the error where it cannot be used."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=_PATIENCE)) as connection:
            connection.execute("PRAGMA synchronous = EXTRA")  # the folder, too, before a commit returns
            connection.execute(schema)
            yield connection
    except (OSError, sqlite3.Error, zlib.error, UnicodeDecodeError) as error:
        raise OutputError(f"{name} {path} cannot be used: {error}.\n{advice}") from error
