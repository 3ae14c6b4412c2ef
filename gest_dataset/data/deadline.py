"""Requests that end: a time limit for each read alone lets a server drip its answer for days."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any

HEADERS = {"Connection": "close"}  # a connection that was open before would not be told to `trace`


@contextmanager
def ending_after(seconds: float) -> Iterator[dict[str, Any]]:
    """The extensions of a request of httpx (sent with HEADERS) whose connection is shut after so long.

    Whatever then waits for the server is told that the connection has ended.
    """
    sockets: list[socket.socket] = []

    def trace(event: str, info: Mapping[str, Any]) -> None:
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            sockets.append(info["return_value"].get_extra_info("socket"))

    def shut() -> None:
        for each in sockets:
            with suppress(OSError):  # it has ended by itself, or TLS has taken it over
                each.shutdown(socket.SHUT_RDWR)

    timer = Timer(max(0.0, seconds), shut)
    timer.daemon = True
    timer.start()
    try:
        yield {"trace": trace}
    finally:
        timer.cancel()
