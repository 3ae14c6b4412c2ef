"""Tables of any size, row by row: the same rows as at once, and little memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import datasets
import pandas as pd
import pytest

from gest_dataset.data.tables import read_table, stream
from gest_dataset.errors import DataError

ROW = {"id": "gest-0001", "text": 'ďakujem, "a"\nनमस्ते'}


def csv_file(path: Path, rows: int) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("id,text\n")
        for number in range(rows):
            file.write(f'{number},"{"x" * 80} ""{number}"" ě"\n')
    return path


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "saved": lambda frame, path: datasets.Dataset.from_pandas(frame).save_to_disk(path),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_the_rows_are_those_of_the_whole_table(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame([{**ROW, "id": str(number)} for number in range(2500)])
    path = tmp_path / f"a.{kind}"
    WRITERS[kind](frame, path)
    streamed = stream(path)
    rows = list(streamed.rows)
    assert streamed.names == ("id", "text")
    assert [number for number, _ in rows] == list(range(1, 2501))
    assert [list(cells) for _, cells in rows] == frame.to_numpy().tolist()
    assert read_table(path).columns == {name: list(frame[name]) for name in frame}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_memory_does_not_grow_with_the_file(kind: str, tmp_path: Path) -> None:
    path = csv_file(tmp_path / "a.csv", 60_000)
    if kind != "csv":
        frame = pd.read_csv(path, dtype=str)
        path = tmp_path / f"a.{kind}"
        WRITERS[kind](frame, path)
        del frame
    tracemalloc.start()
    number = sum(1 for _ in stream(path).rows)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert number == 60_000
    assert most < 2_000_000, "the file has six million bytes or more"


@pytest.mark.parametrize("place", [0, 8190, 100_000, (1 << 20) - 1, (1 << 20) + 7])
def test_the_line_that_is_no_utf_8(place: int, tmp_path: Path) -> None:
    """Wherever the pieces end in which the file is decoded."""
    filler = ("ě" * 40 + "\n").encode()
    head = b"text\n" + filler * (place // len(filler))
    (tmp_path / "a.csv").write_bytes(head + b"x\xffy\n" + filler * 3)
    with pytest.raises(DataError) as caught:
        list(stream(tmp_path / "a.csv").rows)
    assert f"line {head.count(10) + 1}: this is not UTF-8" in str(caught.value)


def test_a_letter_that_two_pieces_share_does_not_move_the_line(tmp_path: Path) -> None:
    head = b"text\n"
    filler = b"a" * ((1 << 20) - len(head) - 2)
    (tmp_path / "a.csv").write_bytes(head + filler + "€".encode() + b"\xff\nb\n")
    with pytest.raises(DataError, match="line 2: this is not UTF-8"):
        list(stream(tmp_path / "a.csv").rows)


def test_a_file_that_ends_within_a_letter(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("text\na\ně".encode()[:-1])
    with pytest.raises(DataError, match="line 3: this is not UTF-8"):
        list(stream(tmp_path / "a.csv").rows)


def test_a_line_without_an_end(tmp_path: Path) -> None:
    """It is refused before all of it is in memory."""
    with (tmp_path / "a.jsonl").open("wb") as file:
        file.truncate(64 << 20)  # NUL bytes, which take no room on the disk
    tracemalloc.start()
    with pytest.raises(DataError, match="line 1: a line of more than 16,777,216 characters"):
        stream(tmp_path / "a.jsonl")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 50_000_000


_ADD = """
import resource, sys
import gest_dataset
from gest_dataset.errors import GestError
gest_dataset.add_language("hi", sys.argv[1])  # small: everything is imported
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    gest_dataset.add_language("hi", sys.argv[2], replace=True)
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, before)
"""


@pytest.mark.slow
def test_a_file_of_two_gigabytes(tmp_path: Path, mirror: Path, home: Path) -> None:
    """Its rows are read one by one, and each that is left out is in the report."""
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    good = "I was sure of myself on the stage.,मैं थक गया\n"
    small.write_text(f"source,translation\n{good}", encoding="utf-8")
    line = f"Not in GEST {'x' * 2000},{'मैं ' * 200}\n"
    with large.open("w", encoding="utf-8") as file:
        file.write(f"source,translation\n{good}")
        while file.tell() < 2_000_000_000:
            file.write(line * 1000)
    ran = subprocess.run(
        [sys.executable, "-c", _ADD, str(small), str(large)], capture_output=True, text=True, check=True
    )
    grown, before = map(int, ran.stdout.split())
    assert resource.getpagesize() > 0
    assert grown < 100_000, "kilobytes"
    assert grown + before < 1_000_000
