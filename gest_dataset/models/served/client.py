"""The HTTP client of all served models: JSON over libcurl, with retries; the API key is in no message."""

from __future__ import annotations

import json
import os
import re
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import certifi
import pycurl

from gest_dataset.errors import ModelError, ScoringError, SettingError
from gest_dataset.retry import RetryPolicy
from gest_dataset.storage import parse_json

Item = TypeVar("Item")
Result = TypeVar("Result")
KEY = "GEST_ENDPOINT_KEY"
RESUME = "Answers so far are cached: rerun the same command to resume."
UNSUPPORTED = {400, 404, 405, 422, 501}
_BUSY = {408, 429, 500, 502, 503, 504}
_MESSAGE_LENGTH = 300
_PLAIN = re.compile(r"[!-~]*")  # ASCII without spaces
_API_PATH = re.compile(r"(/v1(/models|(/chat)?/completions)?)?/*$")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_UNREACHABLE = {
    pycurl.E_COULDNT_RESOLVE_HOST,
    pycurl.E_COULDNT_CONNECT,
    pycurl.E_SSL_CONNECT_ERROR,
    pycurl.E_OPERATION_TIMEDOUT,
}
_FATAL = {pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_SSL_CACERT_BADFILE, pycurl.E_URL_MALFORMAT}
# Requests that wait for each connection, so that no connection idles while answers are written to disk
_QUEUED = 16
# Seconds between two collections of results: one commit then covers many answers
_COLLECT = 0.02
# After an error, seconds to wait for the next of the requests that are still in flight
_DRAIN = 30.0


RETRY = RetryPolicy()
_UNREACHABLE_RETRIES = 3
CONNECT_TIMEOUT, TIMEOUT = 10.0, 600.0  # seconds


class _Response(NamedTuple):
    status: int
    content: bytes
    retry_after: float


@dataclass(frozen=True)
class Client:
    """A server at an address without `/v1`; each thread has one open connection.

    libcurl releases the GIL while it waits, so many threads are as fast as the server.
    """

    address: str
    connections: int
    key: str = field(repr=False, default="")
    retried: list[str] = field(default_factory=list, repr=False, compare=False)  # reasons of retries
    stopped: threading.Event = field(default_factory=threading.Event, init=False, repr=False, compare=False)
    _thread: threading.local = field(default_factory=threading.local, init=False, repr=False, compare=False)

    def get(self, path: str) -> Any:
        """The JSON of a page; None if the server does not have it."""
        return self._json(self._send(path, None), path, optional=True)

    def post(self, path: str, body: Any, optional: bool = False) -> Any:
        """The JSON response; with `optional`, None if the server does not support the request."""
        return self._json(self._send(path, json.dumps(body).encode()), path, optional)

    def rejection(self, path: str, body: Any) -> str | None:
        """Why the server does not support a request; None if it does."""
        response = self._send(path, json.dumps(body).encode())
        if response.status in UNSUPPORTED:
            return self._message(response) or f"status {response.status}"
        self._json(response, path, optional=False)
        return None

    def map(
        self, function: Callable[[Client, Item], Result], items: Iterator[Item]
    ) -> Generator[list[tuple[Item, Result]], None, None]:
        """Call `function(client, item)` in as many threads as connections; yield what has completed since.

        After an error no new request starts, and it is raised once the requests in flight have ended.
        """
        return concurrent_map(replace(self), function, items)

    def notes(self) -> list[str]:
        """A note about retried requests, if there were any."""
        reasons = "; ".join(f"{count} x {reason}" for reason, count in Counter(self.retried).most_common())
        return [f"requests were retried: {reasons}"] if reasons else []

    def _send(self, path: str, body: bytes | None) -> _Response:
        unreachable = 0
        for attempt in range(RETRY.retries + 1):
            last = attempt == RETRY.retries or self.stopped.is_set()
            retry_after = 0.0
            try:
                response = self._perform(path, body)
            except pycurl.error as error:
                number, reason = error.args
                reason = self._without_key(reason)
                unreachable += number in _UNREACHABLE
                last = last or unreachable > _UNREACHABLE_RETRIES or number in _FATAL
            else:
                if last or response.status not in _BUSY:
                    return response
                retry_after, reason = response.retry_after, f"status {response.status}"
            if last:
                break
            self.retried.append(reason.partition(" after ")[0])  # without the milliseconds
            time.sleep(RETRY.delay(attempt, retry_after))
        raise ScoringError(f"{self.address} does not answer: {reason}.\n{RESUME}")

    def _perform(self, path: str, body: bytes | None) -> _Response:
        if not hasattr(self._thread, "curl"):
            self._thread.curl = self._connection()
        curl: pycurl.Curl = self._thread.curl
        curl.setopt(pycurl.URL, self.address + path)
        if body is None:
            curl.setopt(pycurl.HTTPGET, 1)
        else:
            curl.setopt(pycurl.POSTFIELDS, body)
        content = curl.perform_rb()
        return _Response(curl.getinfo(pycurl.RESPONSE_CODE), content, curl.getinfo(pycurl.RETRY_AFTER))

    def _connection(self) -> pycurl.Curl:
        curl = pycurl.Curl()
        headers = ["Content-Type: application/json", "Expect:"]
        if self.key:
            headers.append(f"Authorization: Bearer {self.key}")
        curl.setopt(pycurl.HTTPHEADER, headers)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, int(CONNECT_TIMEOUT * 1000))
        curl.setopt(pycurl.TIMEOUT_MS, int(TIMEOUT * 1000))
        curl.setopt(pycurl.CAINFO, ssl.get_default_verify_paths().cafile or certifi.where())
        if urlsplit(self.address).hostname in _LOOPBACK:
            curl.setopt(pycurl.PROXY, "")
        if threading.current_thread() is threading.main_thread():
            # a Python callback lets Ctrl-C interrupt a request
            curl.setopt(pycurl.NOPROGRESS, 0)
            curl.setopt(pycurl.XFERINFOFUNCTION, lambda *amounts: None)
        return curl

    def _json(self, response: _Response, path: str, optional: bool) -> Any:
        if response.status == 200:
            try:
                return parse_json(response.content)
            except ValueError as error:
                raise ScoringError(
                    f"{self.address} answered {path} with invalid JSON: {self._message(response)}\n{RESUME}"
                ) from error
        if optional and response.status in UNSUPPORTED:
            return None
        message = self._message(response)
        if response.status in (401, 403):
            raise ModelError(
                f"{self.address} rejected the API key (status {response.status}): {message}\n"
                f"Set {KEY} to a valid key."
            )
        if response.status == 404:
            raise ModelError(f"{self.address} has no {path}: {message}")
        raise ScoringError(
            f"{self.address} answered {path} with status {response.status}: {message}\n{RESUME}"
        )

    def _message(self, response: _Response) -> str:
        """The error message in a response, wherever the server puts it."""
        try:
            content = parse_json(response.content)
        except ValueError:
            content = response.content.decode("utf-8", "replace").strip()
        while isinstance(content, dict):
            names = (name for name in ("error", "message", "detail") if name in content)
            content = next((content[name] for name in names), str(content))
        return self._without_key(str(content))[:_MESSAGE_LENGTH]

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, f"<{KEY}>") if self.key else text


