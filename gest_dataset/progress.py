"""The progress of a job in the log, if no bar is shown."""

import logging
import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_FIRST_LINE, _NEXT_LINES = 5.0, 30.0  # seconds
_LOGGER = logging.getLogger(__name__)


class ProgressWriter:
    """Logs now and then how many of `total` units (inputs, prompts, …) are finished, if nobody sees a bar."""

    def __init__(self, total: int, unit: str, has_bar: bool = True) -> None:
        self.total, self.unit = total, unit
        self._next_line = math.inf if has_bar and sys.stderr.isatty() else time.monotonic() + _FIRST_LINE

    def update(self, done: int) -> None:
        """Log the number of finished units if it is time."""
        now = time.monotonic()
        if now >= self._next_line:
            _LOGGER.info("%s of %s %s", f"{done:,}", f"{self.total:,}", self.unit)
            self._next_line = now + _NEXT_LINES


@contextmanager
def log_time(task: str) -> Iterator[None]:
    """Log now and then how long a task without countable parts has taken."""
    done, start = threading.Event(), time.monotonic()

    def log() -> None:
        seconds = _FIRST_LINE
        while not done.wait(seconds):
            _LOGGER.info("%s: %.0f s so far", task, time.monotonic() - start)
            seconds = _NEXT_LINES

    thread = threading.Thread(target=log, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
