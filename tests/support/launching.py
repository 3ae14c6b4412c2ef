"""Processes of one run as a launcher starts them: its environment, real gloo between them, one thread each.

They come from the fork server of killing.py, which has imported what is slow.
"""

from __future__ import annotations

import os
import socket
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from tests.conftest import MANIFEST, MIRROR
from tests.support import killing

ENVIRONMENT = {"GEST_MIRROR": str(MIRROR), "GEST_SOURCES": str(MIRROR / MANIFEST)}
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


def start(size: int, work: Callable[..., Any], *given: Any, **environment: str) -> Launched:
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
        here, there = killing.pipe()
        processes.append(
            killing.process(_begin, {**ENVIRONMENT, **launcher, **environment}, there, work, given)
        )
        there.close()
        pipes.append(here)
    return Launched(processes, pipes)


def launch(size: int, work: Callable[..., Any], *given: Any) -> list[Any]:
    """What `work` returns in each of so many processes."""
    return start(size, work, *given).outcomes()


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
