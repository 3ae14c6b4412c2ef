"""Parsing in worker processes."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from gest_dataset.gender import ParserError
from gest_dataset.gender.parsers.workers import parse_with_workers

WORKER = """
import json, os, sys
print(json.dumps({ready}), flush=True)
for number, line in enumerate(sys.stdin):
    if number == {dies}:
        print("out of breath", file=sys.stderr, flush=True)
        os._exit(7)
    print(json.dumps({{"documents": [text.upper() for text in json.loads(line)]}}), flush=True)
"""


def worker(tmp_path: Path, ready: str = '{"ready": True}', dies: int = -1) -> list[str]:
    path = tmp_path / "worker.py"
    path.write_text(WORKER.format(ready=ready, dies=dies), encoding="utf-8")
    return [sys.executable, str(path)]


@pytest.mark.parametrize("number", [1, 2])
def test_every_text_is_parsed(tmp_path: Path, number: int) -> None:
    texts = [f"text {i} š" for i in range(30)]
    found = {
        t: d for batch in parse_with_workers(worker(tmp_path), texts, number, 4) for t, d in batch.items()
    }
    assert found == {text: text.upper() for text in texts}


def test_dead_worker(tmp_path: Path) -> None:
    batches = parse_with_workers(worker(tmp_path, dies=0), ["x", "y"], 1, 1)
    with pytest.raises(ParserError, match="stopped with exit code 7: out of breath"):
        list(batches)


def test_worker_that_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(ParserError, match="no model here"):
        list(parse_with_workers(worker(tmp_path, ready='{"error": "no model here"}'), ["x"], 1, 1))
    with pytest.raises(ParserError, match="stopped with exit code"):
        list(parse_with_workers([sys.executable, str(tmp_path / "nowhere.py")], ["x"], 1, 1))


def test_a_reader_that_stops_early_leaves_no_worker(tmp_path: Path) -> None:
    """Ctrl-C: the workers end with the generator, even one that would never answer."""
    before = set(threading.enumerate())
    command = worker(tmp_path)
    path = Path(command[1])
    path.write_text(path.read_text() + "    import time; time.sleep(3600 * (number > 2))\n")
    batches = parse_with_workers(command, [str(i) for i in range(40)], 2, 4)
    next(batches)
    batches.close()
    assert set(threading.enumerate()) == before
