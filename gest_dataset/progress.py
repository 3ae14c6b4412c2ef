"""The progress of a job: DIR/progress.json for `gest report --serve`, and lines where no bar is shown."""

import logging
import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gest_dataset.cache import ResponseCache
from gest_dataset.storage import parse_json, write_json

PROGRESS = "progress.json"
_SECONDS = 2.0
_FIRST_LINE, _NEXT_LINES = 5.0, 30.0  # seconds
_LOGGER = logging.getLogger(__name__)


class Progress(NamedTuple):
    """`done` of `total` units (inputs, prompts, …) are finished."""

    done: int
    total: int
    unit: str


class ProgressWriter:
    """Writes the progress beside the cache of a run, and logs it now and then if nobody sees a bar."""

    def __init__(self, cache: ResponseCache | None, total: int, unit: str, has_bar: bool = True) -> None:
        self.path = None if cache is None else cache.path.with_name(PROGRESS)
        self.total, self.unit = total, unit
        self._last = -math.inf
        self._next_line = math.inf if has_bar and sys.stderr.isatty() else time.monotonic() + _FIRST_LINE

    def update(self, done: int) -> None:
        """Write the number of finished units."""
        now = time.monotonic()
        if now >= self._next_line:
            _LOGGER.info("%s of %s %s", f"{done:,}", f"{self.total:,}", self.unit)
            self._next_line = now + _NEXT_LINES
        if self.path is not None and (now - self._last >= _SECONDS or done >= self.total):
            write_json(self.path, Progress(done, self.total, self.unit)._asdict())
            self._last = now


def read_progress(run: Path) -> Progress | None:
    """The progress of the run in a folder; None if there is none or it cannot be read."""
    try:
        return Progress(**parse_json((run / PROGRESS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


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
