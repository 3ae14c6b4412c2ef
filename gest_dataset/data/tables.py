"""Files of users: tables and lines of text, with errors that say what to do.

A table of any size is read row by row (`stream`); `read_table` keeps all of it.

A table is a .csv or .tsv (UTF-8, with a header), .jsonl or .parquet file, or a data set saved to disk; any
other file, and `-`, the standard input, is text. Every line is a row, a blank one too, so that rows keep
their numbers; the first is 1.
"""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gest_dataset.errors import ConfigError, DataError
from gest_dataset.storage import parse_json

STANDARD_INPUT = Path("-")
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_INDEX = "__index_level_"  # what pandas calls the index that it writes to Parquet

_LONGEST_LINE = 1 << 24  # characters: a line of a table is a row, or a part of one
_AT_ONCE = 1000  # rows of a file that comes in columns
_CHUNK = 1 << 20

Columns = Mapping[str, Sequence[Any]]
Row = tuple[int, Sequence[Any]]


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
            check_text(text, self.path, row, name)
        return texts


def check_text(text: Any, path: Path, row: int, name: str) -> None:
    """Whether a cell is a text that a file can hold."""
    if not isinstance(text, str):
        raise DataError.at(path, f"row {row}", f"{text!r} in the column {name!r} is no text")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        reason = f"{text!r} in the column {name!r} holds half of a character (a lone surrogate)"
        raise DataError.at(path, f"row {row}", reason)


@dataclass(frozen=True)
class Stream:
    """The names of the columns, and the rows: each with its number (the first is 1) and its cells."""

    path: Path
    names: tuple[str, ...]
    rows: Iterator[Row]


def is_table(path: Path) -> bool:
    """Whether a file has columns; its suffix says it."""
    return path.is_dir() or path.suffix.lower() in _READERS


def read_table(path: Path) -> Table:
    """A whole table."""
    streamed = stream(path)
    cells = [row for _, row in streamed.rows]
    columns = zip(*cells, strict=True) if cells else [[] for _ in streamed.names]
    return Table(path, {name: list(column) for name, column in zip(streamed.names, columns, strict=True)})


def stream(path: Path) -> Stream:
    """A table of any size: what is read of it at once fits into memory."""
    if not path.exists():
        raise ConfigError(f"There is no file {path}.")
    if not is_table(path):
        raise ConfigError(
            f"{path} is of no kind that can be read: use {', '.join(_READERS)} or a data set saved to disk."
        )
    names, rows = _saved(path) if path.is_dir() else _READERS[path.suffix.lower()](path)
    if not names:
        raise DataError(f"{path} is empty: it names no columns.")
    return Stream(path, names, rows)


def read_lines(path: Path) -> list[str]:
    """The lines of a text, or of the standard input; the end of the last one is none more."""
    text = io.StringIO(_decoded(path), newline=None).read()  # \r\n and \r are ends of lines, too
    return text.removesuffix("\n").split("\n") if text else []


_NOT_UTF_8 = "this is not UTF-8. Save it as UTF-8 and try again"


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
        raise DataError.at(path, content.count(b"\n", 0, error.start) + 1, _NOT_UTF_8) from error


def _lines(path: Path, newline: str | None) -> Iterator[str]:
    """The lines of a file with their ends, as `open` tells them; each has to fit into memory."""
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            number = 0
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE:
                    raise DataError.at(path, number, f"a line of more than {_LONGEST_LINE:,} characters")
                yield line
    except UnicodeDecodeError as error:
        raise DataError.at(path, _undecoded(path), _NOT_UTF_8) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error


