"""Data of a user's own: a table with the fields of a probe, or a folder that `gest` has written."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
from datasets import Dataset, Features, Value

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import STRING
from gest_dataset.builders.controls import FIELDS, QUADRUPLET
from gest_dataset.builders.neutral import SPAN
from gest_dataset.data import folder, parquet
from gest_dataset.data.tables import Table, read_table
from gest_dataset.errors import ConfigError, DataError, convert_errors, describe_error
from gest_dataset.measures import measure_of
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

_ID = "id"


def name_of(path: Path, config: str | None = None) -> str:
    """What a run on own data calls them: the name of the file or folder, and of a config if it is said.

    A name that a config of `gest` has is not theirs.

    >>> name_of(Path("data/mine.csv")), name_of(Path("gest-data"), "en"), name_of(Path("en.jsonl"))
    ('mine', 'gest-data-en', 'own-en')
    """
    path = path.resolve()
    name = path.name if path.is_dir() or config else path.stem
    name = f"{name}-{config}" if config else name
    return f"own-{name}" if name in CONFIGS else name


def read_own(path: Path, config: str | None = None) -> Dataset:
    """The rows of a file, or of a folder that `gest build` or `gest pairs` has written.

    `config` says which one of a folder with several. Every cell of a file is looked at here: what is wrong
    with one is said before a model is loaded.
    """
    if path.is_dir():
        rows = _read_folder(path, config)
    elif config is not None:
        raise ConfigError(f"{path} is one table: --config names a config of a folder, or one of gest.")
    else:
        rows = _read_file(path)
    rows.info.config_name = name_of(path, config)
    return rows


def _read_folder(path: Path, config: str | None) -> Dataset:
    offered = list(folder.read_checksums(path))
    if not offered:
        raise ConfigError(
            f"{path} holds no {folder.SUMS} of configs: give a file, or a folder that `gest build`, `gest "
            f"pairs` or `gest study translate-stereoset` has written."
        )
    if config is None and len(offered) > 1:
        raise ConfigError(f"{path} has several configs, choose one with --config: {', '.join(offered)}.")
    if config is not None and config not in offered:
        raise ConfigError(f"{path} has no config {config!r}, only {', '.join(offered)}.")
    name = config or offered[0]
    content = folder.read_config(path, name)
    file = folder.config_path(path, name)
    with convert_errors(lambda error: DataError(f"{file} is not a dataset ({describe_error(error)}).")):
        return Dataset(parquet.read_table(pa.BufferReader(content)), split=datasets.Split.TEST)


def _read_file(path: Path) -> Dataset:
    table = read_table(path)
    measure, probe = measure_of(list(table.columns), str(path))
    readers = {field: _TYPES.get(field, _text) for field in sorted(probe.fields)}
    if probe.label is not None:
        readers[probe.label] = _TOPICS[probe.label]
    unit = measure.unit.column
    if unit is not None and unit in table.columns:
        readers.setdefault(unit, _unit)
    columns: dict[str, Any] = {}
    features = {}
    if _ID in table.columns:
        columns[_ID] = [str(value) for value in _cells(table, _ID, _identifier)]
        features[_ID] = STRING
    for field, reader in readers.items():
        columns[field] = _cells(table, field, reader)
        features[field] = _FEATURES.get(reader, STRING)
    rows: Dataset = Dataset.from_dict(columns, Features(features))
    if not len(rows):
        raise DataError(f"{path} has no rows.")
    return rows


def _cells(table: Table, field: str, reader: Callable[[Any], Any]) -> list[Any]:
    values = []
    for row, value in enumerate(table.columns[field], start=1):
        try:
            values.append(reader(value))
        except ValueError as error:
            shown = "empty" if value in (None, "") else repr(value)
            raise DataError.at(table.path, f"row {row}", f"`{field}` is {shown}, not {error}") from error
    return values


def _identifier(value: Any) -> Any:
    if value in (None, ""):
        raise ValueError("the name of a sample")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text")
    return value


def _unit(value: Any) -> str | None:
    """What a sample was drawn with; a row without a name for it is drawn alone."""
    return None if value in (None, "") else str(value)


def _whole(value: Any, wanted: str) -> int:
    """A whole number, or one that a file of text has written down."""
    try:
        number = int(value)
    except (TypeError, ValueError) as error:
        raise ValueError(wanted) from error
    if isinstance(value, float) and value != number:
        raise ValueError(wanted)
    return number


def _number(numbers: Container[int], wanted: str) -> Callable[[Any], int]:
    """A reader of cells that hold one of some numbers."""

    def read(value: Any) -> int:
        number = _whole(value, wanted)
        if number not in numbers:
            raise ValueError(wanted)
        return number

    return read


_place = _number(range(sys.maxsize), "the number of a word, from 0")
_stereotype = _number(STEREOTYPES, f"the number of a stereotype, 1 to {len(STEREOTYPES)}")


def _gender(value: Any) -> str:
    if value not in GENDERS:
        raise ValueError(f"one of {', '.join(GENDERS)}")
    return str(value)


def _spans(value: Any) -> list[list[int]] | None:
    """Where the four keywords stand; a file of text has them as JSON, and there may be none."""
    wanted = f"{len(FIELDS)} pairs [start, end] of characters"
    if value in (None, ""):
        return None
    try:
        spans = json.loads(value) if isinstance(value, str) else value
        pairs = [[_whole(start, wanted), _whole(end, wanted)] for start, end in spans]
    except (TypeError, ValueError) as error:
        raise ValueError(wanted) from error
    if len(pairs) != len(FIELDS) or any(not 0 <= start < end for start, end in pairs):
        raise ValueError(wanted)
    return pairs


def _span(value: Any) -> list[int]:
    """Where some words stand; a file of text has it as JSON."""
    wanted = "[start, end] in characters"
    try:
        start, end = (
            _whole(each, wanted) for each in (json.loads(value) if isinstance(value, str) else value)
        )
    except (TypeError, ValueError) as error:
        raise ValueError(wanted) from error
    if not 0 <= start < end:
        raise ValueError(wanted)
    return [start, end]


# How the cells of a field are read that are no texts; the second table is of what samples are about
_TYPES: dict[str, Callable[[Any], Any]] = {
    "word_index": _place,
    "keywords": _spans,
    "masculine_span": _span,
    "feminine_span": _span,
}
_TOPICS: dict[str, Callable[[Any], Any]] = {"stereotype": _stereotype, "occupation_gender": _gender}
_FEATURES = {
    _place: Value("int32"),
    _stereotype: Value("int32"),
    _spans: QUADRUPLET["keywords"].feature,
    _span: SPAN,
}
