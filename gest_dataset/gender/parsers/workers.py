"""Parsers in processes of their own: several at once, or of another Python.

A worker reads a JSON list of texts a line and answers with a line `{"documents": [CoNLL-U, ...]}`.
Its first line is `{"ready": true}`, or `{"error": "..."}`, as any answer may be. One that gives no answer
in time is killed, and so are all where the caller is interrupted.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from gest_dataset.gender.parsers.parser import ParserError

Parsed = tuple[str, str]  # a text and its CoNLL-U
_CHUNK = 64
_START = 3600.0  # seconds until a worker is ready: Trankit downloads its models first
_PATIENCE = 600.0  # seconds for an answer
_LOOK = 0.1  # seconds until workers are looked for again, and until Ctrl-C is heard at the latest
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
    processes: list[subprocess.Popen[str]] = []
    stopped = threading.Event()
    threads = [
        threading.Thread(target=_serve, args=(command, chunks, answers, processes, stopped), daemon=True)
        for _ in range(min(number, chunks.qsize()))
    ]
    failure: Exception | None = None
    running = len(threads)
    try:
        for thread in threads:
            thread.start()
        while running:
            # Not without an end: a signal that another thread receives does not wake one that waits so.
            try:
                answer = answers.get(timeout=_LOOK)
            except queue.Empty:
                continue
            if answer is None:
                running -= 1
            elif isinstance(answer, Exception):
                failure = failure or answer
            else:
                yield from answer
    finally:
        stopped.set()
        for thread in threads:
            while thread.is_alive():  # it may just be starting its process
                for process in processes:
                    _end(process)
                thread.join(_LOOK)
    if failure is not None:
        raise failure


def _serve(
    command: Sequence[str],
    chunks: queue.SimpleQueue[list[str]],
    answers: queue.SimpleQueue[list[Parsed] | Exception | None],
    processes: list[subprocess.Popen[str]],
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
                start_new_session=True,  # and so the group of all that it starts
            )
            processes.append(process)
            try:
                with _in_time(process, _START):
                    _answer(process, command, messages)
                while not stopped.is_set():
                    try:
                        texts = chunks.get_nowait()
                    except queue.Empty:
                        break
                    with _in_time(process, _PATIENCE):
                        documents = _ask(process, command, messages, texts)
                    answers.put(list(zip(texts, documents, strict=True)))
            finally:
                _end(process)
                process.communicate()
    except Exception as error:  # handed to the caller, who raises it
        answers.put(error)
    finally:
        answers.put(None)


@contextmanager
def _in_time(process: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    """Kill the worker if the block takes longer: whatever waits for it ends then."""
    late = threading.Event()

    def kill() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    except ParserError as error:
        if late.is_set():
            raise ParserError(
                f"The parser gave no answer for {seconds:.0f} seconds, and was ended."
            ) from error
        raise
    finally:
        timer.cancel()
        timer.join()


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a worker, and what it has started, which would keep its output open."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


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
    if not isinstance(documents, list) or list(map(type, documents)) != [str] * len(texts):
        raise ParserError(f"The parser {command[-1]} gave no parse for each of {len(texts)} texts.")
    return documents


def _answer(process: subprocess.Popen[str], command: Sequence[str], messages: IO[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.endswith("\n"):  # nothing, or what it said when it was killed
        raise _died(process, command, messages)
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ParserError(f"The parser {command[-1]} gave an answer that is no JSON: {line[:200]}") from error
    if not isinstance(answer, dict):
        raise ParserError(f"The parser {command[-1]} gave an answer of another form: {line[:200]}")
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
