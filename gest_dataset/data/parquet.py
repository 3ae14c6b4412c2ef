"""Writing and reading of Parquet files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset.storage import atomic_path


def write_table(path: Path, table: pa.Table) -> None:
    """Write a Parquet file atomically."""
    with atomic_path(path) as partial:
        pq.write_table(table, partial, write_page_checksum=True)


def read_table(source: Path | pa.NativeFile) -> pa.Table:
    """Read a Parquet file; a damaged page is an OSError.

    In this thread only: Arrow's read-ahead threads can abort a process that ends meanwhile
    (https://github.com/apache/arrow/issues/34314).
    """
    with pq.ParquetFile(source, pre_buffer=False, page_checksum_verification=True) as file:
        return file.read(use_threads=False)
