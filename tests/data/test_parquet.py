"""Parquet as it is read: in the thread that asks, to the end."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa

from gest_dataset.data.parquet import read_table, write_table


class Watched(io.BytesIO):
    """Bytes that know which threads have read them."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.threads: set[int] = set()

    def read(self, *arguments: Any) -> bytes:
        self.threads.add(threading.get_ident())
        return super().read(*arguments)


def test_no_thread_holds_the_bytes_when_a_table_has_been_read(tmp_path: Path) -> None:
    """One that does aborts a process which ends just then, with a signal in the place of its exit code."""
    table = pa.table({"id": ["a", "b"], "log_ratio": [0.5, -0.5]})
    write_table(tmp_path / "scores.parquet", table)
    watched = Watched((tmp_path / "scores.parquet").read_bytes())
    assert read_table(pa.PythonFile(watched, mode="r")).equals(table)
    assert watched.threads == {threading.get_ident()}
