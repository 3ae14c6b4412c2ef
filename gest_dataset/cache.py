"""A cache of expensive responses: answers of models, chat completions, translations, parses.

A response is a pure function of its key. All responses are rows of one SQLite table (key, value,
checksum), so a killed job continues with what it has and nothing is computed or paid for twice.
"""

import hashlib
import json
import logging
import sqlite3
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from gest_dataset.errors import OutputError

logger = logging.getLogger(__name__)

_BUSY_SECONDS = 60.0  # how long a process waits while another one writes
_SCHEMA = "CREATE TABLE IF NOT EXISTS responses (key TEXT PRIMARY KEY, value TEXT, checksum TEXT)"
_SELECT = "SELECT key, value, checksum FROM responses WHERE key IN (SELECT value FROM json_each(?))"
_SELECT_ONE = "SELECT key, value, checksum FROM responses WHERE rowid = ?"
_INSERT = "INSERT OR REPLACE INTO responses VALUES (?, ?, ?)"
_PAGE, _SMALLEST_ROW = 4096, 64  # bytes: SQLite's default, a checksum
# json.dumps makes an encoder for each call
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_KEY_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)


def cache_key(*parts: Any) -> str:
    """The SHA-256 of everything that a response depends on; the parts are JSON values.

    >>> cache_key("model", {"b": 1, "a": 2}) == cache_key("model", {"a": 2, "b": 1})
    True
    """
    return hashlib.sha256(_KEY_ENCODER.encode(parts).encode("utf-8", "surrogatepass")).hexdigest()


class ResponseCache:
    """A persistent mapping from `cache_key` to a JSON value, safe for several processes and threads.

    Each `put` is one commit that survives a kill. A damaged row is reported and counts as missing; of a
    damaged file the intact rows are saved. `owner` is a number for what all its values depend on.
    """

    def __init__(self, path: Path, owner: int = 0) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and _is_damaged(path):
                _repair(path)
            self._connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
            self._connection.text_factory = bytes  # a damaged value may not be text
            self._connection.execute(_SCHEMA)
            self._connection.execute(f"PRAGMA user_version = {owner}")

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """The cached values among `keys`."""
        with self._errors(), self._lock:
            rows = self._connection.execute(_SELECT, (json.dumps(list(keys)),)).fetchall()
        values = {row[0].decode(): json.loads(row[1]) for row in rows if _is_intact(*row)}
        if damaged := len(rows) - len(values):
            logger.warning("%d damaged responses in %s will be computed again.", damaged, self.path)
        return values

    def put(self, values: Mapping[str, Any]) -> None:
        """Store values in one commit; they are on the disk when this returns."""
        texts = {key: _ENCODER.encode(value) for key, value in values.items()}
        rows = [(key, text, _checksum(key.encode(), text.encode()).decode()) for key, text in texts.items()]
        with self._errors(), self._lock, self._connection:
            self._connection.executemany(_INSERT, rows)

    def __enter__(self) -> "ResponseCache":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise OutputError(
                f"The cache {self.path} cannot be used: {error}. What it has is kept. Check that the disk "
                f"has space and the file can be written; then run the command again."
            ) from error


def owner_of(path: Path) -> int:
    """The owner of a cache, which SQLite stores in the file's header as the "user version"."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(64)[60:], "big")


def _is_damaged(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
            connection.execute("SELECT key, value, checksum FROM responses LIMIT 1")
            return str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok"
    except sqlite3.DatabaseError as error:  # others are a locked file or one that cannot be read
        return not isinstance(error, sqlite3.OperationalError) or "no such column" in str(error)


def _repair(path: Path) -> None:
    """Replace a damaged file by one with its intact rows, if it has any."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".gest.") as folder:
        repaired, damaged = Path(folder, "repaired"), Path(folder, "damaged")
        with closing(sqlite3.connect(repaired)) as target, target:
            target.execute(_SCHEMA)
            target.execute(f"PRAGMA user_version = {owner_of(path)}")
            target.commit()
            # the first page holds no rows, and differs between files only in the number of pages
            first, rest = repaired.read_bytes()[:_PAGE], path.read_bytes()[_PAGE:]
            damaged.write_bytes(first[:28] + (1 + len(rest) // _PAGE).to_bytes(4, "big") + first[32:] + rest)
            with closing(sqlite3.connect(damaged)) as source:
                source.text_factory = bytes
                for number in range(1, len(rest) // _SMALLEST_ROW):
                    with suppress(sqlite3.DatabaseError):
                        row = source.execute(_SELECT_ONE, (number,)).fetchone()
                        if row and _is_intact(*row):
                            target.execute(_INSERT, [column.decode() for column in row])
            number = target.total_changes
        if number:
            repaired.replace(path)
            logger.warning("%s was damaged: its %d intact responses are saved.", path, number)


def _is_intact(key: Any, value: Any, checksum: Any) -> bool:
    return isinstance(key, bytes) and isinstance(value, bytes) and checksum == _checksum(key, value)


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.sha256(b"%d:%b%b" % (len(key), key, value)).hexdigest().encode()
