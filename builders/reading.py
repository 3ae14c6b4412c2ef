"""Readers of upstream text and CSV files. An unexpected format is an error with file, line and reason."""

import csv
import io
import re
from collections.abc import Iterator

from gest_dataset.builders.config import File
from gest_dataset.errors import DataError
from gest_dataset.stereotypes import STEREOTYPES

_KEYWORD = re.compile(r"<([^<>]*)>")


def read_text(file: File) -> str:
    """Read a whole UTF-8 file."""
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{file} is not UTF-8: {error}") from error


def read_lines(file: File) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def read_cells(file: File) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a CSV file, each with the number of its last line."""
    reader = csv.reader(io.StringIO(read_text(file), newline=""), strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise DataError.at(file, reader.line_num, str(error)) from error


def read_csv(file: File) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the records of a CSV file with a header, each with the number of its last line."""
    records = read_cells(file)
    _, columns = next(records, (1, []))
    for line, cells in records:
        if len(cells) != len(columns):
            raise DataError.at(file, line, f"{len(cells)} fields, expected {len(columns)}")
        yield line, dict(zip(columns, cells, strict=True))


def stereotype_id(text: str, file: File, line: int) -> int:
    """Parse the number of a stereotype, 1 to 16."""
    if text.isascii() and text.isdigit() and int(text) in STEREOTYPES:
        return int(text)
    raise DataError.at(file, line, f"unknown stereotype {text!r}, expected 1 to {len(STEREOTYPES)}")


def keyword_span(marked: str, file: File, place: int | str) -> tuple[str, list[int]]:
    """Split a sentence with its keyword in `<>` into the plain sentence and the keyword's [start, end)."""
    keywords = list(_KEYWORD.finditer(marked))
    plain = _KEYWORD.sub(r"\1", marked)
    if len(keywords) != 1 or not keywords[0][1].strip() or "<" in plain or ">" in plain:
        raise DataError.at(file, place, f"expected one keyword in <>: {marked!r}")
    start = keywords[0].start()
    return plain, [start, start + len(keywords[0][1])]
