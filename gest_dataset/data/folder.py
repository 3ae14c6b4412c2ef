"""A folder of configs that plain `datasets` reads: one Parquet file each, and their checksums.

`SHA256SUMS` has the format of `sha256sum --check`. A file that differs from its checksum is not read.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pyarrow as pa

from gest_dataset.data.parquet import write_table
from gest_dataset.errors import DataError
from gest_dataset.storage import atomic_path

CARD = "README.md"
SUMS = "SHA256SUMS"
CROISSANT = "croissant.json"
BENCHMARK = "eval.yaml"
DATA_FILE = "test-00000-of-00001.parquet"
_LINE = re.compile(rf"([0-9a-f]{{64}})  ([\w-]+)/{re.escape(DATA_FILE)}")


def config_path(folder: Path, config: str) -> Path:
    """The file of a config."""
    return folder / config / DATA_FILE


def write_config(folder: Path, config: str, table: pa.Table) -> Path:
    """Write the file of a config, then its checksum."""
    path = config_path(folder, config)
    write_table(path, table)
    sums = {**read_checksums(folder), config: _sha256(path.read_bytes())}
    with atomic_path(folder / SUMS) as partial:
        lines = (f"{sums[name]}  {name}/{DATA_FILE}\n" for name in sorted(sums))
        partial.write_text("".join(lines), encoding="utf-8")
    return path


def read_checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each config's file, by config."""
    try:
        text = (folder / SUMS).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    matches = map(_LINE.fullmatch, text.splitlines())
    return {match[2]: match[1] for match in matches if match}


def is_intact(folder: Path, config: str, content: bytes) -> bool:
    """Whether the content of a config's file agrees with its checksum."""
    return read_checksums(folder).get(config) == _sha256(content)


def read_config(folder: Path, config: str) -> bytes:
    """Read and verify the file of a config."""
    path = config_path(folder, config)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Run `gest build` again.") from error
    if not is_intact(folder, config, content):
        raise DataError(f"{path} does not match its checksum in {SUMS}. Run `gest build` again.")
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
