"""The user's own data: a table with the fields of a probe, or a folder written by `gest`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import partial
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
from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError, DataError, convert_errors, describe_error
from gest_dataset.measures import measure_of
from gest_dataset.stereotypes import GENDERS, STEREOTYPES


def data_name(path: Path, config: str | None = None) -> str:
    """The name of a run's data: the file or folder, and the config; names of built-in configs are avoided.

    >>> data_name(Path("data/mine.csv")), data_name(Path("gest-data"), "en"), data_name(Path("en.jsonl"))
    ('mine', 'gest-data-en', 'own-en')
    """
    path = path.resolve()
    name = path.name if path.is_dir() or config else path.stem
    name = f"{name}-{config}" if config else name
    return f"own-{name}" if name in CONFIGS else name


def read_user_data(path: Path, config: str | None = None) -> Dataset:
    """The rows of a file, or of a config in a folder written by `gest build` or `gest pairs`."""
    if path.is_dir():
        rows = _read_folder(path, config)
    elif config is not None:
        raise ConfigError(f"{path} is a single table, so --config does not apply.")
    else:
        rows = _read_file(path)
    rows.info.config_name = data_name(path, config)
    return rows


def _read_folder(path: Path, config: str | None) -> Dataset:
    configs = list(folder.read_checksums(path))
    if not configs:
        raise ConfigError(
            f"{path} has no {folder.SUMS}. Give a file, or a folder written by `gest build`, `gest pairs` or "
            f"`gest study translate-stereoset`."
        )
    if config is None and len(configs) > 1:
        raise ConfigError(f"{path} has several configs. Choose one with --config: {', '.join(configs)}.")
    if config is not None and config not in configs:
        raise ConfigError(f"{path} has no config {config!r}, only {', '.join(configs)}.")
    name = config or configs[0]
    content = folder.read_config(path, name)

    def damaged(error: BaseException) -> DataError:
        return DataError(
            f"{folder.config_path(path, name)} is damaged ({describe_error(error)}). Build it again."
        )

    with convert_errors(damaged):
        return Dataset(parquet.read_table(pa.BufferReader(content)), split=datasets.Split.TEST)


def _read_file(path: Path) -> Dataset:
    table = read_table(path)
    measure, probe = measure_of(list(table.columns), str(path))
    fields = dict.fromkeys(sorted(probe.fields), _TEXT)
    fields |= {field: _FIELDS[field] for field in probe.fields if field in _FIELDS}
    if probe.label is not None:
        fields[probe.label] = _TOPICS[probe.label]
    if measure.unit.column is not None and measure.unit.column in table.columns:
        fields.setdefault(measure.unit.column, _UNIT)
    if "id" in table.columns:
        fields = {"id": _ID, **fields}
    columns: dict[str, list[Any]] = {}
    for field, kind in fields.items():
        columns[field] = []
        for number, value in enumerate(table.columns[field], start=1):
            try:
                columns[field].append(kind.parse(value))
            except (TypeError, ValueError) as error:
                shown = "empty" if value in (None, "") else repr(value)
                problem = f"`{field}` is {shown}, not {kind.description}"
                raise DataError.at(table.path, f"row {number}", problem) from error
    features = Features({field: kind.feature for field, kind in fields.items()})
    rows: Dataset = Dataset.from_dict(columns, features)
    if not len(rows):
        raise DataError(f"{path} has no rows.")
    return rows


@dataclass(frozen=True)
class _Field:
    """How a cell is parsed; `parse` raises a TypeError or ValueError if it is not the `description`."""

    parse: Callable[[Any], Any]
    description: str
    feature: Any


def _parse_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def _parse_name(value: Any) -> str:
    if value in (None, ""):
        raise ValueError
    return str(value)


def _parse_optional_name(value: Any) -> str | None:
    return None if value in (None, "") else str(value)


def _parse_gender(value: Any) -> str:
    if value not in GENDERS:
        raise ValueError
    return str(value)


def _parse_integer(value: Any, allowed: Container[int] = range(sys.maxsize)) -> int:
    number = int(value)
    if number not in allowed or (isinstance(value, float) and value != number):
        raise ValueError
    return number


def _parse_span(value: Any) -> list[int]:
    """A span; text files hold it as JSON."""
    start, end = map(_parse_integer, json.loads(value) if isinstance(value, str) else value)
    if start >= end:
        raise ValueError
    return [start, end]


def _parse_spans(value: Any) -> list[list[int]] | None:
    if value in (None, ""):
        return None
    spans = json.loads(value) if isinstance(value, str) else value
    if len(spans) != len(FIELDS):
        raise ValueError
    return [_parse_span(span) for span in spans]


_INTEGER = Value("int32")
_TEXT = _Field(_parse_text, "a text", STRING)
_ID = _Field(_parse_name, "the name of a sample", STRING)
_UNIT = _Field(_parse_optional_name, "the name of a unit", STRING)
_SPAN = _Field(_parse_span, "[start, end] in characters", SPAN)
_SPANS = f"{len(FIELDS)} pairs [start, end] of characters"
_NUMBER = f"the number of a stereotype, 1 to {len(STEREOTYPES)}"
_FIELDS = {
    "word_index": _Field(_parse_integer, "the number of a word, from 0", _INTEGER),
    "keywords": _Field(_parse_spans, _SPANS, QUADRUPLET["keywords"].feature),
    "masculine_span": _SPAN,
    "feminine_span": _SPAN,
}
_TOPICS = {
    "stereotype": _Field(partial(_parse_integer, allowed=STEREOTYPES), _NUMBER, _INTEGER),
    "occupation_gender": _Field(_parse_gender, f"one of {', '.join(GENDERS)}", STRING),
}
