"""Configs that a user added, read from the folder of user data.

    GEST_HOME/configs/NAME/facts.json       the metadata, with the SHA-256 of the rows
    GEST_HOME/configs/NAME/SHA256.parquet   the rows

`gest_dataset.custom.store` writes them.
"""

import hashlib
import json
import re
from collections.abc import Container, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from gest_dataset import user_data
from gest_dataset.builders.config import KIND_FIELDS, Config, CustomData, Dropped, Family, Fields, File, Row
from gest_dataset.data.folder import read_table
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES

FOLDER = "configs"
GROUP = "added"
# Valid as a folder name, in a shell and for `datasets`
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_ROWS_AT_ONCE = 1000


def read_custom_configs(reserved: Container[str]) -> tuple[dict[str, Config], dict[str, str]]:
    """Read all custom configs, sorted by family, and the errors of those that cannot be used."""
    configs, damaged = user_data.read_all(FOLDER, partial(_config, reserved))
    return dict(sorted(configs.items(), key=lambda item: (item[1].family.name, item[0]))), damaged


def metadata_digest(metadata: dict[str, Any]) -> str:
    """A hash of the metadata of a config."""
    return hashlib.sha256(json.dumps(metadata, sort_keys=True).encode()).hexdigest()


def _config(reserved: Container[str], folder: Path, metadata: dict[str, Any]) -> Config:
    if not NAME.fullmatch(folder.name) or folder.name in reserved:
        raise ValueError(f"{folder.name!r} is not a valid name for a custom config")
    unknown = [code for code in metadata["languages"] if code not in LANGUAGES]
    if unknown:
        raise ValueError(f"its language {unknown[0]!r} is missing")
    fields = KIND_FIELDS[metadata["kind"]]
    path = folder / f"{metadata['sha256']}.parquet"
    return Config(
        name=folder.name,
        family=Family(**metadata["family"]),
        description=metadata["description"],
        sources=(),
        fields=fields,
        read=partial(_read_rows, path, fields, metadata["dropped"]),
        published_rows=metadata["rows"],
        languages=tuple(metadata["languages"]),
        custom=CustomData(path, metadata_digest(metadata), metadata["licence"]),
    )


def _read_rows(
    path: Path, fields: Fields, left_out: dict[str, int], files: Mapping[str, File], dropped: Dropped
) -> Iterator[Row]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Add {path.parent.name} again.") from error
    if hashlib.sha256(content).hexdigest() != path.stem:
        raise DataError(f"{path} is damaged. Add {path.parent.name} again, or remove {path.parent}.")
    dropped.update(left_out)
    table = read_table(pa.BufferReader(content)).select(list(fields))
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        yield from batch.to_pylist()
