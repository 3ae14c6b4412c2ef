"""Reading of users' files: tables and lines of text, with errors that say what to do.

A table is a .csv or .tsv file (UTF-8, with a header, also with semicolons), or a .jsonl or .parquet file. Any
other file, and `-` (the standard input), is text. Every line is a row, even a blank one, so that row numbers
are line numbers.
"""

import csv
import io
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset.errors import ConfigError, DataError, convert_errors
from gest_dataset.storage import parse_json, read_bytes, read_yaml

STANDARD_INPUT = Path("-")
_MOST_COLUMNS = 1000
_QUOTED = re.compile(r'"[^"]*"')
_TABLES = read_yaml(Path(__file__).with_suffix(".yaml"))
_LETTERS: dict[str, str] = _TABLES["letters"]  # usual ones, by the encoding of older files
_SEPARATORS: dict[str, str] = _TABLES["separators"]
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
    return path.suffix.lower() in _READERS


def read_user_table(path: Path) -> Table:
    if not path.exists():
        raise ConfigError(f"There is no file {path}.")
    read = _READERS.get(path.suffix.lower())
    if read is None or path.is_dir():
        raise ConfigError(f"{path} is not a table. Use a file of type {', '.join(_READERS)}.")
    columns = read(path)
    if not columns:
        raise DataError(f"{path} is empty.")
    return Table(path, columns)


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text file or of the standard input."""
    return [line.removesuffix("\n") for line in io.StringIO(_read_text(path), newline=None)]


def _read_text(path: Path) -> str:
    try:
        content = sys.stdin.buffer.read() if path == STANDARD_INPUT else read_bytes(path)
    except FileNotFoundError as error:
        raise ConfigError(f"There is no file {path}.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        text = content.decode("utf-8-sig")
        if "\0" not in text:
            return text
        line = text.count("\n", 0, text.index("\0")) + 1
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1

    def usual(encoding: str) -> int:
        text = content.decode(encoding.partition(" ")[0], errors="replace").lower()
        return sum(text.count(letter) for letter in _LETTERS[encoding])

    encoding = "UTF-16" if b"\0" in content else max(_LETTERS, key=usual)
    name = encoding.partition(" ")[0]
    raise DataError.at(
        path,
        line,
        f"this is not UTF-8, but probably {encoding}. Save the file as UTF-8, or convert it: iconv -f {name} "
        f"-t UTF-8 {path.name} > {path.stem}-utf8{path.suffix}",
    )


def _check_width(path: Path, columns: int) -> None:
    """Refuse a table whose cells, columns times rows, could be far more than the file has."""
    if columns > _MOST_COLUMNS:
        raise DataError(f"{path} has {columns:,} columns; a table has at most {_MOST_COLUMNS:,}.")


def _read_csv(path: Path) -> Columns:
    text = _read_text(path)
    header = _QUOTED.sub("", text.partition("\n")[0])
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    separator = next((each for each in (usual, *_SEPARATORS) if each in header), usual)
    lines, rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), []
    try:
        names: list[str] = next(lines, [])
        _check_width(path, len(names))
        for cells in lines:
            if any(cells[len(names) :]):
                quoted = f"Quote cells that contain {_SEPARATORS[separator]}"
                reason = f"{len(cells)} cells, but {len(names)} columns. {quoted}"
                raise DataError.at(path, lines.line_num, reason)
            rows.append([*cells, *[""] * (len(names) - len(cells))])
    except csv.Error as error:
        reason = f"{error}. Quote cells that contain quotation marks, and double the marks inside"
        raise DataError.at(path, lines.line_num, reason) from error
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
    _check_width(path, len(names))
    return {name: [row.get(name) for row in rows] for name in names}


def _read_parquet(path: Path) -> Columns:
    with convert_errors(lambda error: DataError(f"{path} is not a valid Parquet file ({error}).")):
        return dict(pq.read_table(pa.BufferReader(read_bytes(path))).to_pydict())


_READERS: dict[str, Callable[[Path], Columns]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".jsonl": _read_jsonl,
    ".parquet": _read_parquet,
}
