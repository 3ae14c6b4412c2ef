"""Translations made elsewhere, in a file: CSV, TSV, JSONL, Parquet or a data set saved to disk."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path

from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError
from gest_dataset.storage import update_hash
from gest_dataset.translation.translator import Batch, Translation, TranslationError, Translator

_COLUMNS = (("source", "translation"), ("from", "to"))  # the second is what GEST's own files have
_SYSTEM, _LANGUAGE = "system", "language"  # columns that a file may have besides


def open_file(name: str, language: str) -> Translator:
    """The translator that looks texts up in a file."""
    path = Path(name).expanduser()
    if not path.exists():
        raise ConfigError(f"There is no file {path}. Give the path of a file of translations.")
    return Translator(
        name=f"file:{path.name}",
        revision=_hash(path),
        settings="",
        translate=partial(_translate, path=path, language=language),
        unit="texts",
        stored=False,
    )


def _hash(path: Path) -> str:
    """A hash of the file, or of all tables of a data set that is saved to disk."""
    digest = hashlib.sha256()
    try:
        for part in [path] if path.is_file() else sorted(path.rglob("data-*.arrow")):
            update_hash(digest, part)
    except OSError as error:
        raise TranslationError(f"{path} cannot be read: {error}.") from error
    return f"sha256:{digest.hexdigest()[:16]}"


def _translate(texts: Sequence[str], *, path: Path, language: str) -> Generator[Batch, None, None]:
    translations = read_translations(path, language)
    yield Batch([_look_up(text, translations, path.name) for text in texts])


def _look_up(text: str, translations: dict[str, list[tuple[int, str]]], name: str) -> Translation:
    rows = translations.get(text, [])
    different = {translation: row for row, translation in reversed(rows) if translation.strip()}
    if len(different) == 1:
        return Translation(text, next(iter(different)))
    if different:
        where = " and ".join(str(row) for row in sorted(different.values()))
        return Translation(text, "", f"{name} has {len(different)} different translations, in rows {where}")
    if rows:
        return Translation(text, "", f"{name} has an empty translation, in row {rows[0][0]}")
    return Translation(text, "", f"{name} has no translation of it")


def read_translations(path: Path, language: str) -> dict[str, list[tuple[int, str]]]:
    """By source, the numbers of the rows that have it (the first is 1) and their translations.

    With a column `language` the other languages' rows are left out. A column `system` must name one
    system only: whose translations are meant is not for us to guess.
    """
    table = read_table(path)
    names = next((pair for pair in _COLUMNS if set(pair) <= set(table.columns)), None)
    if names is None:
        raise ConfigError(
            f"{path} has the columns {', '.join(table.columns)}. A file of translations has "
            f"{' or '.join(' and '.join(pair) for pair in _COLUMNS)}."
        )
    sources, translations = map(table.texts, names)
    rows: Sequence[int] = range(len(sources))
    if _LANGUAGE in table.columns:
        codes = table.columns[_LANGUAGE]
        rows = [row for row in rows if codes[row] == language]
        if not rows:
            offered = sorted({str(code) for code in codes} - {"", "None"})
            raise TranslationError(
                f"{path} has no row of {language!r}, only of {', '.join(offered) or 'none'}."
            )
    if _SYSTEM in table.columns:
        systems = sorted({str(table.columns[_SYSTEM][row]) for row in rows} - {"None"})
        if len(systems) > 1:
            raise TranslationError(
                f"{path} holds translations of several systems ({', '.join(systems)}): keep one only."
            )
    by_source: dict[str, list[tuple[int, str]]] = {}
    for row in rows:
        by_source.setdefault(sources[row], []).append((row + 1, translations[row]))
    return by_source
