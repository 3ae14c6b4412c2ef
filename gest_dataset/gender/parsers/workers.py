"""Parsers in processes of their own: several at once, or of another Python.

A worker reads a JSON list of texts a line and answers with a line `{"documents": [CoNLL-U, ...]}`.
Its first line is `{"ready": true}`, or `{"error": "..."}`, as any answer may be.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import IO

from gest_dataset.gender.errors import ParserError

Parsed = tuple[str, str]  # a text and its CoNLL-U
_CHUNK = 64
_TAIL = 1500  # characters of a dead worker's messages that are shown


def parse_with_workers(
    command: Sequence[str],
    texts: Sequence[str],
    number: int,
    chunk: int = _CHUNK,
) -> Iterator[Parsed]:
    """Parse the texts with `number` workers; parses come in no particular order.

    If a worker dies, the others go on to the end; then the error is raised.
    """
    chunks: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
    for start in range(0, len(texts), chunk):
        chunks.put(list(texts[start : start + chunk]))
    answers: queue.SimpleQueue[list[Parsed] | Exception | None] = queue.SimpleQueue()
    stopped = threading.Event()
    threads = [
        threading.Thread(target=_serve, args=(command, chunks, answers, stopped), daemon=True)
        for _ in range(min(number, chunks.qsize()))
    ]
    for thread in threads:
        thread.start()
    failure: Exception | None = None
    running = len(threads)
    try:
        while running:
            answer = answers.get()
            if answer is None:
                running -= 1
            elif isinstance(answer, Exception):
                failure = failure or answer
            else:
                yield from answer
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
    if failure is not None:
        raise failure


def _serve(
    command: Sequence[str],
    chunks: queue.SimpleQueue[list[str]],
    answers: queue.SimpleQueue[list[Parsed] | Exception | None],
    stopped: threading.Event,
) -> None:
    """One worker's life, in a thread: it takes chunks until there are none."""
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as messages:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                env={**os.environ, "PYTHONIOENCODING": "utf-8"},
                encoding="utf-8",
            )
            try:
                _answer(process, command, messages)
                while not stopped.is_set():
                    try:
                        texts = chunks.get_nowait()
                    except queue.Empty:
                        break
                    documents = _ask(process, command, messages, texts)
                    answers.put(list(zip(texts, documents, strict=True)))
            finally:
                process.kill()
                process.communicate()
    except Exception as error:  # handed to the caller, who raises it
        answers.put(error)
    finally:
        answers.put(None)


def _ask(
    process: subprocess.Popen[str], command: Sequence[str], messages: IO[str], texts: list[str]
) -> list[str]:
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(texts) + "\n")
        process.stdin.flush()
    except OSError as error:
        raise _died(process, command, messages) from error
    documents = _answer(process, command, messages).get("documents")
    if not isinstance(documents, list) or len(documents) != len(texts):
        raise ParserError(f"The parser {command[-1]} gave no parse for each of {len(texts)} texts.")
    return documents


def _answer(process: subprocess.Popen[str], command: Sequence[str], messages: IO[str]) -> dict[str, object]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.endswith("\n"):  # nothing, or what it said when it was killed
        raise _died(process, command, messages)
    answer: dict[str, object] = json.loads(line)
    if "error" in answer:
        raise ParserError(str(answer["error"]))
    return answer


def _died(process: subprocess.Popen[str], command: Sequence[str], messages: IO[str]) -> ParserError:
    code = process.wait()
    messages.seek(0)
    said = messages.read()[-_TAIL:].strip()
    return ParserError(
        f"The parser's process ({' '.join(command[:2])}) ended with code {code}"
        + (f", saying:\n{said}" if said else " and said nothing: perhaps memory ran out.")
    )
