"""One server over HTTP: JSON there and back, with patience; its key stands in no message."""

from __future__ import annotations

import json
import os
import random
import re
import ssl
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import certifi
import pycurl

from gest_dataset.errors import ModelError, ScoringError, SettingError, describe_error
from gest_dataset.storage import parse_json

KEY = "GEST_ENDPOINT_KEY"
_AGAIN = "What was answered is kept: the same command goes on from there."
_SHOWN = 300  # characters of what a server says
_REFUSED = {400, 404, 405, 422, 501}
_BUSY = {408, 429, 500, 502, 503, 504}
_PLAIN = re.compile(r"[!-~]*")  # ASCII without spaces
_PAGE = re.compile(r"(/v1(/models|(/chat)?/completions)?)?/*$")
_HERE = {"localhost", "127.0.0.1", "::1"}
_UNREACHED = {
    pycurl.E_COULDNT_RESOLVE_HOST,
    pycurl.E_COULDNT_CONNECT,
    pycurl.E_SSL_CONNECT_ERROR,
    pycurl.E_OPERATION_TIMEDOUT,
}
_NEVER = {pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_SSL_CACERT_BADFILE, pycurl.E_URL_MALFORMAT}


@dataclass(frozen=True)
class Patience:
    """A request is tried again for about a minute; a server that names a time gets up to ten of them.

    Before the n-th new try we wait `first` times 2^(n - 1) seconds, `longest` at most, or what the server
    names, `named` at most. One that cannot be reached, or gives no answer in time, is tried again `unreached`
    times only.
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
    """`named` are the seconds that the server wants us to wait (Retry-After), 0 where it names none.

    `moved` is the address to which it sends us on.
    """

    status: int
    content: bytes
    named: float
    moved: str | None


@dataclass(frozen=True)
class Client:
    """A server by its address, without `/v1`; `connections` are open at one time, one a thread.

    libcurl sends and waits: it needs no lock of Python's meanwhile, so that many threads take no more time
    than the server does.
    """

    address: str
    connections: int
    key: str = field(repr=False, default="")
    # why requests were sent again
    troubles: list[str] = field(default_factory=list, repr=False, compare=False)
    # once it is set nothing is tried again
    stopped: threading.Event = field(default_factory=threading.Event, init=False, repr=False, compare=False)
    # what each thread has for itself
    _own: threading.local = field(default_factory=threading.local, init=False, repr=False, compare=False)

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

    def refusal(self, path: str, body: Any) -> str | None:
        """What a server says where it does not take a request; None where it does."""
        reply = self._sent(path, json.dumps(body).encode())
        if reply.status in _REFUSED:
            return self._shown(reply) or f"status {reply.status}"
        self._content(reply, path, may_lack=False)
        return None

    def _sent(self, path: str, body: bytes | None) -> _Reply:
        unreached = 0
        for tried in range(_PATIENCE.again + 1):
            named, last = 0.0, tried == _PATIENCE.again or self.stopped.is_set()
            try:
                reply = self._once(path, body)
            except pycurl.error as error:
                number, reason = error.args
                reason = self._without_key(reason)
                unreached += number in _UNREACHED
                last = last or unreached > _PATIENCE.unreached or number in _NEVER
            else:
                if last or reply.status not in _BUSY:
                    return reply
                named, reason = reply.named, f"status {reply.status}"
            if last:
                break
            self.troubles.append(reason.partition(" after ")[0])  # so many milliseconds
            time.sleep(_PATIENCE.seconds(tried, named))
        raise ScoringError(f"{self.address} does not answer: {reason}.\n{_AGAIN}")

    def _once(self, path: str, body: bytes | None) -> _Reply:
        line = self._line
        line.setopt(pycurl.URL, self.address + path)
        if body is None:
            line.setopt(pycurl.HTTPGET, 1)
        else:
            line.setopt(pycurl.POSTFIELDS, body)
        content = line.perform_rb()
        facts = (line.getinfo(f) for f in (pycurl.RESPONSE_CODE, pycurl.RETRY_AFTER, pycurl.REDIRECT_URL))
        status, named, moved = facts
        return _Reply(status, content, named, moved)

    def _content(self, answer: _Reply, path: str, may_lack: bool) -> Any:
        if may_lack and answer.status in _REFUSED:
            return None
        if answer.status in (401, 403):
            raise ModelError(
                f"{self.address} refuses the key (status {answer.status}): set {KEY} to one that it takes. "
                f"It says: {self._shown(answer)}"
            )
        if answer.moved:
            there = answer.moved.removesuffix(path)
            raise ModelError(f"{self.address} sends its visitors on to {there}: give that address.")
        if answer.status == 404:
            raise ModelError(f"{self.address} has no {path}: {self._shown(answer)}")
        if answer.status != 200:
            raise ScoringError(
                f"{self.address} refused {path} with status {answer.status}: {self._shown(answer)}\n{_AGAIN}"
            )
        try:
            content = parse_json(answer.content)
        except ValueError as error:
            raise ScoringError(
                f"{self.address} answered {path} with what is no JSON ({describe_error(error)}): "
                f"{self._shown(answer)}\n{_AGAIN}"
            ) from error
        if isinstance(content, dict) and content.get("error") and not may_lack:
            raise ScoringError(
                f"{self.address} answered {path} with an error: {self._shown(answer)}\n{_AGAIN}"
            )
        return content

    def notes(self) -> list[str]:
        """What a run says of requests that were sent again."""
        counted = Counter(self.troubles).most_common()
        reasons = "; ".join(f"{number} x {reason}" for reason, number in counted)
        return [f"requests were sent again: {reasons}"] if counted else []

    def _shown(self, reply: _Reply) -> str:
        """What a server says of an error, as far as it is shown."""
        return self._without_key(_message(reply.content))[:_SHOWN]

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, f"<{KEY}>") if self.key else text


def connect(url: str, connections: int) -> Client:
    """The server at an address; the key is the environment's."""
    key = os.environ.get(KEY, "").strip()
    if not _PLAIN.fullmatch(key):
        raise SettingError(f"{KEY} holds what no key has: spaces, line ends or other letters. Set it again.")
    return Client(address_of(url), connections, key)


def address_of(url: str) -> str:
    """An address as it is written once, with or without `/v1` and a page."""
    try:
        parts = urlsplit(url.strip() if "//" in url else f"http://{url.strip()}")
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port or an IPv6 address that is none
        usable = False
    if not usable or parts.query or parts.fragment or not _PLAIN.fullmatch(parts.geturl()):
        raise SettingError(f"{url!r} is no address of a server: give one such as http://127.0.0.1:8000.")
    if parts.username or parts.password:
        raise SettingError(f"An address holds no key: leave it out, and set {KEY} in the environment.")
    return f"{parts.scheme}://{parts.netloc}{_PAGE.sub('', parts.path)}"


def _message(content: bytes) -> str:
    """What a server says of an error, wherever it says it."""
    try:
        said = parse_json(content)
    except ValueError:
        return content.decode("utf-8", "replace").strip()
    while isinstance(said, dict):
        said = next((said[name] for name in ("error", "message", "detail") if name in said), str(said))
    return str(said)
