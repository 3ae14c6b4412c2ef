"""One server over HTTP: JSON there and back, with patience; its key stands in no message."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, Retry, Timeout, connection_from_url
from urllib3.exceptions import HTTPError

from gest_dataset.data.foreign import parse_json, told
from gest_dataset.errors import ModelError, ScoringError, SettingError

KEY = "GEST_ENDPOINT_KEY"
_AGAIN = "What was answered is kept: the same command goes on from there."
_SHOWN = 300  # characters of what a server says
_SECONDS = Timeout(connect=10, read=600)
# A request is tried again for about a minute; a server that names a time gets up to ten of them
_PATIENCE = Retry(
    total=8,
    connect=3,
    backoff_factor=0.5,
    backoff_max=20,
    redirect=False,
    allowed_methods=None,
    status_forcelist={408, 429, 500, 502, 503, 504},
    raise_on_status=False,
    retry_after_max=600,
)


@dataclass(frozen=True)
class Client:
    """A server by its address, without `/v1`; `connections` are open at one time."""

    address: str
    connections: int
    key: str = field(repr=False, default="")

    @cached_property
    def _pool(self) -> HTTPConnectionPool:
        """Of the one host: what a manager of several would look up for each request is known."""
        given: Any = {"maxsize": self.connections, "block": True, "retries": _PATIENCE, "timeout": _SECONDS}
        return connection_from_url(self.address, **given)

    @cached_property
    def _headers(self) -> dict[str, str]:
        own = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return {"Content-Type": "application/json", **own}

    def get(self, path: str) -> Any:
        """What a page says; None where there is no such page."""
        return self._content(self._sent("GET", path), path, may_lack=True)

    def post(self, path: str, body: Any, may_refuse: bool = False) -> Any:
        """The answer to a request; None where the server `may_refuse` it and does."""
        content = json.dumps(body).encode()
        answer = self._sent("POST", path, content)
        return self._content(answer, path, may_refuse)

    def _sent(self, method: str, path: str, body: bytes | None = None) -> BaseHTTPResponse:
        url = f"{urlsplit(self.address).path}{path}"
        try:
            return self._pool.urlopen(method, url, body, self._headers, redirect=False)
        except HTTPError as error:
            reason = self._without_key(told(error.__cause__ or error))
        # raised out here, so that the error, which holds the request, does not hang on it
        raise ScoringError(f"{self.address} does not answer: {reason}.\n{_AGAIN}")

    def _content(self, answer: BaseHTTPResponse, path: str, may_lack: bool) -> Any:
        if may_lack and answer.status in (400, 404, 405, 422, 501):
            return None
        if answer.status in (401, 403):
            raise ModelError(
                f"{self.address} refuses the key (status {answer.status}): set {KEY} to one that it takes."
            )
        shown = self._without_key(_message(answer.data))[:_SHOWN]
        if answer.status == 404:
            raise ModelError(f"{self.address} has no {path}: {shown}")
        if answer.status != 200:
            raise ScoringError(
                f"{self.address} refused {path} with status {answer.status}: {shown}\n{_AGAIN}"
            )
        try:
            return parse_json(answer.data)
        except ValueError as error:
            raise ScoringError(
                f"{self.address} answered {path} with what is no JSON ({told(error)}): {shown}\n{_AGAIN}"
            ) from error

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, f"<{KEY}>") if self.key else text


def connect(url: str, connections: int) -> Client:
    """The server at an address, with or without `/v1`; the key is the environment's."""
    parts = urlsplit(url if "//" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingError(f"{url!r} is no address of a server: give one such as http://127.0.0.1:8000.")
    if parts.username or parts.password:
        raise SettingError(f"An address holds no key: leave it out, and set {KEY} in the environment.")
    path = parts.path.rstrip("/").removesuffix("/v1")
    return Client(f"{parts.scheme}://{parts.netloc}{path}", connections, os.environ.get(KEY, "").strip())


def _message(content: bytes) -> str:
    """What a server says of an error, wherever it says it."""
    try:
        said = parse_json(content)
    except ValueError:
        return content.decode("utf-8", "replace").strip()
    while isinstance(said, dict):
        said = next((said[name] for name in ("error", "message", "detail") if name in said), str(said))
    return str(said)
