"""One server over HTTP: JSON there and back, with patience; its key stands in no message."""

from __future__ import annotations

import json
import os
import random
import ssl
import threading
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import certifi
import pycurl

from gest_dataset.data.foreign import parse_json, told
from gest_dataset.errors import ModelError, ScoringError, SettingError

KEY = "GEST_ENDPOINT_KEY"
_AGAIN = "What was answered is kept: the same command goes on from there."
_SHOWN = 300  # characters of what a server says
_BUSY = {408, 429, 500, 502, 503, 504}
_HERE = {"localhost", "127.0.0.1", "::1"}
_UNREACHED = {pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_COULDNT_CONNECT, pycurl.E_SSL_CONNECT_ERROR}
_NEVER = {pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_SSL_CACERT_BADFILE, pycurl.E_URL_MALFORMAT}


@dataclass(frozen=True)
class Patience:
    """A request is tried again for about a minute; a server that names a time gets up to ten of them.

    Before the n-th new try we wait `first` times 2^(n - 1) seconds, `longest` at most, or what the server
    names, `named` at most. One that cannot be reached is tried `unreached` times only.
    """

    again: int = 8
    unreached: int = 3
    first: float = 0.25
    longest: float = 20.0
    named: float = 600.0
    connect: float = 10.0  # seconds
    answer: float = 600.0

    def seconds(self, tried: int, named: float) -> float:
        if named:
            return min(named, self.named)
        return min(self.first * 2.0**tried, self.longest) * random.uniform(0.8, 1.2)


_PATIENCE = Patience()


class _Reply(NamedTuple):
    """`named` are the seconds that the server wants us to wait (Retry-After), 0 where it names none."""

    status: int
    content: bytes
    named: float


@dataclass(frozen=True)
class Client:
    """A server by its address, without `/v1`; `connections` are open at one time, one a thread.

    libcurl sends and waits: it needs no lock of Python's meanwhile, so that many threads take no more time
    than the server does.
    """

    address: str
    connections: int
    key: str = field(repr=False, default="")

    @cached_property
    def _own(self) -> threading.local:
        """What each thread has for itself."""
        return threading.local()

    @property
    def _line(self) -> pycurl.Curl:
        """This thread's connection, which stays open from one request to the next."""
        if not hasattr(self._own, "line"):
            self._own.line = self._opened()
        line: pycurl.Curl = self._own.line
        return line

    def _opened(self) -> pycurl.Curl:
        line = pycurl.Curl()
        said = ["Content-Type: application/json", "Expect:"]
        if self.key:
            said.append(f"Authorization: Bearer {self.key}")
        line.setopt(pycurl.HTTPHEADER, said)
        line.setopt(pycurl.NOSIGNAL, 1)
        line.setopt(pycurl.CONNECTTIMEOUT_MS, int(_PATIENCE.connect * 1000))
        line.setopt(pycurl.TIMEOUT_MS, int(_PATIENCE.answer * 1000))
        line.setopt(pycurl.CAINFO, ssl.get_default_verify_paths().cafile or certifi.where())
        if urlsplit(self.address).hostname in _HERE:
            line.setopt(pycurl.PROXY, "")  # whatever the environment says of others
        if threading.current_thread() is threading.main_thread():
            # so that Ctrl-C is heard while we wait for a server
            line.setopt(pycurl.NOPROGRESS, 0)
            line.setopt(pycurl.XFERINFOFUNCTION, lambda *amounts: None)
        return line

    def get(self, path: str) -> Any:
        """What a page says; None where there is no such page."""
        return self._content(self._sent(path, None), path, may_lack=True)

    def post(self, path: str, body: Any, may_refuse: bool = False) -> Any:
        """The answer to a request; None where the server `may_refuse` it and does."""
        return self._content(self._sent(path, json.dumps(body).encode()), path, may_refuse)

    def _sent(self, path: str, body: bytes | None) -> _Reply:
        unreached = 0
        for tried in range(_PATIENCE.again + 1):
            named, last = 0.0, tried == _PATIENCE.again
            try:
                reply = self._once(path, body)
            except pycurl.error as error:
                number, reason = error.args
                unreached += number in _UNREACHED
                last = last or unreached > _PATIENCE.unreached or number in _NEVER
            else:
                if last or reply.status not in _BUSY:
                    return reply
                named = reply.named
            if last:
                break
            time.sleep(_PATIENCE.seconds(tried, named))
        raise ScoringError(f"{self.address} does not answer: {self._without_key(reason)}.\n{_AGAIN}")

    def _once(self, path: str, body: bytes | None) -> _Reply:
        line = self._line
        line.setopt(pycurl.URL, self.address + path)
        if body is None:
            line.setopt(pycurl.HTTPGET, 1)
        else:
            line.setopt(pycurl.POSTFIELDS, body)
        content = line.perform_rb()
        return _Reply(line.getinfo(pycurl.RESPONSE_CODE), content, line.getinfo(pycurl.RETRY_AFTER))

    def _content(self, answer: _Reply, path: str, may_lack: bool) -> Any:
        if may_lack and answer.status in (400, 404, 405, 422, 501):
            return None
        if answer.status in (401, 403):
            raise ModelError(
                f"{self.address} refuses the key (status {answer.status}): set {KEY} to one that it takes."
            )
        shown = self._without_key(_message(answer.content))[:_SHOWN]
        if answer.status == 404:
            raise ModelError(f"{self.address} has no {path}: {shown}")
        if answer.status != 200:
            raise ScoringError(
                f"{self.address} refused {path} with status {answer.status}: {shown}\n{_AGAIN}"
            )
        try:
            return parse_json(answer.content)
        except ValueError as error:
            raise ScoringError(
                f"{self.address} answered {path} with what is no JSON ({told(error)}): {shown}\n{_AGAIN}"
            ) from error

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, f"<{KEY}>") if self.key else text


def connect(url: str, connections: int) -> Client:
    """The server at an address; the key is the environment's."""
    return Client(address_of(url), connections, os.environ.get(KEY, "").strip())


def address_of(url: str) -> str:
    """An address as it is written once, with or without `/v1`."""
    parts = urlsplit(url if "//" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingError(f"{url!r} is no address of a server: give one such as http://127.0.0.1:8000.")
    if parts.username or parts.password:
        raise SettingError(f"An address holds no key: leave it out, and set {KEY} in the environment.")
    path = parts.path.rstrip("/").removesuffix("/v1")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _message(content: bytes) -> str:
    """What a server says of an error, wherever it says it."""
    try:
        said = parse_json(content)
    except ValueError:
        return content.decode("utf-8", "replace").strip()
    while isinstance(said, dict):
        said = next((said[name] for name in ("error", "message", "detail") if name in said), str(said))
    return str(said)
