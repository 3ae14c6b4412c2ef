"""What an interval says of an effect, given which effects are too small to mean anything."""

from __future__ import annotations

import math
from typing import Literal

Verdict = Literal["shown", "negligible", "not shown", "reversed"]


def verdict(low: float, high: float, zone: tuple[float, float]) -> Verdict:
    """What the interval from `low` to `high` says, beside the zone of negligible effects (inclusive).

        shown       it lies above the zone
        reversed    it lies below the zone
        negligible  it lies within the zone: an effect that matters is ruled out
        not shown   anything else: these samples cannot tell, or there are no bounds (nan), or only one
                    point (samples that are all the same, whose error nobody knows)

    >>> verdict(1.1, 1.3, (0.95, 1.05)), verdict(0.98, 1.02, (0.95, 1.05)), verdict(0.9, 1.3, (0.95, 1.05))
    ('shown', 'negligible', 'not shown')
    """
    least, most = zone
    if math.isnan(low) or math.isnan(high) or low == high:
        return "not shown"
    if low > most:
        return "shown"
    if high < least:
        return "reversed"
    return "negligible" if least <= low and high <= most else "not shown"
