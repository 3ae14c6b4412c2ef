"""The HTTP server of the small Hub: accounts, the log of requests, faults, and bytes on the wire.

It listens on two ports: the Hub, and the store beside it (the CDN and S3 of the real one), which is another
origin, so that clients must not send it their token.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.hub.faults import SLOW, Fault
from tests.support.hub.large import LargeFiles
from tests.support.hub.repositories import (
    LARGE_SUFFIXES,
    File,
    RefusedError,
    Repository,
    new_repository,
    plain_file,
)


@dataclass(frozen=True)
class Account:
    name: str
    may_write: bool = True
    organisations: tuple[str, ...] = ()

    def owns(self, namespace: str) -> bool:
        return namespace in (self.name, *self.organisations)


@dataclass
class Request:
    """What a client has asked for; `path` as it came, without its query."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes = b""
    status: int = 0
    store: bool = False

    def json(self) -> Any:
        return json.loads(self.body or b"null")

    def __str__(self) -> str:
        return f"{self.method} {'store:' if self.store else ''}{self.path}"


@dataclass
class Answer:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def json_answer(value: Any, status: int = 200, **headers: str) -> Answer:
    content = {"Content-Type": "application/json; charset=utf-8"}
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status, {**content, **named}, json.dumps(value).encode())


class Hub:
    """The state behind the server."""

    def __init__(self, folder: Path) -> None:
        self.url = ""
        self.store_url = ""
        self.large = LargeFiles(folder)
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[tuple[str, str], Repository] = {}
        self.requests: list[Request] = []
        self.fault: Fault | None = None
        self.lock = threading.RLock()

    def add_account(
        self, name: str, token: str, may_write: bool = True, organisations: tuple[str, ...] = ()
    ) -> None:
        self.accounts[token] = Account(name, may_write, organisations)

    def add(self, type: str, id: str, files: Mapping[str, bytes] | None = None, **facts: Any) -> Repository:
        """A repository that is there before the test begins, its files in one commit."""
        repository = self.repositories[type, id] = new_repository(type, id, **facts)
        if files:
            self.commit(repository, files)
        return repository

    def commit(
        self, repository: Repository, files: Mapping[str, bytes | None], title: str = "by hand"
    ) -> None:
        """Somebody else's commit; files of the suffixes that are stored as large ones become such."""

        def kept(path: str, content: bytes) -> File:
            if path.endswith(LARGE_SUFFIXES):
                return File(len(content), sha256=self.large.put(content))
            return plain_file(content)

        with self.lock:
            changes = {path: None if raw is None else kept(path, raw) for path, raw in files.items()}
            repository.commit(changes, title, "somebody")

    def dataset(self, id: str) -> Repository:
        return self.repositories["dataset", id]

    def read(self, repository: Repository, path: str, revision: str = "main") -> bytes:
        return self.content(repository.at(revision).files[path])

    def content(self, file: File) -> bytes:
        if file.content is not None:
            return file.content
        assert file.sha256 is not None
        return self.large.read(file.sha256, file.size)

    def files(self, repository: Repository, revision: str = "main") -> dict[str, bytes]:
        """All files of a revision, large ones put together."""
        return {path: self.content(file) for path, file in repository.at(revision).files.items()}

    def account(self, request: Request) -> Account | None:
        """Who asks; a token that nobody has is refused as the Hub does."""
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not token:
            return None
        if token not in self.accounts:
            raise RefusedError(401, "", "Invalid credentials in Authorization header")
        return self.accounts[token]

    def respond(self, request: Request) -> Answer:
        from tests.support.hub.answers import ROUTES, STORE_ROUTES

        for method, pattern, answer in STORE_ROUTES if request.store else ROUTES:
            match = re.fullmatch(pattern, request.path)
            if match and request.method in method.split("|"):
                parts = {name: unquote(text) for name, text in match.groupdict().items() if text is not None}
                try:
                    with self.lock:
                        return answer(self, request, **parts)
                except RefusedError as error:
                    return _refusal(error)
        return _refusal(RefusedError(404, "", f"the small Hub has no {request}"))


def _refusal(error: RefusedError) -> Answer:
    headers = {"X-Error-Message": error.message}
    if error.code:
        headers["X-Error-Code"] = error.code
    return json_answer({"error": error.message}, error.status, **headers)


@contextmanager
def running(folder: Path) -> Iterator[Hub]:
    """A Hub for the time of a test; what is large is kept in the folder."""
    hub = Hub(folder / "hub")
    servers = [_server(hub, store) for store in (False, True)]
    hub.url, hub.store_url = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    threads = [
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        for server in servers
    ]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no fault of the Hub."""


def _server(hub: Hub, store: bool) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _handle(self) -> None:
            address = urlsplit(self.path)
            headers = {name.lower(): text for name, text in self.headers.items()}
            query = parse_qs(address.query, keep_blank_values=True)
            request = Request(self.command, address.path, query, headers, store=store)
            hub.requests.append(request)
            fault = hub.fault
            kind = fault.kind if fault is not None and fault.hits(request) else ""
            if kind == "cut":
                self._read_body(half=True)
                self._cut()
                return
            request.body = self._read_body()
            if kind == "slow":
                time.sleep(SLOW)
            if kind == "conflict" and fault is not None:
                with hub.lock:
                    fault.between()
            if kind == "500":
                answer = json_answer({"error": "Internal Error - We're working hard to fix this"}, 500)
            elif kind == "429" and fault is not None:
                limits = {
                    "RateLimit": f'"api";r=0;t={fault.retry_after}',
                    "Retry-After": str(fault.retry_after),
                }
                answer = json_answer({"error": "We had to rate limit you"}, 429)
                answer.headers |= limits
            else:
                answer = hub.respond(request)
            request.status = answer.status
            if kind == "lost":
                self._cut()
                return
            self._send(answer)

        def _read_body(self, half: bool = False) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                return self._read_chunks()
            length = int(self.headers.get("Content-Length") or 0)
            return self.rfile.read(length // 2 if half else length)

        def _read_chunks(self) -> bytes:
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _cut(self) -> None:
            """The connection is reset."""
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            headers = {"Content-Length": str(len(answer.body)), **answer.headers}
            for name, text in headers.items():
                self.send_header(name, text)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _handle

        def log_message(self, format: str, *args: object) -> None:
            pass

    return _Server(("127.0.0.1", 0), Handler)
