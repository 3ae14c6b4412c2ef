"""When to repeat a request that failed for a reason that passes."""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz


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
    value = next((text.strip() for name, text in headers.items() if name.lower() == "retry-after"), "")
    if value.isdecimal():
        return float(value)
    try:
        date = parsedate_tz(value)
        return max(0.0, mktime_tz(date) - time.time()) if date else None
    except (ValueError, OverflowError):
        return None
