"""A page on this machine alone that shows runs while they go on (`gest view`).

It listens on the loopback at a port of the system's choice, below a path that nobody can guess. It answers to
its own name only (a site whose name is made to lead here is refused), to GET and HEAD only, and has three
things to show, none of which is a file: the frame, the report in it, and how far the runs are.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup

from gest_dataset.errors import GestError
from gest_dataset.report import live
from gest_dataset.report.page import environment
from gest_dataset.report.style import variables

_HERE = Path(__file__).parent
_HOST = "127.0.0.1"
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_FRAMED = "frame-ancestors 'self'"  # the report has a policy of its own beside this
HTML, JSON = "text/html; charset=utf-8", "application/json"


class Viewer:
    """What is shown of some folders: read again for each request, made anew where runs have finished.

    Runs keep the places that they have had in a report, and later ones come behind them: links and choices
    name a run by its place.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._made: tuple[str, bytes] | None = None
        self._order: dict[Path, None] = {}
        self._policy, self._frame = _frame(" ".join(map(str, paths)))

    def frame(self) -> tuple[str, str, bytes]:
        """Type, policy and content of the frame."""
        return HTML, self._policy, self._frame

    def report(self) -> tuple[str, str, bytes]:
        """The report of the runs that are finished; one is made at a time."""
        with self._lock:
            now = live.seen(self._paths)
            if self._made is None or self._made[0] != now.mark:
                self._order |= dict.fromkeys(now.finished)
                ordered = tuple(folder for folder in self._order if folder in now.finished)
                try:
                    made = live.report_of(replace(now, finished=ordered)) or _empty("No run is finished yet.")
                except GestError as error:
                    made = _empty(str(error))
                self._made = now.mark, made
            return HTML, _FRAMED, self._made[1]

    def state(self) -> tuple[str, str, bytes]:
        """How far the runs are."""
        return JSON, _FRAMED, json.dumps(live.seen(self._paths).told).encode()


def server(paths: Sequence[Path]) -> tuple[ThreadingHTTPServer, str]:
    """A server that is bound and waits for `serve_forever`, and the address of its page."""
    viewer, token = Viewer(paths), secrets.token_urlsafe(24)
    routes = {
        f"/{token}/": viewer.frame,
        f"/{token}/report": viewer.report,
        f"/{token}/state": viewer.state,
    }

    class Handler(_Handler):
        shown = routes

    made = ThreadingHTTPServer((_HOST, 0), Handler)
    made.daemon_threads = True
    Handler.hosts = [f"{_HOST}:{made.server_port}"], [f"localhost:{made.server_port}"]
    return made, f"http://{_HOST}:{made.server_port}/{token}/"


class _Handler(BaseHTTPRequestHandler):
    """One request. `shown` has what is shown at each path, `hosts` are the headers that are answered."""

    shown: dict[str, Callable[[], tuple[str, str, bytes]]]
    hosts: tuple[list[str], ...]
    server_version, sys_version = "gest", ""
    timeout = 30

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _refuse(self) -> None:
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", _FRAMED, b"GET or HEAD only\n", True)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_CONNECT = do_TRACE = _refuse

    def _answer(self, body: bool) -> None:
        if self.headers.get_all("Host") not in self.hosts:
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "text/plain", _FRAMED, b"not this host\n", body)
            return
        path = urlsplit(self.path).path
        found = [show for known, show in self.shown.items() if secrets.compare_digest(known, _ascii(path))]
        if not found:
            content = b"There is nothing here. The raw files of a run lie in its folder.\n"
            self._send(HTTPStatus.NOT_FOUND, "text/plain", _FRAMED, content, body)
            return
        kind, policy, content = found[0]()
        self._send(HTTPStatus.OK, kind, policy, content, body)

    def _send(self, status: HTTPStatus, kind: str, policy: str, content: bytes, body: bool) -> None:
        self.send_response(status)
        headers = {**_HEADERS, "Content-Type": kind, "Content-Security-Policy": policy}
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = "GET, HEAD"
            self.close_connection = True  # whatever it has sent along is not read
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: the terminal is the user's."""


def _ascii(path: str) -> str:
    """What `compare_digest` takes: a path that is not ASCII is none of ours."""
    return path if path.isascii() else ""


def _frame(name: str) -> tuple[str, bytes]:
    """The policy and the page of the frame."""
    nonce = secrets.token_urlsafe(16)
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; "
        f"frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    page = (
        environment(_HERE)
        .get_template("live.html.jinja")
        .render(
            name=name,
            nonce=nonce,
            light=variables(0),
            dark=variables(1),
            style=Markup((_HERE / "live.css").read_text(encoding="utf-8")),
            script=Markup((_HERE / "live.js").read_text(encoding="utf-8")),
        )
    )
    return policy, page.encode()


def _empty(words: str) -> bytes:
    """In the report's place, where there is none."""
    return environment(_HERE).get_template("none.html.jinja").render(words=words).encode()
