"""A result as lines of estimates: what the terminal draws and the exports write."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gest_dataset.measures.words import shown
from gest_dataset.stereotypes import STEREOTYPES


class Estimate(NamedTuple):
    """A number with its 95 % bounds; nan for what is not there.

    >>> str(Estimate(1.2345, 1.1, 1.5))
    '1.23 (1.10 to 1.50)'
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{shown(self.value)} ({shown(self.low)} to {shown(self.high)})"

    @property
    def texts(self) -> tuple[str, str]:
        """The value and its interval as cells of a table show them; a dash for none.

        >>> Estimate(1.2345, 1.1, 1.5).texts
        ('1.23', '1.10 to 1.50')
        """
        if self is NOTHING:
            return "", ""
        known = not (math.isnan(self.low) or math.isnan(self.high))
        return shown(self.value), f"{shown(self.low)} to {shown(self.high)}" if known else shown(None)

    @classmethod
    def of(cls, result: Mapping[str, Any], name: str, place: int | None = None) -> Estimate:
        """A number of a result (of a list of numbers the one at `place`) with its `_low` and `_high`."""
        return cls(*(_number(result.get(f"{name}{end}"), place) for end in ("", "_low", "_high")))

    @classmethod
    def exact(cls, value: float | None) -> Estimate:
        """A number without an interval, which is its own bound."""
        number = _number(value, None)
        return cls(number, number, number)


NOTHING = Estimate(math.nan, math.nan, math.nan)  # of a column that is not for a line


def _number(value: Any, place: int | None) -> float:
    if value is not None and place is not None:
        value = value[place]
    return math.nan if value is None else float(value)


@dataclass(frozen=True)
class Axis:
    """Where bars are drawn: logarithmic around 1 for ratios, and then as far as the farthest value.

    `ends` are given for what is no ratio; `caption` says what the sides mean.
    """

    ratio: bool
    ends: tuple[float, float] | None
    caption: str


@dataclass(frozen=True)
class Line:
    """One line: a name (`short` where there is little room), estimates, and how many samples."""

    name: str
    estimates: tuple[Estimate, ...]
    number: int | None = None
    short: str | None = None
    gender: str | None = None
    strong: bool = False
    ends_section: bool = False


def of_stereotypes(result: Mapping[str, Any], name: str, gender: str) -> list[Line]:
    """A number of each stereotype about a gender, as a line."""
    return [
        Line(
            f"{stereotype.id:2} {stereotype.name}",
            (Estimate.of(result, name, place),),
            number=result["n"][place],
            short=f"{stereotype.id:2}",
            gender=gender,
        )
        for place, stereotype in enumerate(STEREOTYPES.values())
        if stereotype.gender == gender
    ]


@dataclass(frozen=True)
class Grid:
    """Lines under headings, one heading an estimate; bars are of the first estimate."""

    headings: tuple[str, ...]
    lines: tuple[Line, ...]
    digits: int = 2
    axis: Axis | None = None
