"""Several requests at one time, and what has been answered as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import islice
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any, TypeVar

Asked = TypeVar("Asked")
Given = TypeVar("Given")
# Questions in line for each connection: none has to wait while a disk takes its time to keep answers
_AHEAD = 16
# Seconds from one look at what has come to the next: a disk takes as long for one answer as for a hundred
_TOGETHER = 0.02
# After an error what is on its way is waited for, as long as something comes within so many seconds
_LAST = 30.0
_END = ()


def at_once(
    send: Callable[[Asked], Given], questions: Iterator[Asked], connections: int, stopped: Event
) -> Generator[list[tuple[Asked, Given]], None, None]:
    """All that has been answered since the last time, each question with what `send` gives for it.

    So many are on their way at one time. After an error nothing more is sent, and what is on its way is taken
    before the error is raised, but for what does not come. `stopped` is set at the end: whoever still sends
    then need not try again. (Threads and queues as they are: an executor takes a tenth of a short
    request's time for itself.)
    """
    line: SimpleQueue[Any] = SimpleQueue()
    come: SimpleQueue[tuple[Asked, Any, BaseException | None]] = SimpleQueue()

    def work() -> None:
        for (question,) in iter(line.get, _END):
            try:
                come.put((question, None if stopped.is_set() else send(question), None))
            except BaseException as error:
                stopped.set()
                come.put((question, None, error))

    # not waited for: a server that hangs must hang no end
    for _ in range(connections):
        Thread(target=work, daemon=True).start()
    waiting, failed, last = 0, None, monotonic()
    try:
        while True:
            for question in islice(questions, 0 if stopped.is_set() else _AHEAD * connections - waiting):
                line.put((question,))
                waiting += 1
            if not waiting:
                break
            sleep(_TOGETHER)
            answered = []
            for question, given, error in (come.get() for _ in range(come.qsize())):
                waiting -= 1
                failed = failed or error
                if given is not None:
                    answered.append((question, given))
            if answered:
                yield answered
            if answered or not failed:
                last = monotonic()
            elif monotonic() - last > _LAST:
                break
    finally:
        stopped.set()
        for _ in range(connections):
            line.put(_END)
    if failed:
        raise failed