def concurrent_map(
    client: Client, function: Callable[[Client, Item], Result], items: Iterator[Item]
) -> Generator[list[tuple[Item, Result]], None, None]:
    """`Client.map`. It uses plain threads: an executor costs a tenth of a short request's time."""
    waiting: SimpleQueue[tuple[Item] | None] = SimpleQueue()
    completed: SimpleQueue[tuple[Item, Result | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        while (entry := waiting.get()) is not None:
            (item,) = entry
            try:
                result = None if client.stopped.is_set() else function(client, item)
                completed.put((item, result, None))
            except BaseException as error:
                client.stopped.set()
                completed.put((item, None, error))

    for _ in range(client.connections):
        threading.Thread(target=work, daemon=True).start()
    in_flight, failure, last_result = 0, None, time.monotonic()
    try:
        while True:
            free = 0 if client.stopped.is_set() else _QUEUED * client.connections - in_flight
            for item in islice(items, free):
                waiting.put((item,))
                in_flight += 1
            if not in_flight:
                break
            time.sleep(_COLLECT)
            results = []
            for item, result, error in [completed.get() for _ in range(completed.qsize())]:
                in_flight -= 1
                failure = failure or error
                if result is not None:
                    results.append((item, result))
            if results:
                yield results
            if results or not failure:
                last_result = time.monotonic()
            elif time.monotonic() - last_result > _DRAIN:
                break
    finally:
        client.stopped.set()
        for _ in range(client.connections):
            waiting.put(None)
    if failure:
        raise failure


def open_client(url: str, connections: int) -> Client:
    """A client of the server at a URL; the API key comes from the environment."""
    key = os.environ.get(KEY, "").strip()
    if not _PLAIN.fullmatch(key):
        raise SettingError(f"{KEY} contains spaces, line breaks or non-ASCII characters. Set it again.")
    return Client(normalize_address(url), connections, key)


def normalize_address(url: str) -> str:
    """The address without `/v1` and API paths, so that every spelling of it is the same."""
    try:
        parts = urlsplit(url.strip() if "//" in url else f"http://{url.strip()}")
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a wrong port or IPv6 address
        valid = False
    if not valid or parts.query or parts.fragment or not _PLAIN.fullmatch(parts.geturl()):
        raise SettingError(f"{url!r} is not a server address; use one such as http://127.0.0.1:8000.")
    if parts.username or parts.password:
        raise SettingError(f"Remove the key from the address and set {KEY} in the environment.")
    return f"{parts.scheme}://{parts.netloc}{_API_PATH.sub('', parts.path)}"
