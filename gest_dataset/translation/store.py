"""Translations on disk, so that nothing is translated or paid for twice.

One SQLite file for each system and language. A row is one translation with the day it was made and a
checksum; the system's name, its revision, its settings and the text are its key. Rows are only ever added,
but for one that was damaged, which is made again; a batch is on the disk before the next one is asked for.
"""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from gest_dataset import storage
from gest_dataset.data import kept
from gest_dataset.translation.translator import Translation, Translator, answered

logger = logging.getLogger(__name__)
_NAME = "The store of translations"
_ADVICE = (
    "Make room if the disk is full, or give another folder with --store. Nothing was removed from it; "
    "a file that is damaged has to be replaced by a copy, or paid for again."
)
_open = partial(
    kept.opened,
    schema=(
        "CREATE TABLE IF NOT EXISTS translations (system TEXT, revision TEXT, settings TEXT, text TEXT, "
        "translation TEXT, made TEXT, checksum BLOB, PRIMARY KEY (system, revision, settings, text))"
    ),
    name=_NAME,
    advice=_ADVICE,
)


def default_directory() -> Path:
    from gest_dataset.data.sources import cache_directory

    return cache_directory().parent / "translations"


def path_of(directory: Path, name: str, language: str) -> Path:
    """The file of a system and a language: `hf:facebook/m2m100_418M` is in `hf-facebook--m2m100_418M`."""
    safe = re.sub(r"[^\w.-]", "_", name.replace("/", "--").replace(":", "-"))
    return directory / safe / f"{language}.sqlite3"


def read(path: Path, translator: Translator) -> dict[str, Translation]:
    """All that this very translator has translated, by text."""
    if not path.exists():
        return {}
    with _open(path) as connection:
        # what a cut page has lost, SQLite by itself does not tell, and it would be paid for again
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("the file is damaged")
        connection.text_factory = bytes  # what is damaged may be no text
        rows = connection.execute(
            "SELECT text, translation, made, checksum FROM translations "
            "WHERE system = ? AND revision = ? AND settings = ?",
            _key(translator),
        ).fetchall()
    key = [part.encode() for part in _key(translator)]
    whole = [row for row in rows if kept.is_whole(row, *key)]
    if len(whole) < len(rows):
        logger.warning("%d translations in %s are damaged: made again.", len(rows) - len(whole), path)
    texts = ((text.decode(), translation.decode()) for text, translation, _, _ in whole)
    return {text: answered(text, translation) for text, translation in texts}


def _key(translator: Translator) -> tuple[str, str, str]:
    """With a text, what a translation depends on."""
    return translator.name, translator.revision, translator.settings


def locked(path: Path) -> AbstractContextManager[None]:
    """Keep other processes from asking the same system for the same language."""
    busy = (
        f"Another process is translating with the same system to the same language: it writes to {path}. "
        f"Wait for it to end, or give another folder with --store."
    )
    return storage.file_lock(path.with_name(f"{path.name}.lock"), busy)


def add(path: Path, translator: Translator, translations: Sequence[Translation]) -> None:
    """Add finished translations; they are on the disk when this returns."""
    key = _key(translator)
    today = datetime.now(timezone.utc).date().isoformat()
    rows = []
    for made in translations:
        row = (*key, made.source, made.translation, today)
        rows.append((*row, kept.checksum(*(part.encode() for part in row))))
    with _open(path) as connection, connection:
        connection.executemany("INSERT OR REPLACE INTO translations VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
