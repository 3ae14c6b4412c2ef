"""Repositories of the small Hub: commits in memory, branches and pull requests."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

# what a new repository holds on the Hub, as far as it matters here: these are stored as large files
ATTRIBUTES = b"".join(
    b"%s filter=lfs diff=lfs merge=lfs -text\n" % pattern for pattern in (b"*.parquet", b"*.bin", b"*.arrow")
)
LARGE_SUFFIXES = (".parquet", ".bin", ".arrow")
LARGE_SIZE = 10_000_000


class RefusedError(Exception):
    """An answer that is an error: the status, the Hub's code of it, and what it says."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


@dataclass(frozen=True)
class File:
    """A file of a commit: its bytes, or the SHA-256 of a large one that is kept elsewhere."""

    size: int
    content: bytes | None = None
    sha256: str | None = None

    @property
    def pointer(self) -> bytes:
        version = "https://git-lfs.github.com/spec/v1"
        return f"version {version}\noid sha256:{self.sha256}\nsize {self.size}\n".encode()

    @property
    def oid(self) -> str:
        """What git calls the blob: of a large file that is its pointer."""
        content = self.pointer if self.content is None else self.content
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def plain_file(content: bytes) -> File:
    return File(len(content), content)


@dataclass(frozen=True)
class Commit:
    oid: str
    parent: str | None
    files: Mapping[str, File]
    title: str
    message: str
    author: str
    date: str


@dataclass
class PullRequest:
    number: int
    title: str
    author: str
    base: str
    date: str
    status: str = "open"
    comments: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Repository:
    """One repository; `readers` may read what is private or gated."""

    type: str
    id: str
    private: bool = False
    gated: bool = False
    sdk: str | None = None
    readers: set[str] = field(default_factory=set)
    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    pull_requests: dict[int, PullRequest] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        return self.id.partition("/")[0]

    @property
    def head(self) -> Commit:
        return self.at("main")

    def at(self, revision: str) -> Commit:
        """The commit of a branch, of a pull request's ref, or one by the first letters of its name."""
        oid = self.refs.get(revision, revision)
        found = [commit for name, commit in self.commits.items() if len(oid) >= 7 and name.startswith(oid)]
        if len(found) != 1:
            raise RefusedError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return found[0]

    def history(self, revision: str = "main") -> list[Commit]:
        """The newest first."""
        commits = [self.at(revision)]
        while commits[-1].parent:
            commits.append(self.commits[commits[-1].parent])
        return commits

    def commit(
        self,
        changes: Mapping[str, File | None],
        title: str,
        author: str,
        revision: str = "main",
        message: str = "",
    ) -> Commit:
        """A commit on top of a branch; None takes a file away."""
        parent = self.at(revision) if revision in self.refs else None
        made = self.make(parent, changes, title, author, message)
        self.refs[revision] = made.oid
        return made

    def make(
        self,
        parent: Commit | None,
        changes: Mapping[str, File | None],
        title: str,
        author: str,
        message: str = "",
    ) -> Commit:
        """A commit that no branch has yet."""
        changed = {**(parent.files if parent else {}), **changes}
        files = {path: file for path, file in sorted(changed.items()) if file is not None}
        about = (
            parent and parent.oid,
            sorted((p, f.oid) for p, f in files.items()),
            title,
            len(self.commits),
        )
        oid = hashlib.sha1(repr(about).encode()).hexdigest()
        made = Commit(oid, parent.oid if parent else None, files, title, message, author, now())
        self.commits[oid] = made
        return made

    def open_pull_request(self, made: Commit, base: str) -> PullRequest:
        number = next(number for number in itertools.count(1) if number not in self.pull_requests)
        self.refs[f"refs/pr/{number}"] = made.oid
        self.pull_requests[number] = PullRequest(number, made.title, made.author, base, made.date)
        return self.pull_requests[number]

    def merge(self, number: int, author: str) -> Commit:
        """What the pull request changes, on top of its base."""
        pull_request = self.pull_requests[number]
        base, tip = self.at(pull_request.base), self.at(f"refs/pr/{number}")
        shared = {commit.oid for commit in self.history(base.oid)}
        origin = next(commit for commit in self.history(tip.oid) if commit.oid in shared)
        paths = origin.files.keys() | tip.files.keys()
        changed = {p: tip.files.get(p) for p in paths if tip.files.get(p) != origin.files.get(p)}
        pull_request.status = "merged"
        return self.commit(changed, f"{pull_request.title} (#{number})", author, pull_request.base)


def new_repository(type: str, id: str, **facts: object) -> Repository:
    repository = Repository(type, id, **facts)  # type: ignore[arg-type]
    repository.commit({".gitattributes": plain_file(ATTRIBUTES)}, "initial commit", "system")
    return repository


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
