"""Parses on disk, by text and parser: what was parsed once is never parsed again.

One SQLite file. Every batch is committed as it comes, so an interrupt loses nothing, and several
processes may write at once.
"""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from gest_dataset.data import kept

logger = logging.getLogger(__name__)
_BATCH = 256
_ASKED = 500  # names in one question: SQLite allows 999
_open = partial(
    kept.opened,
    schema="CREATE TABLE IF NOT EXISTS checked (key BLOB PRIMARY KEY, document BLOB, checksum BLOB)",
    name="The cache of parses",
    advice="Give another place with cache=, or delete the file: only time is lost.",
)


def default_path() -> Path:
    from huggingface_hub.constants import HF_HOME

    return Path(HF_HOME) / "gest" / "parses.sqlite3"


def _key(signature: str, text: str) -> bytes:
    return hashlib.sha256(f"{signature}\0{text}".encode()).digest()


def cached(path: Path, signature: str, texts: Sequence[str]) -> dict[str, str]:
    """The documents that the cache has, by text; one that was damaged there is told, and not among them."""
    texts_by_key = {_key(signature, text): text for text in texts}
    documents: dict[str, str] = {}
    damaged = 0
    with _open(path) as connection:
        keys = list(texts_by_key)
        for start in range(0, len(keys), _ASKED):
            part = keys[start : start + _ASKED]
            marks = ",".join("?" * len(part))
            rows = connection.execute(
                f"SELECT key, document, checksum FROM checked WHERE key IN ({marks})", part
            )
            for row in rows:
                if kept.is_whole(row) and row[0] in texts_by_key:
                    documents[texts_by_key[row[0]]] = zlib.decompress(row[1]).decode()
                else:
                    damaged += 1
    if damaged:
        logger.warning("%d parses in %s are damaged: they are made again.", damaged, path)
    return documents


def store(path: Path, signature: str, parsed: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Hand the parses on as they come, and keep them; also those before an error."""
    batch: list[tuple[bytes, bytes, bytes]] = []

    def flush() -> None:
        with _open(path) as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO checked VALUES (?, ?, ?)", batch)
        batch.clear()

    try:
        for text, document in parsed:
            key, packed = _key(signature, text), zlib.compress(document.encode(), 1)
            batch.append((key, packed, kept.checksum(key, packed)))
            yield text, document
            if len(batch) >= _BATCH:
                flush()
    finally:
        if batch:
            flush()
