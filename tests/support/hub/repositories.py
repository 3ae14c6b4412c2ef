"""Repositories of the small Hub: commits in memory, branches and pull requests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

# What a new repository holds on the Hub, as far as it matters here: these are stored as large files
LARGE_SUFFIXES = (".parquet", ".bin", ".arrow")
ATTRIBUTES = "".join(f"*{suffix} filter=lfs diff=lfs merge=lfs -text\n" for suffix in LARGE_SUFFIXES).encode()
LARGE_SIZE = 10_000_000
Files = Mapping[str, "File"]


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
    sha256: str = ""

    @property
    def pointer(self) -> bytes:
        version = "https://git-lfs.github.com/spec/v1"
        return f"version {version}\noid sha256:{self.sha256}\nsize {self.size}\n".encode()

    @property
    def oid(self) -> str:
        """What git calls the blob: of a large file that is its pointer."""
        content = self.pointer if self.content is None else self.content
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass(frozen=True)
class Commit:
    oid: str
    parent: str | None
    files: Files
    title: str
    message: str
    author: str
    date: str


@dataclass
class Repository:
    """One repository; `private` ones are seen, `gated` ones read by their owners only."""

    type: str
    id: str
    private: bool = False
    gated: bool = False
    sdk: str | None = None
    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    pull_requests: dict[int, Commit] = field(default_factory=dict)  # the first commit of each
    merged: set[int] = field(default_factory=set)

    @property
    def path(self) -> str:
        """Where its pages are on the Hub."""
        return self.id if self.type == "model" else f"{self.type}s/{self.id}"

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
        self, changes: Mapping[str, File | None], title: str, author: str, to: str = "main", message: str = ""
    ) -> Commit:
        """A commit on top of a branch; None takes a file away."""
        parent = self.at(to) if to in self.refs else None
        made = self.make(parent, changes, title, author, message)
        self.refs[to] = made.oid
        return made

    def make(
        self, parent: Commit | None, changes: Mapping[str, File | None], title: str, author: str, message: str
    ) -> Commit:
        """A commit that no branch has yet."""
        changed = {**(parent.files if parent else {}), **changes}
        files = {path: file for path, file in sorted(changed.items()) if file is not None}
        base = parent.oid if parent else None
        oids = [(path, file.oid) for path, file in files.items()]
        oid = hashlib.sha1(repr((base, oids, title, len(self.commits))).encode()).hexdigest()
        self.commits[oid] = Commit(oid, base, files, title, message, author, now())
        return self.commits[oid]

    def open_pull_request(self, made: Commit) -> int:
        number = len(self.pull_requests) + 1
        self.refs[f"refs/pr/{number}"] = made.oid
        self.pull_requests[number] = made
        return number

    def merge(self, number: int, author: str) -> Commit:
        """Put the files of a pull request onto main."""
        self.merged.add(number)
        title = f"{self.pull_requests[number].title} (#{number})"
        return self.commit(self.at(f"refs/pr/{number}").files, title, author)


def new_repository(type: str, id: str, **facts: object) -> Repository:
    repository = Repository(type, id, **facts)  # type: ignore[arg-type]
    repository.commit({".gitattributes": File(len(ATTRIBUTES), ATTRIBUTES)}, "initial commit", "system")
    return repository


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
