"""When to repeat a request that failed for a reason that passes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from urllib3 import HTTPHeaderDict, Retry
from urllib3.exceptions import InvalidHeader


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential backoff with jitter, or the server's Retry-After up to `longest_retry_after` seconds."""

    retries: int = 8
    first_delay: float = 0.25
    longest_delay: float = 20.0
    longest_retry_after: float = 600.0

    def delay(self, attempt: int, retry_after: float | None) -> float:
        """Seconds to wait after attempt number `attempt`, counted from 0."""
        if retry_after:
            return min(retry_after, self.longest_retry_after)
        return min(self.first_delay * 2.0**attempt, self.longest_delay) * random.uniform(0.8, 1.2)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, which is a number or a date; None without a valid one."""
    try:
        return Retry().parse_retry_after(HTTPHeaderDict(headers).get("Retry-After", ""))
    except (InvalidHeader, ValueError, OverflowError):
        return None
