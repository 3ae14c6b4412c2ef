"""The HTTP server of the small Hub, and the clients of this process pointed at it.

It listens on two ports: the Hub, and the store beside it (the CDN and S3 of the real one), which is another
origin, so that clients must not send it their token.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import datasets
import huggingface_hub
import pytest
from huggingface_hub import constants
from huggingface_hub.utils import _http

from tests.support.hub.routes import respond
from tests.support.hub.state import Answer, Hub, Request, json_answer


@contextmanager
def running() -> Iterator[Hub]:
    """A Hub for the time of a test."""
    hub = Hub()
    servers = [_Server(("127.0.0.1", 0), _handler(hub, store)) for store in (False, True)]
    hub.url, hub.store_url = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    for server in servers:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield hub
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


@contextmanager
def pointed_at(url: str, token: str | None = None) -> Iterator[pytest.MonkeyPatch]:
    """As if this process, which has read HF_ENDPOINT long ago, had been started with it and HF_TOKEN."""
    files = url + "/{repo_id}/resolve/{revision}/{filename}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", url)
        patch.setenv("HF_TOKEN", token or "")
        patch.setattr(constants, "ENDPOINT", url)
        patch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # large files are sent by LFS
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", files)
        patch.setattr(_http, "_HUB_ORIGINS", frozenset({_http._url_origin(url)}))
        patch.setattr(datasets.config, "HF_ENDPOINT", url)
        data = url + "/datasets/{repo_id}/resolve/{revision}/{path}"
        patch.setattr(datasets.config, "HUB_DATASETS_URL", data)
        huggingface_hub.HfFileSystem.clear_instance_cache()
        yield patch
    huggingface_hub.HfFileSystem.clear_instance_cache()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no fault of the Hub."""


def _handler(hub: Hub, store: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _handle(self) -> None:
            address = urlsplit(self.path)
            headers = {name.lower(): text for name, text in self.headers.items()}
            query = parse_qs(address.query, keep_blank_values=True)
            request = Request(self.command, address.path, query, headers, store=store)
            hub.requests.append(request)
            fault = hub.fault if hub.fault is not None and hub.fault.hits(request) else None
            kind = fault.kind if fault else ""
            request.body = self._read_body(half=kind == "cut")
            if fault and kind == "conflict":
                with hub.lock:
                    fault.between()
            if kind == "500":
                answer = json_answer({"error": "Internal Error - We're working hard to fix this"}, 500)
            elif fault and kind == "429":
                seconds = str(fault.retry_after)
                limits = {"RateLimit": f'"api";r=0;t={seconds}', "Retry_After": seconds}
                answer = json_answer({"error": "We had to rate limit you"}, 429, **limits)
            elif kind != "cut":
                answer = respond(hub, request)
            if kind in ("cut", "lost"):
                self._cut()
            else:
                self._send(answer)

        def _read_body(self, half: bool) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                parts = []
                while size := int(self.rfile.readline(), 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)
            length = int(self.headers.get("Content-Length") or 0)
            return self.rfile.read(length // 2 if half else length)

        def _cut(self) -> None:
            """The connection is reset."""
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, text in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                self.send_header(name, text)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _handle

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
