"""Services on the loopback: a server with a script; DeepL, Google and Amazon as their clients see them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], Any]  # status, headers, body as JSON


def slovak(text: str) -> str:
    """The "translation" of a text."""
    return f"Preklad: {text[::-1]}"


DIES, HANGS, HALF, ENDLESS = "dies", "hangs", "half an answer", "an endless answer"


@dataclass(frozen=True)
class Broken:
    """In the place of a JSON: the connection ends without an answer, in one of these ways."""

    how: str


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def texts(self) -> list[str]:
        """The texts to translate, whichever service it is for."""
        for name in ("text", "q"):
            if name in self.body:
                return list(self.body[name])
        return [self.body["Text"]] if "Text" in self.body else []


@dataclass
class Server:
    """A running server: `script` answers the first requests, `translate` all after them."""

    translate: Callable[[Request], Answer]
    url: str = ""
    script: list[Answer | Callable[[Request], Answer]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def asked(self) -> list[str]:
        return [text for request in self.requests for text in request.texts]


def deepl(request: Request) -> Answer:
    texts = [
        {"detected_source_language": "EN", "text": slovak(text), "billed_characters": len(text)}
        for text in request.texts
    ]
    return 200, {}, {"translations": texts}


def google(request: Request) -> Answer:
    if request.path == "/token":
        return 200, {}, {"access_token": "token-of-the-account", "expires_in": 3600, "token_type": "Bearer"}
    texts = [{"translatedText": slovak(text), "model": "nmt"} for text in request.texts]
    return 200, {}, {"data": {"translations": texts}}


def amazon(request: Request) -> Answer:
    codes = {name: request.body[name] for name in ("SourceLanguageCode", "TargetLanguageCode")}
    return 200, {}, {"TranslatedText": slovak(request.texts[0]), **codes}


class _Listening(ThreadingHTTPServer):
    request_queue_size = 128  # clients open 32 connections at once; a line of five refuses some
    daemon_threads = True


@contextmanager
def serving(translate: Callable[[Request], Answer]) -> Iterator[Server]:
    """A server for the time of a test."""
    server = Server(translate)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            is_json = "json" in self.headers["Content-Type"]
            self._answer(json.loads(data) if is_json else {"form": data.decode()})

        def do_GET(self) -> None:
            self._answer({})

        def _answer(self, body: Any) -> None:
            request = Request(self.path, dict(self.headers), body)
            with server.lock:
                server.requests.append(request)
                answer = server.script.pop(0) if server.script else server.translate
            status, headers, content = answer(request) if callable(answer) else answer
            if isinstance(content, Broken):
                self._break(content.how)
                return
            sent = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def _break(self, how: str) -> None:
            """No answer, or the beginning of one."""
            self.close_connection = True
            if how == HANGS:
                server.stopping.wait(10)
            if how == HALF:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"choices": [{"index": 0, "mess')
            if how == ENDLESS:
                self.send_response(200)
                self.end_headers()
                with suppress(ConnectionError):
                    while not server.stopping.is_set():
                        self.wfile.write(bytes(1 << 20))

        def log_message(self, *_: object) -> None:
            pass

    http = _Listening(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        http.shutdown()
        http.server_close()
        thread.join()
