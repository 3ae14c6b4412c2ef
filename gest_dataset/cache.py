"""A cache of expensive responses: answers of models, chat completions, translations, parses.

A response is a pure function of its key. All responses are rows of one SQLite table (key, value,
checksum), so a killed job continues with what it has and nothing is computed or paid for twice.
"""

import hashlib
import json
import logging
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gest_dataset.errors import OutputError

logger = logging.getLogger(__name__)

_BUSY_SECONDS = 60.0  # how long a process waits while another one writes
_SCHEMA = "CREATE TABLE IF NOT EXISTS responses (key TEXT PRIMARY KEY, value TEXT, checksum TEXT)"
_SELECT = "SELECT key, value, checksum FROM responses WHERE key IN (SELECT value FROM json_each(?))"
_INSERT = "INSERT OR REPLACE INTO responses VALUES (?, ?, ?)"
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

    Each `put` is one commit that survives a kill. A damaged row is reported and counts as missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
            self._connection.text_factory = bytes  # a damaged value may not be text
            self._connection.execute(_SCHEMA)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """The cached values among `keys`."""
        with self._errors(), self._lock:
            rows = self._connection.execute(_SELECT, (json.dumps(list(keys)),)).fetchall()
        values = {
            key.decode(): json.loads(value)
            for key, value, checksum in rows
            if isinstance(value, bytes) and checksum == _checksum(key, value)
        }
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
                f"The cache {self.path} cannot be used: {error}. Free some space if the disk is full; "
                f"otherwise restore the file from a backup or choose another cache."
            ) from error


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.sha256(b"%d:%b%b" % (len(key), key, value)).hexdigest().encode()
