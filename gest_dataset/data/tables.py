"""Reading of users' files: tables and lines of text, with errors that say what to do.

A table is a .csv or .tsv file (UTF-8, with a header), a .jsonl or .parquet file, or a data set saved to
disk. Any other file, and `-` (the standard input), is text. Every line is a row, even a blank one, so that
row numbers are line numbers.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset.errors import ConfigError, DataError
from gest_dataset.storage import parse_json

STANDARD_INPUT = Path("-")
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_SEPARATOR_OF = {".csv": ",", ".tsv": "\t"}
_SUFFIXES = (*_SEPARATOR_OF, ".jsonl", ".parquet")
_PANDAS_INDEX = "__index_level_"  # the index column that pandas writes to Parquet

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Table:
    """Columns of equal length by name; `None` is an empty cell."""

    path: Path
    columns: Columns

    def texts(self, name: str) -> list[str]:
        """The texts of a column; an empty cell is the empty text."""
        if name not in self.columns:
            raise ConfigError(f"{self.path} has no column {name!r}, only {', '.join(self.columns)}.")
        texts = ["" if value is None else value for value in self.columns[name]]
        for row, text in enumerate(texts, start=1):
            if not isinstance(text, str):
                raise DataError.at(self.path, f"row {row}", f"{text!r} in column {name!r} is not text")
        return texts


def is_table(path: Path) -> bool:
    """Whether a path is a table rather than text, judged by its suffix."""
    return path.is_dir() or path.suffix.lower() in _SUFFIXES


def read_table(path: Path) -> Table:
    """Read a whole table."""
    suffix = path.suffix.lower()
    if not path.exists():
        raise ConfigError(f"There is no file {path}.")
    if path.is_dir():
        columns = _read_saved(path)
    elif suffix in _SEPARATOR_OF:
        columns = _read_csv(path, _SEPARATOR_OF[suffix])
    elif suffix == ".jsonl":
        columns = _read_jsonl(path)
    elif suffix == ".parquet":
        columns = _read_parquet(path)
    else:
        raise ConfigError(f"{path} cannot be read. Use {', '.join(_SUFFIXES)} or a data set saved to disk.")
    if not columns:
        raise DataError(f"{path} is empty.")
    return Table(path, columns)


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text file or of the standard input."""
    text = io.StringIO(_read_text(path), newline=None).read()  # also ends lines at \r\n and \r
    return text.removesuffix("\n").split("\n") if text else []


def _read_text(path: Path) -> str:
    try:
        content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        return content.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(f"There is no file {path}.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError.at(path, line, "this is not UTF-8. Save the file as UTF-8") from error


def _read_csv(path: Path, separator: str) -> Columns:
    expected = _SEPARATORS[separator]
    reader = csv.reader(io.StringIO(_read_text(path), newline=""), delimiter=separator, strict=True)
    rows = []
    try:
        names = next(reader, [])
        for cells in reader:
            if any(cells[len(names) :]):
                reason = f"{len(cells)} cells, but {len(names)} columns. Quote cells that contain {expected}"
                raise DataError.at(path, reader.line_num, reason)
            rows.append([*cells, *[""] * (len(names) - len(cells))])
    except csv.Error as error:
        reason = f"{error}. Quote cells that contain quotation marks, and double the marks inside"
        raise DataError.at(path, reader.line_num, reason) from error
    if len(names) == 1:
        for other, description in _SEPARATORS.items():
            if other in names[0]:
                raise DataError(f"{path}: the separator is {description}. Save the table with {expected}.")
    if len(set(names)) < len(names):
        raise DataError(f"{path}: several columns have the same name. Rename them.")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _read_jsonl(path: Path) -> Columns:
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            row = parse_json(line) if line.strip() else {}
        except ValueError as error:
            raise DataError.at(path, number, f"this is not valid JSON ({error})") from error
        if not isinstance(row, dict):
            raise DataError.at(path, number, "this is not a JSON object")
        rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _read_parquet(path: Path) -> Columns:
    try:
        table = pq.read_table(path)
        names = [name for name in table.column_names if not name.startswith(_PANDAS_INDEX)]
        columns: Columns = table.select(names).to_pydict()
    except (OSError, ValueError, OverflowError, pa.ArrowException) as error:
        raise DataError(f"{path} is not a valid Parquet file ({error}).") from error
    return columns


def _read_saved(path: Path) -> Columns:
    from datasets import DatasetDict, load_from_disk  # slow to import, and rarely needed

    try:
        data = load_from_disk(str(path))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is not a data set saved to disk ({error}).") from error
    if isinstance(data, DatasetDict):
        if len(data) != 1:
            raise DataError(f"{path} has the splits {', '.join(data)}. Save one of them.")
        data = next(iter(data.values()))
    columns: Columns = data.to_dict()
    return columns
