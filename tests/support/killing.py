"""Runs in processes of their own, to be killed, or started together as a launcher does.

The fork server imports the slow packages once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sqlite3
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from tests.conftest import MANIFEST, MIRROR

ENVIRONMENT = {"GEST_MIRROR": str(MIRROR), "GEST_SOURCES": str(MANIFEST)}
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.support.killing_imports"])


def pipe() -> tuple[Connection, Connection]:
    """Two ends; the second one is for a process."""
    return _CONTEXT.Pipe()


def process(target: Callable[..., None], *given: Any) -> ForkServerProcess:
    """Start a process that calls a function."""
    made = _CONTEXT.Process(target=target, args=given)
    made.start()
    return made


def start(
    model: str, output: Path, prepare: Callable[..., None], *given: Any
) -> tuple[ForkServerProcess, Connection]:
    """A process that scores; it sends `ready` before the first query, then how it ended."""
    here, there = _CONTEXT.Pipe()
    started = process(_score, model, output, there, prepare, given)
    there.close()
    return started, here


def _score(
    model: str, output: Path, pipe: Connection, prepare: Callable[..., None], given: tuple[Any, ...]
) -> None:
    os.environ.update(ENVIRONMENT)
    import torch

    from gest_dataset.errors import GestError
    from gest_dataset.models import inference, score, score_run

    torch.set_num_threads(1)
    inference.COMMIT_SECONDS = 0.0  # commit every batch
    prepare(*given)
    compute = score_run.compute_scores

    def announced(*arguments: Any) -> Any:
        pipe.send("ready")
        return compute(*arguments)

    score_run.compute_scores = announced
    try:
        score.score(model, "en", device="cpu", batch_tokens=40, output=output)
        pipe.send("done")
    except GestError as error:
        pipe.send(f"{type(error).__name__}: {error}")


def slowly(seconds: float) -> None:
    """Each batch takes this long at least."""
    from gest_dataset.models.forward_passes import LanguageModelScorer

    compute = LanguageModelScorer.log_probs

    def slow(self: Any, *arguments: Any) -> Any:
        time.sleep(seconds)
        return compute(self, *arguments)

    LanguageModelScorer.log_probs = slow  # type: ignore[method-assign]


def killed_at(name: str, after: bool) -> None:
    """The process kills itself before or after it replaces a file of this name."""
    replace = Path.replace

    def deadly(self: Path, target: Any) -> Any:
        if Path(target).name == name and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = replace(self, target)
        if Path(target).name == name:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    Path.replace = deadly  # type: ignore[method-assign]


def rows(cache: Path) -> int:
    """The number of committed responses in a cache."""
    if not cache.exists():
        return 0
    with closing(sqlite3.connect(f"file:{cache}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT COUNT(*) FROM responses").fetchone()[0])
        except sqlite3.OperationalError:  # the table does not exist yet
            return 0


def wait_for_rows(cache: Path, number: int) -> None:
    """Wait until a cache has this many responses."""
    deadline = time.monotonic() + 60
    while rows(cache) < number and time.monotonic() < deadline:
        time.sleep(0.002)


LONG = 600.0  # seconds: nothing waits so long but what hangs


@dataclass(frozen=True)
class Launched:
    """Processes that have begun with the same function, in the order of their ranks."""

    processes: list[ForkServerProcess]
    pipes: list[Connection]

    def outcomes(self) -> list[Any]:
        """What each has returned, or the error it ended with; None of one that was killed."""
        found = [_received(pipe) for pipe in self.pipes]
        for process in self.processes:
            process.join(LONG)
            assert process.exitcode is not None, "a process hangs"
        return found

    def kill(self, rank: int) -> None:
        self.processes[rank].kill()
        self.processes[rank].join()


def free_port() -> int:
    """One that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def start_together(size: int, work: Callable[..., Any], *given: Any, **environment: str) -> Launched:
    """So many processes that call `work`."""
    port = free_port()
    processes, pipes = [], []
    for rank in range(size):
        launcher = {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(size),
            "LOCAL_WORLD_SIZE": str(size),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "OMP_NUM_THREADS": "1",
        }
        here, there = pipe()
        processes.append(process(_begin, {**ENVIRONMENT, **launcher, **environment}, there, work, given))
        there.close()
        pipes.append(here)
    return Launched(processes, pipes)


def launch(size: int, work: Callable[..., Any], *given: Any) -> list[Any]:
    """What `work` returns in each of so many processes."""
    return start_together(size, work, *given).outcomes()


def _begin(
    environment: Mapping[str, str], pipe: Connection, work: Callable[..., Any], given: tuple[Any, ...]
) -> None:
    os.environ.update(environment)
    import torch

    from gest_dataset.errors import GestError

    torch.set_num_threads(1)
    try:
        pipe.send(work(*given))
    except GestError as error:
        pipe.send(error)
    except Exception:
        pipe.send(traceback.format_exc())


def _received(pipe: Connection) -> Any:
    assert pipe.poll(LONG), "a process hangs"
    try:
        return pipe.recv()
    except EOFError:
        return None
