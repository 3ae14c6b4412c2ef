"""The response cache: values survive a kill, damage is noticed, processes share one file."""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.cache import ResponseCache, cache_key, owner_of
from gest_dataset.errors import OutputError

_PROCESSES = multiprocessing.get_context("spawn")


def test_values_come_back_exactly(tmp_path: Path) -> None:
    values: dict[str, Any] = {"a": [0.1, -1e-300, None], "b": {"text": "žena 👩", "n": 3}, "c": "x" * 10_000}
    values |= {f"key {number}": number for number in range(40_000)}
    with ResponseCache(tmp_path / "new" / "cache.sqlite3") as cache:
        cache.put(values)
    with ResponseCache(tmp_path / "new" / "cache.sqlite3") as cache:
        assert cache.get([*values, "missing"]) == values


def test_a_key_covers_every_part() -> None:
    keys = {cache_key("a", "bc"), cache_key("ab", "c"), cache_key("a", ["bc"]), cache_key("a", "bc", None)}
    assert len(keys) == 4


@pytest.mark.parametrize("column", ["value", "checksum", "key"])
def test_a_damaged_row_is_missing_and_reported(
    tmp_path: Path, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache.sqlite3"
    with ResponseCache(path) as cache:
        cache.put({"a": "leadership", "b": 2})
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE responses SET {column} = 'c' WHERE key = 'a'")
    connection.commit()
    connection.close()
    with caplog.at_level(logging.WARNING), ResponseCache(path) as cache:
        assert cache.get(["a", "b", "c"]) == {"b": 2}
        assert "1 damaged responses" in caplog.text
        cache.put({"a": "leadership"})
        assert cache.get(["a"]) == {"a": "leadership"}


def test_the_intact_rows_of_a_damaged_file_are_saved(tmp_path: Path) -> None:
    """One flipped bit anywhere, half of the time in the first page, which describes the others."""
    path, moments = tmp_path / "cache.sqlite3", random.Random(3)
    values = {cache_key(number): "leadership " * (number % 500) for number in range(300)}
    with ResponseCache(path, 7) as cache:
        cache.put(values)
    content = path.read_bytes()
    for number in range(60):
        position = moments.randrange(8 * (4096 if number % 2 else len(content)))
        damaged = bytearray(content)
        damaged[position // 8] ^= 1 << position % 8
        path.write_bytes(damaged)
        with ResponseCache(path, 7) as cache:
            intact = cache.get(values)
            cache.put({"new": 1})
            assert cache.get(["new"]) == {"new": 1}
        assert intact.items() <= values.items()
        assert len(intact) > 250
        assert owner_of(path) == 7
        assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine " * 1000)
    with pytest.raises(OutputError, match=r"notes\.txt cannot be used"):
        ResponseCache(path)
    assert path.read_text() == "mine " * 1000


def _write(path: Path, name: str, number: int) -> None:
    with ResponseCache(path) as cache:
        for index in range(number):
            cache.put({f"{name}-{index}": index})
        if name == "killed":
            os.kill(os.getpid(), signal.SIGKILL)


def test_processes_share_a_file_and_a_kill_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    jobs = [_PROCESSES.Process(target=_write, args=(path, name, 30)) for name in ("one", "two", "killed")]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    keys = [f"{name}-{index}" for name in ("one", "two", "killed") for index in range(30)]
    with ResponseCache(path) as cache:
        assert len(cache.get(keys)) == 90
