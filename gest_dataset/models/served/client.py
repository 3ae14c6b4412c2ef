"""The HTTP client of all served models: JSON over libcurl, with retries; no message contains the API key."""

import json
import logging
import os
import re
import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_address
from queue import SimpleQueue
from typing import Any, TypeVar
from urllib.parse import urlsplit

from gest_dataset.errors import ModelError, ScoringError, SettingError, import_extra
from gest_dataset.retry import RetryPolicy
from gest_dataset.storage import parse_json

try:
    import certifi
    import pycurl
except ImportError:  # of the extra "served"; `open_client` says so
    pycurl = None

logger = logging.getLogger(__name__)
Item = TypeVar("Item")
Result = TypeVar("Result")
KEY = "GEST_ENDPOINT_KEY"
RESUME = "Answers so far are cached: rerun the same command to resume."
RETRY = RetryPolicy()
CONNECT_TIMEOUT, TIMEOUT = 10.0, 600.0  # seconds
# The most that a request may take with its retries and their delays, and the most that is read of a reply
LONGEST_REQUEST, LARGEST_REPLY = 1800.0, 64 << 20  # seconds, bytes
_UNREACHABLE_RETRIES = 3
_UNSUPPORTED = {400, 404, 405, 422, 501}
_BUSY = {408, 429, 500, 502, 503, 504}
_MESSAGE_LENGTH = 300
_PLAIN = re.compile(r"[!-~]*")  # ASCII without spaces
_API_PATH = re.compile(r"(/v1(/models|(/chat)?/completions)?)?/*$")
# Seconds between two collections of results: one commit then covers many answers
_COLLECT = 0.02


class UnsupportedError(ScoringError):
    """The server does not support a request."""


class InvalidReplyError(ScoringError):
    """A reply is not JSON, or has values that cannot be."""


