"""Readers of upstream files: text, CSV, and pickled data frames.

An unexpected format is an error with file, line and reason. A pickle may ask for any function by name: every
name that a data frame of text does not need is refused.
"""

import csv
import io
import pickle
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from gest_dataset.builders.config import Dropped, Fields, File, Files, Row
from gest_dataset.data.folder import read_parquet
from gest_dataset.errors import ConfigError, DataError, convert_errors
from gest_dataset.stereotypes import OWN_SENTENCES, OWN_TABLE, STEREOTYPES
from gest_dataset.storage import read_yaml, sha256

_KEYWORD = re.compile(r"<([^<>]*)>")
# Module -> its names that the pickle of a data frame of text needs
_ALLOWED: dict[str, list[str]] = read_yaml(Path(__file__).with_suffix(".yaml"))


def read_text(file: File) -> str:
    """Read a whole UTF-8 file, with or without a byte order mark."""
    try:
        return file.read_bytes().decode("utf-8-sig")
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
    with convert_errors(lambda error: DataError.at(file, reader.line_num, str(error))):
        for cells in reader:
            yield reader.line_num, cells


def read_csv(file: File) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the records of a CSV file with a header, each with the number of its last line."""
    records = read_cells(file)
    _, columns = next(records, (1, []))
    for line, cells in records:
        if len(cells) != len(columns):
            raise DataError.at(file, line, f"{len(cells)} fields, expected {len(columns)}")
        yield line, dict(zip(columns, cells, strict=True))


def stereotype_id(text: str, file: File, line: int) -> int:
    """Parse the number of a stereotype of GEST."""
    if OWN_TABLE and file != OWN_SENTENCES:
        raise ConfigError(
            "GEST_STEREOTYPES is set, so only your own data can be used: --data, the sentences of "
            "GEST_SENTENCES as the config en, and languages that you added. Unset it."
        )
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


def read_custom_rows(
    path: Path, fields: Fields, left_out: dict[str, int], files: Files, dropped: Dropped
) -> Iterator[Row]:
    """Yield the rows of a config that a user added; the name of the file is the SHA-256 of its content."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Add {path.parent.name} again.") from error
    if sha256(content) != path.stem:
        raise DataError(f"{path} is damaged. Add {path.parent.name} again, or remove {path.parent}.")
    dropped.update(left_out)
    table = read_parquet(pa.BufferReader(content)).select(list(fields))
    for batch in table.to_batches(max_chunksize=1000):
        yield from batch.to_pylist()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name not in _ALLOWED.get(module, ()):
            raise pickle.UnpicklingError(
                f"refused: the pickle asks for {module}.{name}, which a table of text does not need"
            )
        if name == "Int64Index":  # of pandas before 2.0
            module, name = "pandas.core.indexes.base", "Index"
        if find_spec("numpy._core"):  # numpy 2
            module = module.replace("numpy.core", "numpy._core")
        return super().find_class(module, name)


def read_pickle(file: File) -> dict[str, list[Any]]:
    """Read the columns of a pickled pandas data frame as lists."""
    with convert_errors(lambda error: DataError.at(file, "pickle", str(error) or repr(error))):
        frame = _Unpickler(io.BytesIO(file.read_bytes())).load()
        return {name: frame[name].tolist() for name in frame.columns}
