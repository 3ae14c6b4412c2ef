"""The processes of one run: a launcher (accelerate, torchrun) starts several, and the first one leads.

The first plans, prints and writes; the others compute the batches that fall to them (stretches.py), as they
are told (following.py). They speak through gloo, also where GPUs compute: the connection of a process that
dies closes at once, while NCCL would wait for it. Without a launcher nothing of this is imported.
"""

from __future__ import annotations

import functools
import os
import pickle
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from gest_dataset.errors import GestError, LostError, ScoringError

T = TypeVar("T")
# How long a process may be silent: while all compute a few seconds' work, and while the first one alone
# downloads, or writes a report. A process that has died is noticed at once.
ANSWER = timedelta(minutes=15)
ORDER = timedelta(hours=12)
# Launchers end the others when one process has died; until then it may look alive
_REAPED = 2.0


@dataclass(frozen=True)
class Team:
    """One process among `size`; number 0 leads. `device` is a launcher's choice, where it has one."""

    rank: int = 0
    size: int = 1
    device: str | None = None
    members: tuple[tuple[str, int], ...] = ()  # machine and process id of each
    _answers: Any = field(default=None, repr=False)
    _orders: Any = field(default=None, repr=False)

    @property
    def leads(self) -> bool:
        return self.rank == 0

    @property
    def several(self) -> bool:
        return self.size > 1

    def each(self, work: Callable[[], T]) -> list[T]:
        """What every process makes of its own work; an error of one is raised in all of them."""
        if not self.several:
            return [work()]
        mine = _outcome(work)
        theirs: list[Any] = [None] * self.size
        with self._losses():
            _distributed().all_gather_object(theirs, _sent(mine, self.rank), group=self._answers)
        found = [mine if rank == self.rank else pickle.loads(sent) for rank, sent in enumerate(theirs)]
        return [_or_raised(one) for one in found]

    def spread(self, work: Callable[[], T]) -> T:
        """What the first process makes of its work, in all of them; so is its error."""
        if not self.several:
            return work()
        if not self.leads:
            return self.hear()  # type: ignore[no-any-return]
        outcome = _outcome(work)
        with self._losses():
            _distributed().broadcast_object_list([_sent(outcome, 0)], src=0, group=self._orders)
        return _or_raised(outcome)

    def hear(self) -> Any:
        """What the first process spreads."""
        told = [b""]
        with self._losses():
            _distributed().broadcast_object_list(told, src=0, group=self._orders)
        return _or_raised(pickle.loads(told[0]))

    @contextmanager
    def _losses(self) -> Iterator[None]:
        """What the connection raises is about a process at its other end."""
        try:
            yield
        except RuntimeError as error:
            raise self.lost(str(error)) from error

    def lost(self, why: str) -> LostError:
        """The error for a process that is not there any more, with its number where that can be known."""
        deadline = time.monotonic() + _REAPED
        while not (dead := self.dead()) and time.monotonic() < deadline:
            time.sleep(0.05)
        if dead:
            what = " and ".join(f"process {rank} (pid {self.members[rank][1]})" for rank in dead)
            told = (
                f"Of the {self.size} processes of this run {what} {'has' if len(dead) == 1 else 'have'} ended"
            )
        else:
            reason = why.strip().partition("\n")[0]
            told = f"One of the {self.size} processes of this run has ended, or does not answer ({reason})"
        return LostError(
            f"{told}; the others stop. What they have kept stands: the same command goes on from there, with "
            f"any number of processes.",
            speaks=all(rank in dead for rank in range(self.rank)),
        )

    def dead(self) -> list[int]:
        """The processes of this machine that do not exist any more."""
        here = self.members[self.rank][0]
        return [rank for rank, (host, pid) in enumerate(self.members) if host == here and not _exists(pid)]

    @contextmanager
    def ended_by_launcher(self) -> Iterator[None]:
        """A launcher ends all processes with SIGTERM as soon as one of them has died."""
        if not self.several or threading.current_thread() is not threading.main_thread():
            yield
            return

        def end(*_: object) -> None:
            raise self.lost("the launcher has ended it")

        before = signal.signal(signal.SIGTERM, end)
        try:
            yield
        except LostError:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # this process ends by itself, and has to say why
            raise
        except BaseException:
            signal.signal(signal.SIGTERM, before)
            raise
        signal.signal(signal.SIGTERM, before)


ALONE = Team()


def launched() -> int:
    """How many processes a launcher has started; the environment says it, as accelerate reads it."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "LOCAL_RANK" in os.environ else 1


def rank() -> int:
    """The number of this process among them."""
    return int(os.environ.get("RANK", "0")) if launched() > 1 else 0


def team(device: str = "auto") -> Team:
    """The processes that a launcher has started; it returns when all are there."""
    return ALONE if launched() == 1 else _joined(device.partition(":")[0])


@functools.cache
def _joined(device: str) -> Team:
    import torch
    from accelerate import PartialState

    on_gpu = device in ("auto", "cuda") and torch.cuda.is_available()
    distributed = _distributed()
    try:
        state = PartialState(cpu=not on_gpu, backend="gloo", timeout=ANSWER)
        answers = distributed.new_group(backend="gloo", timeout=ANSWER)
        orders = distributed.new_group(backend="gloo", timeout=ORDER)
        members: list[Any] = [None] * state.num_processes
        distributed.all_gather_object(members, (socket.gethostname(), os.getpid()), group=answers)
    except (RuntimeError, ValueError) as error:
        raise ScoringError(
            f"The {launched()} processes of the launcher do not find each other: {error}\n"
            f"Start them all with one launcher, and let each of them make the same call."
        ) from error
    place = str(state.device) if on_gpu else None
    return Team(state.process_index, state.num_processes, place, tuple(members), answers, orders)


def _distributed() -> Any:
    import torch

    return torch.distributed


def _outcome(work: Callable[[], T]) -> T | Exception:
    try:
        return work()
    except LostError:
        raise
    except Exception as error:
        return error


def _sent(outcome: Any, sender: int) -> bytes:
    """An outcome as bytes; an error that nobody foresaw is told with its traceback."""
    if isinstance(outcome, Exception) and not isinstance(outcome, GestError):
        trace = "".join(traceback.format_exception(outcome))
        outcome = RuntimeError(f"process {sender} of the run failed:\n{trace}")
    return pickle.dumps(outcome)


def _or_raised(outcome: T | Exception) -> T:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
