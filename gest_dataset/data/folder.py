"""A folder of configs that plain `datasets` reads: one Parquet file each, and their checksums.

`SHA256SUMS` has the format of `sha256sum --check`. A file that differs from its checksum is not read.
"""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset.errors import DataError
from gest_dataset.storage import atomic_path, sha256, write_file

CARD = "README.md"
SUMS = "SHA256SUMS"
BENCHMARK = "eval.yaml"
DATA_FILE = "test-00000-of-00001.parquet"
_LINE = re.compile(rf"([0-9a-f]{{64}})  ([\w-]+)/{re.escape(DATA_FILE)}")


def write_parquet(path: Path, table: pa.Table) -> None:
    with atomic_path(path) as partial:
        pq.write_table(table, partial, write_page_checksum=True)


def read_parquet(source: Path | pa.NativeFile) -> pa.Table:
    """Read a Parquet file; a damaged page is an OSError.

    In this thread only: Arrow's read-ahead threads can abort a process that ends meanwhile
    (https://github.com/apache/arrow/issues/34314).
    """
    with pq.ParquetFile(source, pre_buffer=False, page_checksum_verification=True) as file:
        return file.read(use_threads=False)


def config_path(folder: Path, config: str) -> Path:
    return folder / config / DATA_FILE


def write_config(folder: Path, config: str, table: pa.Table) -> Path:
    """Write the file of a config, then its checksum."""
    path = config_path(folder, config)
    write_parquet(path, table)
    sums = {**read_checksums(folder), config: sha256(path.read_bytes())}
    write_file(folder / SUMS, "".join(f"{sums[name]}  {name}/{DATA_FILE}\n" for name in sorted(sums)))
    return path


def read_checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each config's file, by config."""
    path = folder / SUMS
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return {match[2]: match[1] for match in map(_LINE.fullmatch, text.splitlines()) if match}


def is_intact(folder: Path, config: str, content: bytes) -> bool:
    """Whether the content of a config's file agrees with its checksum."""
    return read_checksums(folder).get(config) == sha256(content)


def read_config(folder: Path, config: str) -> bytes:
    path = config_path(folder, config)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Run `gest build` again.") from error
    if not is_intact(folder, config, content):
        raise DataError(f"{path} does not match its checksum in {SUMS}. Run `gest build` again.")
    return content
