"""Translations made elsewhere, in a file: CSV, TSV, JSONL, Parquet or a data set saved to disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gest_dataset.translation.errors import TranslationError
from gest_dataset.translation.translator import Batch, Translation, Translator

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (("source", "translation"), ("from", "to"))  # the second is what GEST's own files have
_SYSTEM, _LANGUAGE = "system", "language"  # columns that a file may have besides


def open_file(name: str, language: str) -> Translator:
    """The translator that looks texts up in a file."""
    path = Path(name).expanduser()
    if not path.exists():
        raise TranslationError(f"There is no file {path}. Give the path of a file of translations.")
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
            digest.update(part.read_bytes())
    except OSError as error:
        raise TranslationError(f"{path} cannot be read: {error}.") from error
    return f"sha256:{digest.hexdigest()[:16]}"


def _translate(texts: Sequence[str], *, path: Path, language: str) -> Generator[Batch, None, None]:
    found = read(path, language)
    yield Batch([_look_up(text, found, path.name) for text in texts])


def _look_up(text: str, found: dict[str, list[tuple[int, str]]], name: str) -> Translation:
    rows = found.get(text, [])
    different = {translation: row for row, translation in reversed(rows) if translation.strip()}
    if len(different) == 1:
        return Translation(text, next(iter(different)))
    if different:
        where = " and ".join(str(row) for row in sorted(different.values()))
        return Translation(text, "", f"{name} has {len(different)} different translations, in rows {where}")
    if rows:
        return Translation(text, "", f"{name} has an empty translation, in row {rows[0][0]}")
    return Translation(text, "", f"{name} has no translation of it")


def read(path: Path, language: str) -> dict[str, list[tuple[int, str]]]:
    """By source, the numbers of the rows that have it (the first is 1) and their translations.

    With a column `language` the other languages' rows are left out. A column `system` must name one
    system only: whose translations are meant is not for us to guess.
    """
    table = read_table(path)
    columns = next((pair for pair in _COLUMNS if set(pair) <= set(table.columns)), None)
    if columns is None:
        raise TranslationError(
            f"{path} has the columns {', '.join(map(str, table.columns))}. A file of translations has "
            f"{' or '.join(' and '.join(pair) for pair in _COLUMNS)}."
        )
    table = table.reset_index(drop=True)
    if _LANGUAGE in table.columns:
        offered = sorted({str(code) for code in table[_LANGUAGE].dropna()} - {""})
        table = table[table[_LANGUAGE] == language]
        if table.empty:
            raise TranslationError(
                f"{path} has no row of {language!r}, only of {', '.join(offered) or 'none'}."
            )
    if _SYSTEM in table.columns and table[_SYSTEM].nunique() > 1:
        systems = ", ".join(sorted(map(str, table[_SYSTEM].unique())))
        raise TranslationError(f"{path} holds translations of several systems ({systems}): keep one only.")
    found: dict[str, list[tuple[int, str]]] = {}
    for row, source, translation in table[list(columns)].fillna("").itertuples(name=None):
        if not isinstance(source, str) or not isinstance(translation, str):
            raise TranslationError(f"{path}, row {row + 1}: source and translation have to be texts.")
        found.setdefault(source, []).append((row + 1, translation))
    return found


def _read_separated(path: Path, separator: str) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig")


def _read_lines(path: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_json(path, lines=True, dtype=False, encoding="utf-8-sig")


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_parquet(path)


_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": partial(_read_separated, separator=","),
    ".tsv": partial(_read_separated, separator="\t"),
    ".jsonl": _read_lines,
    ".parquet": _read_parquet,
}


def read_table(path: Path) -> pd.DataFrame:
    """A whole table; what kind it is, its suffix says."""
    reader = _read_saved if path.is_dir() else _READERS.get(path.suffix.lower())
    if reader is None:
        raise TranslationError(
            f"{path} is of no kind that can be read: use {', '.join(_READERS)} or a data set saved to disk."
        )
    try:
        return reader(path)
    except (OSError, ValueError) as error:  # pandas' and arrow's own errors are of these kinds
        raise TranslationError(f"{path} cannot be read as {path.suffix or 'a data set'}: {error}") from error


def _read_saved(path: Path) -> pd.DataFrame:
    from datasets import DatasetDict, load_from_disk

    data = load_from_disk(str(path))
    if isinstance(data, DatasetDict):
        if len(data) != 1:
            raise ValueError(f"it has the splits {', '.join(data)}: save one of them")
        data = next(iter(data.values()))
    return data.to_pandas()
