"""The progress of a job: a bar on a terminal, elsewhere lines in the log."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm.auto import tqdm

_FIRST_LINE, _NEXT_LINES = 5.0, 30.0  # seconds
_LOGGER = logging.getLogger(__name__)


class ProgressBar(tqdm):
    """A bar of `total` units (inputs, prompts, …), of which some are `done`.

    Where none is shown, the log says now and then how many units are finished.
    """

    def __init__(self, total: int, unit: str, done: int = 0, name: str = "", hidden: bool = False) -> None:
        disable = hidden or None  # None: shown on a terminal only
        super().__init__(total=total, initial=done, desc=name, unit=unit, disable=disable, leave=False)
        self._done, self._all = done, f"{total:,} {unit}"
        self._next_line = time.monotonic() + _FIRST_LINE

    def update(self, n: float | None = 1) -> None:
        """Count more finished units."""
        super().update(n)
        self._done += int(n or 0)
        now = time.monotonic()
        if self.disable and now >= self._next_line:
            _LOGGER.info("%s of %s", f"{self._done:,}", self._all)
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