def _undecoded(path: Path) -> int:
    """The line that is no UTF-8: a file is decoded in pieces, and its reader does not count them."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 1
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(_CHUNK), b""):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                return lines + chunk.count(b"\n", 0, max(0, error.start - pending))
            lines += chunk.count(b"\n")
    return lines  # the last character is cut off


def _separated(path: Path, separator: str) -> tuple[tuple[str, ...], Iterator[Row]]:
    records = _records(path, separator)
    _, names = next(records, (1, []))  # the first line names the columns
    expected = _SEPARATORS[separator]
    others = [
        name for other, name in _SEPARATORS.items() if names and other in names[0] and other != separator
    ]
    if len(names) == 1 and others:
        raise DataError(f"{path}: the separator is {others[0]}, not {expected}. Save it with {expected}.")
    for name in names:
        if name and names.count(name) > 1:
            raise DataError(f"{path}: several columns are called {name!r}. Give each a name of its own.")

    def rows() -> Iterator[Row]:
        for row, (line, cells) in enumerate(records, start=1):
            if any(cells[len(names) :]):
                reason = (
                    f"{len(cells)} cells, but {len(names)} columns: is {expected} in a cell without quotes?"
                )
                raise DataError.at(path, line, reason)
            yield row, [*cells[: len(names)], *[""] * (len(names) - len(cells))]

    return tuple(names), rows()


def _records(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(_lines(path, newline=""), delimiter=separator, strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        reason = (
            f"{error}. A quotation mark inside a cell is written twice, and such a cell stands between two"
        )
        raise DataError.at(path, reader.line_num, reason) from error


def _objects(path: Path) -> tuple[tuple[str, ...], Iterator[Row]]:
    """The names of all objects first, as any of them may bring a new one: the file is read twice."""
    names = tuple(dict.fromkeys(name for entry in _entries(path) for name in entry))
    entries = enumerate(_entries(path), start=1)
    return names, ((row, [entry.get(name) for name in names]) for row, entry in entries)


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    for row, line in enumerate(_lines(path, newline=None), start=1):
        try:
            entry = parse_json(line) if line.strip() else {}
        except ValueError as error:
            raise DataError.at(path, row, f"this is no JSON ({error}): a line is one object") from error
        if not isinstance(entry, dict):
            raise DataError.at(path, f"row {row}", f"{entry!r} is no JSON object")
        yield entry


def _parquet(path: Path) -> tuple[tuple[str, ...], Iterator[Row]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def broken(error: Exception) -> DataError:
        return DataError(f"{path} is no Parquet file, or not a whole one ({error}). Write it again.")

    errors = (OSError, ValueError, OverflowError, pa.ArrowException)
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
    except errors as error:
        raise broken(error) from error
    names = [name for name in file.schema_arrow.names if not name.startswith(_INDEX)]

    def rows() -> Iterator[Row]:
        try:
            batches = file.iter_batches(batch_size=_AT_ONCE, columns=names)
            yield from _numbered(batch.to_pydict() for batch in batches)
        except errors as error:
            raise broken(error) from error

    return tuple(names), rows()


def _numbered(batches: Iterator[dict[str, list[Any]]]) -> Iterator[Row]:
    cells = (row for batch in batches for row in zip(*batch.values(), strict=True))
    return enumerate(cells, start=1)


def _saved(path: Path) -> tuple[tuple[str, ...], Iterator[Row]]:
    from datasets import DatasetDict, load_from_disk

    try:
        data = load_from_disk(str(path))
    except (OSError, ValueError) as error:
        raise DataError(f"The folder {path} is no data set that was saved to disk ({error}).") from error
    if isinstance(data, DatasetDict):
        if len(data) != 1:
            raise DataError(f"{path} has the splits {', '.join(data)}: save one of them.")
        data = next(iter(data.values()))
    return tuple(data.column_names), _numbered(data.iter(batch_size=_AT_ONCE))


_READERS: dict[str, Callable[[Path], tuple[tuple[str, ...], Iterator[Row]]]] = {
    ".csv": partial(_separated, separator=","),
    ".tsv": partial(_separated, separator="\t"),
    ".jsonl": _objects,
    ".parquet": _parquet,
}
