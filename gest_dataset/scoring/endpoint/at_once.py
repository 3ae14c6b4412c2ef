"""Several requests at one time, each answer as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

Asked = TypeVar("Asked")
Given = TypeVar("Given")


def at_once(
    send: Callable[[Asked], Given], questions: Iterator[Asked], connections: int
) -> Generator[tuple[Asked, Given], None, None]:
    """Each question with what `send` gives for it; so many are on their way at one time.

    After an error nothing more is sent, and what is on its way is taken before the error is raised.
    """
    pool = ThreadPoolExecutor(connections)
    waiting: dict[Future[Given], Asked] = {}
    failed: BaseException | None = None
    try:
        while True:
            more = [] if failed else list(islice(questions, connections - len(waiting)))
            waiting |= {pool.submit(send, question): question for question in more}
            if not waiting:
                break
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                question, error = waiting.pop(future), future.exception()
                failed = failed or error
                if error is None:
                    yield question, future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if failed:
        raise failed
