"""The user's own data: a table with the fields of a probe, or a folder written by `gest`."""

import json
import re
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
from datasets import Dataset, Features, Value

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import KIND_FIELDS, STRING
from gest_dataset.data import folder
from gest_dataset.data.rows import check_stereotypes
from gest_dataset.data.user_tables import read_user_table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures import measure_of
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

_SPAN = (KIND_FIELDS["neutral"]["masculine_span"].feature, "[start, end] in characters")
# Field -> its type, and what a cell must be; other fields are texts
_FIELDS: dict[str, tuple[Any, str]] = {
    "id": (STRING, "the name of a sample"),
    "stereotype": (Value("int32"), f"the number of a stereotype, 1 to {len(STEREOTYPES)}"),
    "word_index": (Value("int32"), "the number of a word, from 0"),
    "occupation_gender": (STRING, f"one of {', '.join(GENDERS)}"),
    "masculine_span": _SPAN,
    "feminine_span": _SPAN,
    "keywords": (KIND_FIELDS["quadruplets"]["keywords"].feature, "4 pairs [start, end] in characters"),
}
_TEXT = (STRING, "a text")


def data_name(path: Path, config: str | None = None) -> str:
    """The name of a run's data: the file or folder, and the config; names of built-in configs are avoided.

    >>> data_name(Path("data/mine.csv")), data_name(Path("gest-data"), "en"), data_name(Path("en.jsonl"))
    ('mine', 'gest-data-en', 'own-en')
    """
    path = path.resolve()
    name = path.name if path.is_dir() or config else path.stem
    name = f"{name}-{config}" if config else name
    return f"own-{name}" if name in CONFIGS else name


def read_user_rows(path: Path, config: str | None = None) -> Dataset:
    """The rows of a file, or of a config in a folder written by `gest build` or `gest pairs`."""
    if path.is_dir():
        configs = list(folder.read_checksums(path))
        if not configs:
            raise ConfigError(f"{path} has no {folder.SUMS}. Give a file, or a folder of `gest build`.")
        name = configs[0] if config is None and len(configs) == 1 else config
        if name not in configs:
            raise ConfigError(f"Choose one of the configs of {path} with --config: {', '.join(configs)}.")
        table = folder.read_parquet(pa.BufferReader(folder.read_config(path, name)))
        rows = check_stereotypes(Dataset(table, split=datasets.Split.TEST))
    elif config is not None:
        raise ConfigError(f"{path} is a single table, so --config does not apply.")
    else:
        rows = _read_file(path)
    rows.info.config_name = data_name(path, config)
    return rows


def _read_file(path: Path) -> Dataset:
    table = read_user_table(path)
    measure, probe = measure_of(list(table.columns), str(path))
    names = dict.fromkeys(["id", *sorted(probe.fields), measure.unit.column])
    columns: dict[str, list[Any]] = {name: [] for name in names if name and name in table.columns}
    features = Features()
    for name, values in columns.items():
        # StereoSet has a text called `stereotype`
        kind = "text" if name == "stereotype" and probe.label != name else name
        features[name], meaning = _FIELDS.get(kind, _TEXT)
        for number, value in enumerate(table.columns[name], start=1):
            try:
                values.append(_parse(kind, value, optional=name not in ("id", *probe.fields)))
            except (TypeError, ValueError) as error:
                shown = "empty" if value in (None, "") else repr(value)
                problem = f"`{name}` is {shown}, not {meaning}"
                raise DataError.at(table.path, f"row {number}", problem) from error
    rows: Dataset = Dataset.from_dict(columns, features)
    if not len(rows):
        raise DataError(f"{path} has no rows.")
    return rows


def _parse(name: str, value: Any, optional: bool) -> Any:
    """The value of a cell; a TypeError or ValueError if it does not fit the field."""
    if value in (None, ""):
        if optional or name == "keywords":
            return None
        raise ValueError
    if optional or name == "id":
        return str(value)
    if name in ("stereotype", "word_index"):
        if isinstance(value, bool) or not re.fullmatch(r"\d+(\.0)?", str(value).strip(), re.ASCII):
            raise ValueError  # int("1_0") is 10
        value = int(float(value))
        valid = value in STEREOTYPES or name == "word_index"
    elif name in ("masculine_span", "feminine_span", "keywords"):
        value = json.loads(value) if isinstance(value, str) else value  # text files hold lists as JSON
        spans = value if name == "keywords" else [value]
        valid = len(spans) == (4 if name == "keywords" else 1) and all(
            type(start) is type(end) is int and 0 <= start < end for start, end in spans
        )
    else:
        valid = isinstance(value, str) and bool(value.strip())
        valid &= name != "occupation_gender" or value in GENDERS
    if not valid:
        raise ValueError
    return value
