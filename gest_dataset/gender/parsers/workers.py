"""Parsing in worker processes: several at once, and with another Python if the parser needs one."""

import json
import os
import queue
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

from gest_dataset.gender.parsers.conllu import ParserError

SCRIPT = Path(__file__).with_name("worker.py")
_MAX_MESSAGE = 1500  # characters of a dead worker's output that an error shows


def parse_with_workers(
    command: Sequence[str], texts: Sequence[str], workers: int, batch: int
) -> Iterator[Mapping[str, str]]:
    """Parse texts in worker processes (see worker.py); the batches come in no particular order."""
    batches = [list(texts[start : start + batch]) for start in range(0, len(texts), batch)]
    processes = [_Worker(command) for _ in range(min(workers, len(batches)))]
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
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
            process.process.kill()
        executor.shutdown(cancel_futures=True)
        for process in processes:
            process.process.communicate()
            process.messages.close()


class _Worker:
    """One worker process."""

    def __init__(self, command: Sequence[str]) -> None:
        self.name = " ".join(command[:2])
        self.messages = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.messages,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C reaches only the main process, which kills the workers
        )

    def parse(self, texts: list[str]) -> list[str]:
        """The CoNLL-U of each text."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(OSError):  # a worker that has stopped may have said why in its last answer
            self.process.stdin.write(json.dumps(texts) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line.endswith("\n"):
            code = self.process.wait()
            self.messages.seek(0)
            output = self.messages.read()[-_MAX_MESSAGE:].strip() or "no output; perhaps out of memory"
            raise ParserError(f"The parser ({self.name}) stopped with exit code {code}: {output}")
        answer = json.loads(line)
        if "error" in answer:
            raise ParserError(answer["error"])
        documents: list[str] = answer["documents"]
        return documents
