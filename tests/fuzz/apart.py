"""Reading in a process of its own: what brings the interpreter down fails one test, not all of them."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

_FORK = multiprocessing.get_context("fork")


def apart(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """The same reader, in a forked process for each call; what it raises is raised here."""

    def reader(folder: Path) -> Any:
        here, there = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_answer, args=(read, folder, there))
        process.start()
        there.close()
        try:
            value, error = here.recv()
        except EOFError:
            process.join()
            raise AssertionError(f"the reader died, exit code {process.exitcode}") from None
        process.join()
        if error is not None:
            raise error
        return value

    return reader


def _answer(read: Callable[[Path], Any], folder: Path, pipe: Connection) -> None:
    try:
        answer = read(folder), None
    except Exception as error:
        pipe.send((None, error))
    else:
        pipe.send(answer)
