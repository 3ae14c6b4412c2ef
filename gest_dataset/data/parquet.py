"""Parquet as this package writes and reads it: every page has a checksum, and it is looked at."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset.storage import atomic_path


def write_table(path: Path, table: pa.Table) -> None:
    """The whole file, or none."""
    with atomic_path(path) as partial:
        pq.write_table(table, partial, write_page_checksum=True)


def read_table(source: Path | pa.NativeFile) -> pa.Table:
    """A table; damage of a page that has a checksum is an OSError.

    All in this thread: others that Arrow reads ahead in still hold the bytes when it has returned, and abort
    a process that ends just then (apache/arrow, issue 34314).
    """
    with pq.ParquetFile(source, pre_buffer=False, page_checksum_verification=True) as file:
        return file.read(use_threads=False)
