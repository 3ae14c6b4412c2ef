"""Parsing in worker processes: several at once, and with another Python if the parser needs one."""

import json
import os
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gest_dataset.gender.parsers.conllu import ParserError

SCRIPT = Path(__file__).with_name("worker.py")
_MAX_MESSAGE = 1500  # characters of a dead worker's output that an error shows


def parse_with_workers(
    command: Sequence[str], texts: Sequence[str], workers: int, batch: int
) -> Iterator[Mapping[str, str]]:
    """Parse texts in worker processes (see worker.py), each of which has one batch at a time."""
    batches = deque(texts[start : start + batch] for start in range(0, len(texts), batch))
    working: deque[tuple[subprocess.Popen[str], Sequence[str]]] = deque()
    processes: list[subprocess.Popen[str]] = []

    def send(process: subprocess.Popen[str]) -> None:
        if batches:
            working.append((process, batches[0]))
            with suppress(OSError):  # a worker that has stopped may have said why in its last answer
                print(json.dumps(batches.popleft()), file=process.stdin, flush=True)

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as messages:
        try:
            for _ in range(min(workers, len(batches))):
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=messages,
                    env={**os.environ, "PYTHONIOENCODING": "utf-8"},
                    encoding="utf-8",
                    start_new_session=True,  # Ctrl-C reaches only the main process, which kills the workers
                )
                processes.append(process)
                send(process)
            while working:
                process, given = working.popleft()
                assert process.stdout is not None
                line = process.stdout.readline()
                if not line.endswith("\n"):
                    code = process.wait()
                    messages.seek(0)
                    output = messages.read()[-_MAX_MESSAGE:].strip() or "no output; perhaps out of memory"
                    name = " ".join(command[:2])
                    raise ParserError(f"The parser ({name}) stopped with exit code {code}: {output}")
                answer = json.loads(line)
                if "error" in answer:
                    raise ParserError(answer["error"])
                send(process)
                yield dict(zip(given, answer["documents"], strict=True))
        finally:
            for process in processes:
                process.kill()
                process.communicate()
