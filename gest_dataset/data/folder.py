"""A folder of configs that plain `datasets` reads: a Parquet file each, and what they were when written.

`SHA256SUMS` is in the format of `sha256sum --check`, for people; this package reads no file that differs from
it. A config is written before its line is: one whose line is missing or another is not whole.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pyarrow as pa

from gest_dataset.data.parquet import write_table
from gest_dataset.errors import DataError
from gest_dataset.storage import atomic_path

SUMS = "SHA256SUMS"
CROISSANT = "croissant.json"
BENCHMARK = "eval.yaml"
DATA_FILE = "test-00000-of-00001.parquet"
_AGAIN = "Run the command again that has written it (`gest build`, `gest pairs` …)."
_LINE = re.compile(rf"([0-9a-f]{{64}})  ([\w-]+)/{re.escape(DATA_FILE)}")


def path_of(folder: Path, config: str) -> Path:
    """The one file of a config."""
    return folder / config / DATA_FILE


def write_config(folder: Path, config: str, table: pa.Table) -> Path:
    """The whole file, and its line."""
    path = path_of(folder, config)
    write_table(path, table)
    sums = {**noted(folder), config: _sha256(path.read_bytes())}
    with atomic_path(folder / SUMS) as partial:
        lines = (f"{sums[name]}  {name}/{DATA_FILE}\n" for name in sorted(sums))
        partial.write_text("".join(lines), encoding="utf-8")
    return path


def noted(folder: Path) -> dict[str, str]:
    """The SHA-256 of each config by its name; a line in another form says nothing."""
    try:
        text = (folder / SUMS).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DataError(f"{folder / SUMS} cannot be read: {error.strerror}.") from error
    lines = (_LINE.fullmatch(line) for line in text.split("\n"))
    return {line[2]: line[1] for line in lines if line}


def is_whole(folder: Path, config: str, content: bytes) -> bool:
    """Whether these are the bytes that were written for a config."""
    return noted(folder).get(config) == _sha256(content)


def read_config(folder: Path, config: str) -> bytes:
    """A config's file, to be parsed from these bytes: they are those that were compared."""
    path = path_of(folder, config)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. {_AGAIN}") from error
    if not is_whole(folder, config, content):
        raise DataError(
            f"{path} is not as it was written: {SUMS} says so. It was damaged, or changed by hand. {_AGAIN}"
        )
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
