"""Strict readers of upstream files: what does not look as expected is an error with its place."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from gest_dataset.errors import DataError
from gest_dataset.stereotypes import STEREOTYPES

# Digits of other scripts are none here, and thousands of digits are more than `int` takes
_NUMBER = re.compile(r"[0-9]{1,9}")


class File(Protocol):
    """What is read whole, and named in errors: a verified file, or a path of this package."""

    def read_bytes(self) -> bytes: ...


_KEYWORD = re.compile(r"<([^<>]*)>")


def read_text(path: File) -> str:
    """A whole UTF-8 file."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError.at(path, line, f"not UTF-8 ({error.reason})") from error


def read_lines(path: File) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def read_cells(path: File) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV file, each with the number of its last line."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise DataError.at(path, reader.line_num, str(error)) from error


def read_csv(path: File, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The records of a CSV file that must have exactly these columns, in this order."""
    records = read_cells(path)
    line, header = next(records, (1, []))
    if header != list(columns):
        extra = [name for name in header if name not in columns]
        missing = [name for name in columns if name not in header]
        what = [f"unexpected column {', '.join(map(repr, extra))}"] if extra else []
        what += [f"missing column {', '.join(map(repr, missing))}"] if missing else []
        raise DataError.at(path, line, "; ".join(what) or f"columns in another order: {header}")
    for line, cells in records:
        if len(cells) != len(columns):
            raise DataError.at(path, line, f"{len(cells)} fields, expected {len(columns)}")
        yield line, dict(zip(columns, cells, strict=True))


def stereotype_id(text: str, path: File, line: int) -> int:
    """A stereotype's number, 1 to 16."""
    if _NUMBER.fullmatch(text) and int(text) in STEREOTYPES:
        return int(text)
    raise DataError.at(path, line, f"unknown stereotype {text!r}, expected 1 to {len(STEREOTYPES)}")


def row_number(text: str, path: File, line: int) -> int:
    """A row's own number."""
    if _NUMBER.fullmatch(text):
        return int(text)
    raise DataError.at(path, line, f"{text!r} is not a number")


def filled(text: str, name: str, path: File, place: int | str) -> str:
    """A text that must not be empty."""
    if text.strip():
        return text
    raise DataError.at(path, place, f"empty {name}")


def one_of(text: str, names: Sequence[str], what: str, path: File, place: int | str) -> str:
    """A label that must be known."""
    if text in names:
        return text
    raise DataError.at(path, place, f"unknown {what} {text!r}, expected one of {', '.join(names)}")


def keyword_span(marked: str, path: File, place: int | str) -> tuple[str, list[int]]:
    """A sentence with its keyword in `<>`: the plain sentence and the keyword's [start, end)."""
    keywords = list(_KEYWORD.finditer(marked))
    plain = _KEYWORD.sub(r"\1", marked)
    if len(keywords) != 1 or not keywords[0][1].strip() or "<" in plain or ">" in plain:
        raise DataError.at(path, place, f"expected one keyword in <>: {marked!r}")
    start = keywords[0].start()
    return plain, [start, start + len(keywords[0][1])]
