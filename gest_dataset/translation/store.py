"""Translations on disk, so that nothing is translated or paid for twice.

One JSONL file for each system and language. A line is one translation with the system's name,
revision and settings and the day it was made; together with the text they are its key. Lines are
only ever appended, a batch in one write that is on the disk before the next batch is asked for. A
last line without an end is what a kill in the middle of a write leaves: it is dropped.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from filelock import FileLock, Timeout

from gest_dataset.errors import OutputError
from gest_dataset.translation.translator import Translation, Translator, answered

logger = logging.getLogger(__name__)


def default_directory() -> Path:
    from gest_dataset.data.sources import cache_directory

    return cache_directory().parent / "translations"


def path_of(directory: Path, name: str, language: str) -> Path:
    """The file of a system and a language: `hf:facebook/m2m100_418M` is in `hf-facebook--m2m100_418M`."""
    safe = re.sub(r"[^\w.-]", "_", name.replace("/", "--").replace(":", "-"))
    return directory / safe / f"{language}.jsonl"


def read(path: Path, translator: Translator) -> dict[str, Translation]:
    """All that this very translator has translated, by text."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _unusable(path, error) from error
    key = (translator.name, translator.revision, translator.settings)
    found: dict[str, Translation] = {}
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):  # what no line end follows is torn
        try:
            entry = json.loads(line)
            own = (entry["system"], entry["revision"], entry["settings"])
            made = answered(str(entry["text"]), str(entry["translation"]))
        except (ValueError, KeyError, TypeError) as error:
            logger.warning("%s, line %d is no translation and is left out (%r).", path, number, error)
            continue
        if own == key:
            found[made.source] = made
    return found


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from translating into the same file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=0)
        lock.acquire()
    except Timeout as error:
        raise OutputError(
            f"Another process is translating with the same system to the same language: it writes to "
            f"{path}. Wait for it to end, or give another folder with --store."
        ) from error
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        yield
    finally:
        lock.release()


def repair(path: Path) -> None:
    """Cut off a torn last line; only for the process that holds the lock."""
    try:
        with path.open("r+b") as file:
            data = file.read()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                logger.warning("The last line of %s was cut off by a kill: it is dropped.", path)
                file.truncate(whole)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unusable(path, error) from error


def append(path: Path, translator: Translator, translations: Sequence[Translation]) -> None:
    """Add finished translations; they are on the disk when this returns."""
    common = {
        "system": translator.name,
        "revision": translator.revision,
        "settings": translator.settings,
        "made": datetime.now(timezone.utc).date().isoformat(),
    }
    lines = [
        json.dumps({**common, "text": made.source, "translation": made.translation}, ensure_ascii=False)
        for made in translations
    ]
    try:
        with path.open("ab", buffering=0) as file:
            data = memoryview("".join(f"{line}\n" for line in lines).encode())
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> OutputError:
    reason = "the disk is full" if error.errno == errno.ENOSPC else str(error)
    return OutputError(
        f"The store of translations {path} cannot be used: {reason}.\n"
        f"Make room, or give another folder with --store. What is in it already stays."
    )
