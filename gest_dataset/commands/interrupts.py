"""Ctrl-C ends a command within two seconds, with 130, from the first import to the last clean-up.

Before a command has begun and after it has ended nothing is to be put away: the process ends where it
is. In a command KeyboardInterrupt is raised as always, so that files are closed and what is kept is said.
Where that has not ended the process after `GRACE` seconds (a long call into C, a library that swallows it
or hangs), a thread ends it: every file of this package is whole at any instant.

This module imports little, because the entry point begins with it.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
GRACE = 1.5


def watch() -> None:
    """From here on an interrupt ends the process; one that a parent has switched off stays off."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, _end)
    ours, pythons = socket.socketpair()
    pythons.setblocking(False)
    signal.set_wakeup_fd(pythons.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_end_later, args=(ours, pythons), daemon=True).start()


@contextmanager
def raised() -> Iterator[None]:
    """In the block of a process that is watched, an interrupt is a KeyboardInterrupt."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


def _end(*_: object) -> None:
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)


def _end_later(ours: socket.socket, pythons: socket.socket) -> None:
    """Python writes the number of each signal to `pythons` as it comes, whatever the main thread does."""
    with ours, pythons:
        while signal.SIGINT not in ours.recv(64):
            pass
        time.sleep(GRACE)
        _end()
