"""How far a run in progress is, for those who look on (`gest view`). The run itself never reads it.

DIR/shards/progress.json says how many of its questions are answered, of how many, and what they are called.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.storage import parse_json, write_json

SCRATCH = "shards"  # the folder of what a run keeps on the way
_FILE = "progress.json"
_SECONDS = 2.0


@dataclass
class Telling:
    """Tells of one run, at most every two seconds; without a folder nobody is told."""

    folder: Path | None
    of: int
    what: str
    _last: float = -math.inf

    def at(self, done: int) -> None:
        """So many are answered."""
        now = time.monotonic()
        if self.folder is None or (now - self._last < _SECONDS and done < self.of):
            return
        write_json(self.folder / _FILE, {"done": done, "of": self.of, "what": self.what})
        self._last = now


@dataclass(frozen=True)
class Progress:
    """`done` of `of` questions are answered; `what` they are."""

    done: int
    of: int
    what: str


def progress_of(run: Path) -> Progress | None:
    """How far the run in a folder is; None where it has not told, or what it told cannot be read."""
    try:
        told = parse_json((run / SCRATCH / _FILE).read_text(encoding="utf-8"))
        return Progress(int(told["done"]), int(told["of"]), str(told["what"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
