"""Numbers as text, for sentences and tables."""

import math
import numbers
from collections.abc import Sequence
from typing import Any

TOY_NOTE = "a toy model: its numbers are not findings"
_MAX_EXTRA_DIGITS = 12


def format_number(value: Any, extra_digits: int = 0) -> str:
    """A number with three significant digits, plus `extra_digits`; a dash for None and nan.

    >>> format_number(1.2345), format_number(0.04321), format_number(-1234.5), format_number(None)
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
        text = f"{number:.{2 + extra_digits}e}"
    else:
        digits = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 3
        text = f"{number:,.{digits + extra_digits}f}"
    return text.replace("-", "−")


def format_distinct(bounds: Sequence[float], limits: Sequence[float]) -> tuple[list[str], list[str]]:
    """Bounds and limits as text, with enough digits to show on which side of each limit a bound lies.

    >>> format_distinct([1.0024, 1.3], [1.0]), format_distinct([1.1, 1.3], [1.0])
    ((['1.002', '1.300'], ['1.000']), (['1.10', '1.30'], ['1.00']))
    """
    exact = _sides(bounds, limits)
    for digits in range(_MAX_EXTRA_DIGITS):
        texts = [[format_number(value, digits) for value in side] for side in (bounds, limits)]
        if _sides(*([_parse(text) for text in side] for side in texts)) == exact:
            break
    return texts[0], texts[1]


def _sides(bounds: Sequence[float], limits: Sequence[float]) -> list[int]:
    return [(bound > limit) - (bound < limit) for bound in bounds for limit in limits]


def _parse(text: str) -> float:
    """The number in a text of `format_number`."""
    return float(text.replace("−", "-").replace(",", "").replace("∞", "inf").replace("–", "nan"))
