"""The state of the small Hub: accounts, repositories, the log of requests, and a fault."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.hub.repositories import LARGE_SUFFIXES, File, RefusedError, Repository, new_repository

# What can go wrong at a request. `lost`: it is worked on, but the client gets no answer
KINDS = ("500", "429", "cut", "lost", "conflict")


@dataclass(frozen=True)
class Account:
    name: str
    may_write: bool = True
    organisations: tuple[str, ...] = ()

    def owns(self, namespace: str) -> bool:
        return namespace in (self.name, *self.organisations)


@dataclass
class Request:
    """What a client has asked for."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes = b""
    store: bool = False

    def json(self) -> Any:
        return json.loads(self.body or b"null")

    def parameter(self, name: str, default: str = "") -> str:
        return self.query.get(name, [default])[0]

    def __str__(self) -> str:
        return f"{self.method} {'store:' if self.store else ''}{self.path}"


@dataclass
class Answer:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def json_answer(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status, {"Content-Type": "application/json", **named}, json.dumps(value).encode())


@dataclass
class Fault:
    """One of `KINDS` at the n-th request from now on, the first is 1; at `times` requests from there.

    With `where` only requests are counted for which it is true. `happened` says at which ones it was.
    `between` is what somebody else does, for the kind `conflict`.
    """

    kind: str
    at: int = 1
    times: int = 1
    where: Callable[[Any], bool] = lambda request: True
    between: Callable[[], None] = lambda: None
    retry_after: int = 0
    happened: list[Any] = field(default_factory=list)
    _seen: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hits(self, request: Any) -> bool:
        """Whether this request is one where it happens."""
        with self._lock:
            if not self.where(request):
                return False
            self._seen += 1
            hit = self.at <= self._seen < self.at + self.times
            if hit:
                self.happened.append(request)
            return hit


class Hub:
    """The state behind the server."""

    def __init__(self) -> None:
        self.url = self.store_url = ""
        self.large: dict[str, bytes] = {}  # by SHA-256
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[tuple[str, str], Repository] = {}
        self.requests: list[Request] = []
        self.fault: Fault | None = None
        self.lock = threading.RLock()

    def add_account(
        self, name: str, token: str, may_write: bool = True, organisations: tuple[str, ...] = ()
    ) -> None:
        self.accounts[token] = Account(name, may_write, organisations)

    def account(self, request: Request) -> Account | None:
        """Who asks; a token that nobody has is refused as the Hub does."""
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token and token not in self.accounts:
            raise RefusedError(401, "", "Invalid credentials in Authorization header")
        return self.accounts.get(token)

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

        def stored(path: str, content: bytes) -> File:
            large = path.endswith(LARGE_SUFFIXES)
            return File(len(content), None, self.store(content)) if large else File(len(content), content)

        with self.lock:
            changes = {path: None if raw is None else stored(path, raw) for path, raw in files.items()}
            repository.commit(changes, title, "somebody")

    def store(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self.large[sha256] = content
        return sha256

    def dataset(self, id: str) -> Repository:
        return self.repositories["dataset", id]

    def read(self, repository: Repository, path: str, revision: str = "main") -> bytes:
        return self.files(repository, revision)[path]

    def files(self, repository: Repository, revision: str = "main") -> dict[str, bytes]:
        """All files of a revision, large ones put together."""
        files = repository.at(revision).files
        return {
            path: self.large[file.sha256] if file.content is None else file.content
            for path, file in files.items()
        }
