"""What can go wrong at one request: each kind, as a client meets it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# before: the request is not worked on, `lost`: it is, but nobody hears of it
KINDS = ("500", "429", "cut", "lost", "slow", "conflict")
SLOW = 0.3  # seconds


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
