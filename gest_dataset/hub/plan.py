"""What a push would do, for people to read before it is done."""

from __future__ import annotations

from dataclasses import dataclass, field

from gest_dataset.hub.repo import Repo

NEW, CHANGED, UNCHANGED = "new", "changed", "unchanged"


@dataclass(frozen=True)
class Part:
    """A config or a file: new, changed or unchanged; `size` in bytes, and its rows where it has some."""

    name: str
    what: str
    size: int
    rows: int | None = None


@dataclass(frozen=True)
class Plan:
    """All parts of one repository; `kept` names the configs there that are not touched."""

    repo: Repo
    parts: tuple[Part, ...]
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    default: str | None = None
    missing: bool = field(default=False, compare=False)  # the repository or the branch is made first

    @property
    def changes(self) -> bool:
        """Whether there is anything to commit."""
        return bool(self.removed) or any(part.what != UNCHANGED for part in self.parts)
