"""Files of users: tables and lines of text, with errors that say what to do.

A table is a .csv or .tsv (UTF-8, with a header), .jsonl or .parquet file, or a data set saved to disk; any
other file, and `-`, the standard input, is text. Every line is a row, a blank one too, so that rows keep
their numbers; the first is 1.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gest_dataset.data.foreign import parse_json
from gest_dataset.errors import ConfigError, DataError

STANDARD_INPUT = Path("-")
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_INDEX = "__index_level_"  # what pandas calls the index that it writes to Parquet

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Table:
    """Columns of equal length by name; `None` is an empty cell."""

    path: Path
    columns: Columns

    def texts(self, name: str) -> list[str]:
        """The texts of a column; an empty cell is the empty text."""
        if name not in self.columns:
            raise ConfigError(
                f"{self.path}: there is no column {name!r}, there are {', '.join(self.columns)}."
            )
        texts = ["" if value is None else value for value in self.columns[name]]
        for row, text in enumerate(texts, start=1):
            if not isinstance(text, str):
                raise DataError.at(self.path, f"row {row}", f"{text!r} in the column {name!r} is no text")
            if any("\ud800" <= letter <= "\udfff" for letter in text):
                reason = f"{text!r} in the column {name!r} holds half of a character (a lone surrogate)"
                raise DataError.at(self.path, f"row {row}", reason)
        return texts


def is_table(path: Path) -> bool:
    """Whether a file has columns; its suffix says it."""
    return path.is_dir() or path.suffix.lower() in _READERS


def read_table(path: Path) -> Table:
    """A whole table."""
    if not path.exists():
        raise ConfigError(f"There is no file {path}.")
    if not is_table(path):
        raise ConfigError(
            f"{path} is of no kind that can be read: use {', '.join(_READERS)} or a data set saved to disk."
        )
    columns = _read_saved(path) if path.is_dir() else _READERS[path.suffix.lower()](path)
    if not columns:
        raise DataError(f"{path} is empty: it names no columns.")
    return Table(path, columns)


def read_lines(path: Path) -> list[str]:
    """The lines of a text, or of the standard input; the end of the last one is none more."""
    text = io.StringIO(_decoded(path), newline=None).read()  # \r\n and \r are ends of lines, too
    return text.removesuffix("\n").split("\n") if text else []


def _decoded(path: Path) -> str:
    try:
        content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    except FileNotFoundError as error:
        raise ConfigError(f"There is no file {path}.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError.at(path, line, "this is not UTF-8. Save it as UTF-8 and try again") from error


def _read_separated(path: Path, separator: str) -> Columns:
    reader = csv.reader(io.StringIO(_decoded(path), newline=""), delimiter=separator, strict=True)
    try:
        lines = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        reason = (
            f"{error}. A quotation mark inside a cell is written twice, and such a cell stands between two"
        )
        raise DataError.at(path, reader.line_num, reason) from error
    if not lines or not lines[0][1]:  # the first line names the columns
        return {}
    (_, names), *rows = lines
    expected = _SEPARATORS[separator]
    others = [name for other, name in _SEPARATORS.items() if other in names[0] and other != separator]
    if len(names) == 1 and others:
        raise DataError(f"{path}: the separator is {others[0]}, not {expected}. Save it with {expected}.")
    for name in names:
        if name and names.count(name) > 1:
            raise DataError(f"{path}: several columns are called {name!r}. Give each a name of its own.")
    for line, cells in rows:
        if any(cells[len(names) :]):
            reason = f"{len(cells)} cells, but {len(names)} columns: is {expected} in a cell without quotes?"
            raise DataError.at(path, line, reason)
    return {
        name: [cells[place] if place < len(cells) else "" for _, cells in rows]
        for place, name in enumerate(names)
    }


def _read_objects(path: Path) -> Columns:
    entries: list[dict[str, Any]] = []
    for row, line in enumerate(read_lines(path), start=1):
        try:
            entry = parse_json(line) if line.strip() else {}
        except ValueError as error:
            raise DataError.at(path, row, f"this is no JSON ({error}): a line is one object") from error
        if not isinstance(entry, dict):
            raise DataError.at(path, f"row {row}", f"{entry!r} is no JSON object")
        entries.append(entry)
    names = dict.fromkeys(name for entry in entries for name in entry)
    return {name: [entry.get(name) for entry in entries] for name in names}


def _read_parquet(path: Path) -> Columns:
    import pyarrow as pa

    from gest_dataset.data import parquet

    try:
        columns: dict[str, list[Any]] = parquet.read_table(path).to_pydict()
    except (OSError, ValueError, OverflowError, pa.ArrowException) as error:
        raise DataError(
            f"{path} is no Parquet file, or not a whole one ({error}). Write it again."
        ) from error
    return {name: column for name, column in columns.items() if not name.startswith(_INDEX)}


def _read_saved(path: Path) -> Columns:
    from datasets import DatasetDict, load_from_disk

    try:
        data = load_from_disk(str(path))
    except (OSError, ValueError) as error:
        raise DataError(f"The folder {path} is no data set that was saved to disk ({error}).") from error
    if isinstance(data, DatasetDict):
        if len(data) != 1:
            raise DataError(f"{path} has the splits {', '.join(data)}: save one of them.")
        data = next(iter(data.values()))
    columns: dict[str, list[Any]] = data.to_dict()
    return columns


_READERS: dict[str, Callable[[Path], Columns]] = {
    ".csv": partial(_read_separated, separator=","),
    ".tsv": partial(_read_separated, separator="\t"),
    ".jsonl": _read_objects,
    ".parquet": _read_parquet,
}
