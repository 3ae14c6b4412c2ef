"""Translations from a file: CSV, TSV, JSONL, Parquet or a dataset saved to disk."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError, UnsupportedLanguageError
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
        rows: dict[str, dict[str, int]] = {}  # source -> translation -> number of its first row
        for number, source, translation in read_translations(path, language).itertuples():
            rows.setdefault(source, {}).setdefault(translation, number)
        yield Batch([_look_up(text, rows.get(text, {}), path.name) for text in texts])

    revision = f"sha256:{digest.hexdigest()[:16]}"
    return Translator(f"file:{path.name}", revision, "", translate, unit="texts", cached=False)


def _look_up(text: str, row_of: Mapping[str, int], name: str) -> Translation:
    """The one translation of a text that is not empty; `row_of` has the row of each translation."""
    different = [translation for translation in row_of if translation.strip()]
    if len(different) == 1:
        return Translation(text, different[0])
    if different:
        rows = " and ".join(str(row_of[translation]) for translation in different)
        return Translation(text, "", f"{name} has {len(different)} different translations, in rows {rows}")
    if row_of:
        return Translation(text, "", f"{name} has an empty translation, in row {min(row_of.values())}")
    return Translation(text, "", f"{name} has no translation of it")


def read_translations(path: Path, language: str) -> pd.DataFrame:
    """The columns `source` and `translation` by the number of the row, from 1.

    With a column `language` only the rows of the language count; a column `system` must name one system.
    """
    table = read_table(path)
    names = next((pair for pair in _COLUMNS if set(pair) <= set(table.columns)), None)
    if names is None:
        raise ConfigError(
            f"{path} has the columns {', '.join(table.columns)}; a file of translations has "
            f"{' or '.join(' and '.join(pair) for pair in _COLUMNS)}."
        )
    rows = pd.DataFrame(dict(zip(_COLUMNS[0], map(table.texts, names), strict=True)), dtype=object)
    rows.index += 1
    if "language" in table.columns:
        codes = pd.Series(table.columns["language"], index=rows.index, dtype=object)
        rows = rows[codes == language]
        if rows.empty:
            offered = sorted({str(code) for code in codes} - {"", "None"})
            raise UnsupportedLanguageError(
                f"{path} has no row in {language!r}, only in {', '.join(offered) or 'none'}."
            )
    if "system" in table.columns:
        systems = sorted({str(table.columns["system"][row - 1]) for row in rows.index} - {"None"})
        if len(systems) > 1:
            raise TranslationError(
                f"{path} has translations of several systems ({', '.join(systems)}); use a file with one."
            )
    return rows
