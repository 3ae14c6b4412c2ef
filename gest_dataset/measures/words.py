"""Numbers as people read them, in sentences and tables."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

# Of many intervals side by side
MANY = "Each interval is of one number at 95 %: of twenty one can miss by chance."
TOY = "a toy, not a finding"  # of a model that is too small to mean anything


# Of scores without a control group (Pikuliak et al., 2023)
CAVEAT = (
    "Scores like this one alone do not tell a bias from an artefact, such as how frequent the words are: "
    "models score much the same about groups that the stereotype is not about (Pikuliak et al., 2023). Ask "
    "the control sets too (gest list)."
)
_MOST_DIGITS = 12


def shown(value: Any, more: int = 0) -> str:
    """A number as people read it: three digits that mean something, and `more`; a dash for none.

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
        text = f"{number:.{2 + more}e}"
    else:
        digits = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 3
        text = f"{number:,.{digits + more}f}"
    return text.replace("-", "−")


def told_apart(
    bounds: Sequence[float], marks: Sequence[float], tell: Callable[[float, int], str] = shown
) -> tuple[list[str], list[str]]:
    """Bounds of an interval and marks, with digits enough to see on which side of each mark a bound lies.

    `tell` writes a number with so many digits more than are usual.

    >>> told_apart([1.0024, 1.3], [1.0]), told_apart([1.1, 1.3], [1.0])
    ((['1.002', '1.300'], ['1.000']), (['1.10', '1.30'], ['1.00']))
    """
    texts: tuple[list[str], list[str]] = ([], [])
    for more in range(_MOST_DIGITS):
        texts = [tell(bound, more) for bound in bounds], [tell(mark, more) for mark in marks]
        exact, read = product(bounds, marks), product(*(map(_read, side) for side in texts))
        if all(_side(*values) == _side(*told) for values, told in zip(exact, read, strict=True)):
            break
    return texts


def _side(bound: float, mark: float) -> int:
    return (bound > mark) - (bound < mark)


def _read(text: str) -> float:
    """The number that a text of `shown` tells."""
    return float(text.replace("−", "-").replace(",", "").replace("∞", "inf").replace("–", "nan"))


def spoken_percent(share: float) -> str:
    """A share as people say it."""
    return "– %" if math.isnan(share) else f"{100 * share:.1f} %"
