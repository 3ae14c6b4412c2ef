"""Runs of the same config side by side: paired differences from the first of them (`runs.comparison`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.report.measured import Measured
from gest_dataset.runs.comparison import Difference, compare
from gest_dataset.statistics import StereotypeDifference
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import json_value


@dataclass(frozen=True)
class Beside:
    """One run beside the baseline; `headings` and `rows` are its 16 stereotypes, where they are compared."""

    run: Measured
    difference: Difference

    @property
    def headline(self) -> list[str]:
        """Model, both values, what separates them with its interval, p and samples."""
        found = self.difference.found
        apart = found.times if found.ratio else (found.difference, found.low, found.high)
        p = "< 0.001" if self.difference.adjusted < 0.001 else format_number(self.difference.adjusted)
        return [
            self.run.label,
            format_number(found.a),
            format_number(found.b),
            format_number(apart[0]),
            f"{format_number(apart[1])} to {format_number(apart[2])}",
            p,
            format_number(self.difference.n),
        ]

    @property
    def stereotypes(self) -> list[tuple[bool, list[str]]]:
        """Whether the simultaneous interval excludes 1, and the line: q of both, their ratio with it."""
        return [
            (
                own.shown,
                [
                    named(own.stereotype),
                    format_number(own.a),
                    format_number(own.b),
                    str(Estimate(*own.times)),
                ],
            )
            for own in self.difference.by_stereotype
        ]


@dataclass(frozen=True)
class Compared:
    """The runs of one config beside the first of them, or why they cannot be compared (`reason`)."""

    about: str
    baseline: Measured
    others: list[Beside]
    reason: str

    @property
    def ratio(self) -> bool:
        return self.others[0].difference.found.ratio

    @property
    def symbol(self) -> str:
        return self.others[0].difference.found.measure

    def columns(self) -> dict[str, Any]:
        """What the page's script draws."""
        others = [
            {"run": other.run.number, "rows": [_drawn(own) for own in other.difference.by_stereotype]}
            for other in self.others
        ]
        return {"baseline": self.baseline.number, "others": others}


def _drawn(own: StereotypeDifference) -> dict[str, Any]:
    """A stereotype's ratio with its bounds, as JSON knows them."""
    value, low, high = json_value(own.times)
    return {"stereotype": named(own.stereotype), "value": value, "low": low, "high": high}


def named(number: int) -> str:
    """A stereotype as figures and tables name it."""
    return f"{number} {STEREOTYPES[number].name}"


def beside(runs: Sequence[Measured]) -> list[Compared]:
    """The groups of two runs or more that have asked the same; the first run of each is its baseline."""
    groups: dict[tuple[str, str], list[Measured]] = {}
    for run in runs:
        if run.measure.pairings:
            groups.setdefault((run.run.manifest.about, run.run.manifest.measure), []).append(run)
    return [_compared(group) for group in groups.values() if len(group) > 1]


def _compared(group: Sequence[Measured]) -> Compared:
    baseline, *others = group
    about = baseline.run.manifest.about
    try:
        found = compare([run.run for run in group]).differences
    except (ConfigError, DataError) as error:
        return Compared(about, baseline, [], str(error))
    pairs = [Beside(run, difference) for run, difference in zip(others, found, strict=True)]
    return Compared(about, baseline, pairs, "")
