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
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from gest_dataset.errors import OutputError

T = TypeVar("T")
logger = logging.getLogger(__name__)

_BUSY_SECONDS = 60.0  # how long a process waits while another one writes
_SCHEMA = "CREATE TABLE IF NOT EXISTS responses (key TEXT PRIMARY KEY, value TEXT, checksum TEXT)"
_SELECT = "SELECT key, value, checksum FROM responses WHERE key IN (SELECT value FROM json_each(?))"
_SELECT_ONE = "SELECT key, value, checksum FROM responses WHERE rowid = ?"
_INSERT = "INSERT OR REPLACE INTO responses VALUES (?, ?, ?)"
_PAGE = 4096  # bytes; SQLite's default
_SMALLEST_ROW = 64  # bytes; a checksum
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

    Each `put` is one commit that survives a kill. A damaged row is reported and counts as missing; the
    intact rows of a damaged file are saved. `owner` is what the responses depend on besides their keys.
    """

    def __init__(self, path: Path, owner: str = "") -> None:
        self.path = path
        self._owner = f"PRAGMA user_version = {_owner_number(owner)}"
        self._lock = threading.Lock()
        self._connection = self._call(self._open)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """The cached values among `keys`."""
        wanted = json.dumps(list(keys))
        rows = self._call(lambda: self._connection.execute(_SELECT, (wanted,)).fetchall())
        values = {
            key.decode(): json.loads(value)
            for key, value, checksum in rows
            if _is_intact(key, value, checksum)
        }
        if damaged := len(rows) - len(values):
            logger.warning("%d damaged responses in %s will be computed again.", damaged, self.path)
        return values

    def put(self, values: Mapping[str, Any]) -> None:
        """Store values in one commit; they are on the disk when this returns."""
        texts = {key: _ENCODER.encode(value) for key, value in values.items()}
        rows = [(key, text, _checksum(key.encode(), text.encode()).decode()) for key, text in texts.items()]
        self._call(lambda: self._insert(rows))

    def __enter__(self) -> "ResponseCache":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, check_same_thread=False)
        connection.text_factory = bytes  # a damaged value may not be text
        connection.execute(_SCHEMA)
        connection.execute(self._owner)
        return connection

    def _insert(self, rows: Iterable[tuple[Any, Any, Any]]) -> None:
        with self._connection:
            self._connection.executemany(_INSERT, rows)

    def _call(self, function: Callable[[], T]) -> T:
        """The result of a function, which is called again if the file was damaged and its rows are saved."""
        try:
            with self._lock:
                try:
                    return function()
                except sqlite3.DatabaseError as error:
                    # the others are a full disk, or a file that is locked or read-only
                    damaged = not isinstance(error, sqlite3.OperationalError) or "no such" in str(error)
                    if not damaged or not self._salvage():
                        raise
                    return function()
        except (OSError, sqlite3.Error) as error:
            raise OutputError(
                f"The cache {self.path} cannot be used: {error}. What it has is kept. Check that the disk "
                f"has space and that the file can be written; then run the command again."
            ) from error

    def _salvage(self) -> bool:
        """Replace a damaged file by one with its intact rows; False if there are none."""
        with tempfile.TemporaryDirectory(dir=self.path.parent, prefix=".gest.") as folder:
            damaged, new = Path(folder, "damaged"), Path(folder, "new")
            for path in (damaged, new):
                with closing(sqlite3.connect(path)) as connection:
                    connection.execute(_SCHEMA)
            # the first page has no rows, and is the same in each file but for the number of pages
            first, rest = damaged.read_bytes()[:_PAGE], self.path.read_bytes()[_PAGE:]
            pages = 1 + len(rest) // _PAGE
            damaged.write_bytes(first[:28] + pages.to_bytes(4, "big") + first[32:] + rest)
            with closing(sqlite3.connect(damaged)) as source, closing(sqlite3.connect(new)) as target, target:
                source.text_factory = bytes
                for number in range(1, len(rest) // _SMALLEST_ROW):
                    with suppress(sqlite3.DatabaseError):
                        row = source.execute(_SELECT_ONE, (number,)).fetchone()
                        if row and _is_intact(*row):
                            target.execute(_INSERT, [column.decode() for column in row])
                number = target.total_changes
            if number:
                logger.warning("%s is damaged; %d intact responses in it are saved.", self.path, number)
                new.replace(self.path)
                self._connection = self._open()
            return bool(number)


def is_owner(path: Path, owner: str) -> bool:
    """Whether a cache was made with this owner."""
    with path.open("rb") as file:
        header = file.read(64)
    return int.from_bytes(header[60:], "big") == _owner_number(owner)


def _owner_number(owner: str) -> int:
    """A positive number of 31 bits; SQLite stores it in the file's header."""
    return int(hashlib.sha256(owner.encode()).hexdigest()[:8], 16) >> 1 | 1


def _is_intact(key: Any, value: Any, checksum: Any) -> bool:
    return isinstance(key, bytes) and isinstance(value, bytes) and checksum == _checksum(key, value)


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.sha256(b"%d:%b%b" % (len(key), key, value)).hexdigest().encode()
