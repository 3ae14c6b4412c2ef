"""Numbers as people read them, in sentences and tables."""

from __future__ import annotations

import math
import numbers
from typing import Any

TOY = "a toy, not a finding"  # of a model that is too small to mean anything


def shown(value: Any) -> str:
    """A number as people read it: three digits that mean something; a dash for none.

    >>> shown(1.2345), shown(0.04321), shown(-1234.5), shown(None)
    ('1.23', '0.043', '−1,234', '–')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return str(value)
    if isinstance(value, numbers.Integral):
        return f"{value:,}"
    number = float(value)
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    size = abs(number)
    if size and (size >= 100_000 or size < 0.001):
        text = f"{number:.2e}"
    else:
        text = f"{number:,.{0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 3}f}"
    return text.replace("-", "−")


def spoken_percent(share: float) -> str:
    """A share as people say it."""
    return "– %" if math.isnan(share) else f"{100 * share:.1f} %"
