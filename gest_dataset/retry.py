"""When to try again: for `models.served.client`, `translation.services` and `hub.repository`."""

import random
from collections.abc import Mapping
from dataclasses import dataclass


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
    """The number of seconds in a Retry-After header; None without one."""
    value = next((text.strip() for name, text in headers.items() if name.lower() == "retry-after"), "")
    return float(value) if value.isdecimal() else None