@dataclass(frozen=True)
class Client:
    """A server at an address without `/v1`; each thread has one open connection.

    libcurl releases the GIL while it waits, so many threads are as fast as the server.
    """

    address: str
    connections: int
    key: str = field(repr=False, default="")
    stopped: threading.Event = field(default_factory=threading.Event, init=False, repr=False, compare=False)
    _thread: threading.local = field(default_factory=threading.local, init=False, repr=False, compare=False)

    def request(self, path: str, body: Any = None) -> Any:
        """The JSON response to a POST, or to a GET without a body."""
        status, content = self._send(path, None if body is None else json.dumps(body).encode())
        try:
            message = parse_json(content)
            if status == 200:
                return message
        except ValueError:
            message = content.decode("utf-8", "replace").strip()
        while isinstance(message, dict):  # servers put it in different places
            names = (name for name in ("error", "message", "detail") if name in message)
            message = next((message[name] for name in names), str(message))
        message = self._without_key(str(message))[:_MESSAGE_LENGTH]
        if status in (401, 403):
            rejected = f"{self.address} rejected the API key (status {status})"
            raise ModelError(f"{rejected}: {message}\nSet {KEY} to a valid key.")
        kind = UnsupportedError if status in _UNSUPPORTED else ScoringError
        problem = f"status {status}"
        if status == 200:
            kind, problem = InvalidReplyError, "invalid JSON"
        raise kind(f"{self.address} answered {path} with {problem}: {message}\n{RESUME}")

    def try_request(self, path: str, body: Any = None) -> Any:
        """The JSON response; None if the server does not support the request."""
        try:
            return self.request(path, body)
        except UnsupportedError:
            return None

    def map(
        self, function: "Callable[[Client, Item], Result]", items: Iterator[Item]
    ) -> Generator[list[tuple[Item, Result]], None, None]:
        """Call `function(client, item)` in as many threads as connections; yield what has completed since.

        After an error no new request starts, and it is raised once the requests in flight have ended. An
        executor in place of the plain threads costs a tenth of a short request's time.
        """
        client = replace(self)
        lock = threading.Lock()
        completed: SimpleQueue[tuple[Item, Result]] = SimpleQueue()
        ended: list[BaseException | None] = []  # for each thread that has ended, its error

        def work() -> None:
            error = None
            try:
                while not client.stopped.is_set():
                    with lock:
                        item = next(items, None)
                    if item is None:
                        break
                    completed.put((item, function(client, item)))
            except BaseException as problem:
                client.stopped.set()
                error = problem
            ended.append(error)

        for _ in range(client.connections):
            threading.Thread(target=work, daemon=True).start()
        try:
            is_last = False
            while not is_last:
                time.sleep(_COLLECT)
                is_last = len(ended) == client.connections
                results = [completed.get() for _ in range(completed.qsize())]
                if results:
                    yield results
        finally:
            client.stopped.set()
        if failures := [error for error in ended if error is not None]:
            raise failures[0]

    def _send(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        """Status and content of a response; busy servers and broken connections are tried again."""
        if not hasattr(self._thread, "curl"):
            self._thread.curl = self._connection()
        curl: pycurl.Curl = self._thread.curl
        curl.setopt(pycurl.URL, self.address + path)
        if body is None:
            curl.setopt(pycurl.HTTPGET, 1)
        else:
            curl.setopt(pycurl.POSTFIELDS, body)
        attempt, seconds = 0, 0.0
        while True:
            content = bytearray()
            curl.setopt(pycurl.WRITEFUNCTION, partial(_receive, content))
            retry_after = 0.0
            problem: pycurl.error | None = None
            try:
                curl.perform()
                status = curl.getinfo(pycurl.RESPONSE_CODE)
                if status == 500 and b"validation error" in content:  # of pydantic, in llama-cpp-python
                    return 422, bytes(content)
                if status not in _BUSY:
                    return status, bytes(content)
                retry_after = curl.getinfo(pycurl.RETRY_AFTER)
            except pycurl.error as error:
                problem = error
            if len(content) > LARGEST_REPLY:
                raise ScoringError(f"{self.address} sent more than {LARGEST_REPLY:,} bytes.\n{RESUME}")
            delay = RETRY.delay(attempt, retry_after)
            seconds += curl.getinfo(pycurl.TOTAL_TIME) + delay
            retries = RETRY.retries if problem is None else _UNREACHABLE_RETRIES
            if attempt >= retries or seconds > LONGEST_REQUEST or self.stopped.is_set():
                if problem is None:
                    return status, bytes(content)
                reason = self._without_key(problem.args[1])
                raise ScoringError(f"{self.address} does not answer: {reason}.\n{RESUME}") from problem
            time.sleep(delay)
            attempt += 1

    def _connection(self) -> "pycurl.Curl":
        curl = pycurl.Curl()
        headers = ["Content-Type: application/json", "Expect:"]
        if self.key:
            headers.append(f"Authorization: Bearer {self.key}")
        curl.setopt(pycurl.HTTPHEADER, headers)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, int(CONNECT_TIMEOUT * 1000))
        curl.setopt(pycurl.TIMEOUT_MS, int(TIMEOUT * 1000))
        curl.setopt(pycurl.CAINFO, ssl.get_default_verify_paths().cafile or certifi.where())
        if is_loopback(self.address):
            curl.setopt(pycurl.PROXY, "")
        if threading.current_thread() is threading.main_thread():
            # a Python callback lets Ctrl-C interrupt a request
            curl.setopt(pycurl.NOPROGRESS, 0)
            curl.setopt(pycurl.XFERINFOFUNCTION, lambda *amounts: None)
        return curl

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, f"<{KEY}>") if self.key else text


def _receive(content: bytearray, chunk: bytes) -> int | None:
    """Add a chunk to the content of a reply; any number but its length makes libcurl stop."""
    content += chunk
    return -1 if len(content) > LARGEST_REPLY else None


def open_client(url: str, connections: int) -> Client:
    """A client of the server at a URL; the API key comes from the environment."""
    import_extra("pycurl", "served")
    key = os.environ.get(KEY, "").strip()
    if not _PLAIN.fullmatch(key):
        raise SettingError(f"{KEY} contains spaces, line breaks or non-ASCII characters. Set it again.")
    address = normalize_address(url)
    if key and address.startswith("http:") and not is_loopback(address):
        logger.warning("%s is sent unencrypted to %s. Use https if the server has it.", KEY, address)
    return Client(address, connections, key)


def is_loopback(address: str) -> bool:
    """Whether an address is of this machine: `localhost`, a name below it, or an IP such as 127.0.0.2."""
    name = (urlsplit(address).hostname or "").rstrip(".")
    with suppress(ValueError):
        return ip_address(name).is_loopback
    return name == "localhost" or name.endswith(".localhost")


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
