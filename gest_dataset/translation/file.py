"""Translations from a file: CSV, TSV, JSONL, Parquet or a dataset saved to disk."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from pathlib import Path

from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError
from gest_dataset.storage import update_hash
from gest_dataset.translation.translator import Batch, Translation, TranslationError, Translator

_COLUMNS = (("source", "translation"), ("from", "to"))  # the second pair is that of GEST's own files


def open_file(name: str, language: str) -> Translator:
    """The translator that looks texts up in a file."""
    path = Path(name).expanduser()
    if not path.exists():
        raise ConfigError(f"There is no file {path}.")
    digest = hashlib.sha256()
    try:
        for part in [path] if path.is_file() else sorted(path.rglob("data-*.arrow")):
            update_hash(digest, part)
    except OSError as error:
        raise TranslationError(f"{path} cannot be read: {error}.") from error

    def translate(texts: Sequence[str]) -> Generator[Batch, None, None]:
        rows = read_translations(path, language)
        yield Batch([_look_up(text, rows.get(text, []), path.name) for text in texts])

    return Translator(
        name=f"file:{path.name}",
        revision=f"sha256:{digest.hexdigest()[:16]}",
        settings="",
        translate=translate,
        unit="texts",
        cached=False,
    )


def _look_up(text: str, rows: Sequence[tuple[int, str]], name: str) -> Translation:
    row_of = {translation: row for row, translation in reversed(rows) if translation.strip()}
    if len(row_of) == 1:
        return Translation(text, next(iter(row_of)))
    if row_of:
        numbers = " and ".join(map(str, sorted(row_of.values())))
        return Translation(text, "", f"{name} has {len(row_of)} different translations, in rows {numbers}")
    if rows:
        return Translation(text, "", f"{name} has an empty translation, in row {rows[0][0]}")
    return Translation(text, "", f"{name} has no translation of it")


def read_translations(path: Path, language: str) -> dict[str, list[tuple[int, str]]]:
    """For each source, the numbers of its rows (the first is 1) and their translations.

    With a column `language` only the rows of the language count; a column `system` must name one system.
    """
    table = read_table(path)
    names = next((pair for pair in _COLUMNS if set(pair) <= set(table.columns)), None)
    if names is None:
        raise ConfigError(
            f"{path} has the columns {', '.join(table.columns)}; a file of translations has "
            f"{' or '.join(' and '.join(pair) for pair in _COLUMNS)}."
        )
    sources, translations = map(table.texts, names)
    rows: Sequence[int] = range(len(sources))
    if "language" in table.columns:
        codes = table.columns["language"]
        rows = [row for row in rows if codes[row] == language]
        if not rows:
            offered = sorted({str(code) for code in codes} - {"", "None"})
            raise TranslationError(
                f"{path} has no row in {language!r}, only in {', '.join(offered) or 'none'}."
            )
    if "system" in table.columns:
        systems = sorted({str(table.columns["system"][row]) for row in rows} - {"None"})
        if len(systems) > 1:
            raise TranslationError(
                f"{path} has translations of several systems ({', '.join(systems)}); use a file with one."
            )
    by_source: dict[str, list[tuple[int, str]]] = {}
    for row in rows:
        by_source.setdefault(sources[row], []).append((row + 1, translations[row]))
    return by_source
