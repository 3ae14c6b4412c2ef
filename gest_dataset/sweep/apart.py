"""Processes beside the one that watches over a sweep: they bring large libraries, and it stays small."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

CONTEXT = get_context("spawn")


@contextmanager
def apart() -> Iterator[ProcessPoolExecutor]:
    """A process that ends with the block."""
    with ProcessPoolExecutor(1, mp_context=CONTEXT, initializer=end_quietly) as pool:
        yield pool


def end_quietly() -> None:
    """Ctrl-C in a terminal reaches every process of a command: this one ends by it, without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
