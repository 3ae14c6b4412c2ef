"""Parsing in worker processes: several at once, and with another Python if the parser needs one."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from gest_dataset.gender.parsers.parser import ParserError

SCRIPT = Path(__file__).with_name("worker.py")
_MAX_MESSAGE = 1500  # characters of a dead worker's output that an error shows


def parse_with_workers(
    command: Sequence[str], texts: Sequence[str], workers: int, batch: int
) -> Iterator[Mapping[str, str]]:
    """Parse texts in worker processes (see worker.py); the batches come in no particular order."""
    batches = [list(texts[start : start + batch]) for start in range(0, len(texts), batch)]
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    processes = [_Worker(command) for _ in range(min(workers, len(batches)))]
    for process in processes:
        idle.put(process)

    def parse(texts: list[str]) -> dict[str, str]:
        worker = idle.get()
        try:
            return dict(zip(texts, worker.parse(texts), strict=True))
        finally:
            idle.put(worker)

    executor = ThreadPoolExecutor(max(1, len(processes)))
    try:
        for future in as_completed([executor.submit(parse, texts) for texts in batches]):
            yield future.result()
    finally:
        for process in processes:
            process.kill()
        executor.shutdown(cancel_futures=True)
        for process in processes:
            process.close()


class _Worker:
    """One worker process."""

    def __init__(self, command: Sequence[str]) -> None:
        self._name = " ".join(command[:2])
        self._is_ready = False
        self._messages = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C reaches only the main process, which kills the workers
        )

    def parse(self, texts: list[str]) -> list[str]:
        """The CoNLL-U of each text."""
        if not self._is_ready:
            self._answer()
            self._is_ready = True
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(texts) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._died() from error
        documents: list[str] = self._answer()["documents"]
        return documents

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise self._died()
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ParserError(answer["error"])
        return answer

    def _died(self) -> ParserError:
        code = self._process.wait()
        self._messages.seek(0)
        output = self._messages.read()[-_MAX_MESSAGE:].strip() or "no output; perhaps out of memory"
        return ParserError(f"The parser ({self._name}) stopped with exit code {code}: {output}")

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.communicate()
        self._messages.close()
