"""A result as a table of estimates, for the terminal, the report and LaTeX."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gest_dataset.measures.formatting import format_number
from gest_dataset.stereotypes import STEREOTYPES


class Estimate(NamedTuple):
    """A number with its 95 % bounds; nan where undefined.

    >>> str(Estimate(1.2345, 1.1, 1.5))
    '1.23 (1.10 to 1.50)'
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{format_number(self.value)} ({self.interval_text})"

    @property
    def interval_text(self) -> str:
        """The two bounds."""
        return f"{format_number(self.low)} to {format_number(self.high)}"

    @property
    def texts(self) -> tuple[str, str]:
        """The value and its interval as table cells; a dash where undefined.

        >>> Estimate(1.2345, 1.1, 1.5).texts
        ('1.23', '1.10 to 1.50')
        """
        if self is EMPTY:
            return "", ""
        bounded = not (math.isnan(self.low) or math.isnan(self.high))
        return format_number(self.value), self.interval_text if bounded else format_number(None)

    @classmethod
    def of(cls, result: Mapping[str, Any], name: str, index: int | None = None) -> "Estimate":
        """Read `name`, `name_low` and `name_high` from a result (at `index` if they are lists)."""
        values = [result.get(f"{name}{end}") for end in ("", "_low", "_high")]
        if index is not None:
            values = [None if value is None else value[index] for value in values]
        return cls(*(math.nan if value is None else float(value) for value in values))

    @classmethod
    def exact(cls, value: float | None) -> "Estimate":
        """A number without an interval: both bounds equal the value."""
        return cls(*[math.nan if value is None else float(value)] * 3)


EMPTY = Estimate(math.nan, math.nan, math.nan)  # an empty cell
EFFECT_SIZE = "d"  # ln g_s / s


def effect_size_text(result: Mapping[str, Any]) -> str:
    """d with its interval, such as `d 0.88 (0.82 to 0.94)`; empty for measures without g_s."""
    return f"d {Estimate.of(result, EFFECT_SIZE)}" if EFFECT_SIZE in result else ""


@dataclass(frozen=True)
class Line:
    """A table row: a name, its estimates and its sample count."""

    name: str
    estimates: tuple[Estimate, ...]
    count: int | None = None
    bold: bool = False
    ends_section: bool = False


@dataclass(frozen=True)
class Grid:
    """Rows under column headings, one heading per estimate."""

    headings: tuple[str, ...]
    lines: tuple[Line, ...]
    caption: str | None = None


def stereotype_lines(result: Mapping[str, Any], gender: str, *names: str) -> list[Line]:
    """One line per stereotype about a gender, with each of its numbers."""
    return [
        Line(
            f"{stereotype.id:2} {stereotype.name}",
            tuple(Estimate.of(result, name, index) for name in names),
            count=result["n"][index],
        )
        for index, stereotype in enumerate(STEREOTYPES.values())
        if stereotype.gender == gender
    ]


def number_lines(
    result: Mapping[str, Any], meanings: Mapping[str, str], bold: str, columns: int = 1
) -> list[Line]:
    """One line per number with its meaning; columns after the first are empty."""
    return [
        Line(f"{name}  {meaning}", (Estimate.of(result, name), *[EMPTY] * (columns - 1)), bold=name == bold)
        for name, meaning in meanings.items()
    ]
