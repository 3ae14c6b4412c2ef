"""Runs of one config compared with the first of them (`runs.comparison`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.report.labels import LabelledRun
from gest_dataset.runs.comparison import Difference, compare
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import json_value


@dataclass(frozen=True)
class ComparedRun:
    """A run and its difference from the baseline."""

    run: LabelledRun
    difference: Difference

    @property
    def headline(self) -> list[str]:
        """The cells of the table: run, both values, difference or ratio, interval, p and samples."""
        found = self.difference.comparison
        value, low, high = found.times if found.ratio else (found.difference, found.low, found.high)
        p_value = "< 0.001" if self.difference.p_holm < 0.001 else format_number(self.difference.p_holm)
        numbers = [format_number(number) for number in (found.a, found.b, value)]
        interval = f"{format_number(low)} to {format_number(high)}"
        return [self.run.label, *numbers, interval, p_value, format_number(self.difference.n)]

    @property
    def stereotypes(self) -> list[tuple[bool, list[str]]]:
        """For each stereotype whether its simultaneous interval excludes 1, and the cells of its line."""
        lines = []
        for one in self.difference.by_stereotype:
            values = [format_number(one.a), format_number(one.b)]
            lines.append((one.shown, [_name(one.stereotype), *values, str(Estimate(*one.times))]))
        return lines


@dataclass(frozen=True)
class RunGroup:
    """The runs of one config with their baseline, or the reason why they cannot be compared."""

    about: str
    baseline: LabelledRun
    others: list[ComparedRun]
    reason: str

    @property
    def ratio(self) -> bool:
        return self.others[0].difference.comparison.ratio

    @property
    def symbol(self) -> str:
        return self.others[0].difference.comparison.measure

    def to_json(self) -> dict[str, Any]:
        """The ratios of q_i for the page's script."""
        others = []
        for other in self.others:
            rows = []
            for one in other.difference.by_stereotype:
                value, low, high = json_value(one.times)
                rows.append({"stereotype": _name(one.stereotype), "value": value, "low": low, "high": high})
            others.append({"run": other.run.number, "rows": rows})
        return {"baseline": self.baseline.number, "others": others}


def _name(stereotype: int) -> str:
    return f"{stereotype} {STEREOTYPES[stereotype].name}"


def compare_groups(runs: Sequence[LabelledRun]) -> list[RunGroup]:
    """The groups of runs of the same measure on the same config; the first run is the baseline."""
    groups: dict[tuple[str, str], list[LabelledRun]] = {}
    for run in runs:
        if run.measure.pairings:
            groups.setdefault((run.run.manifest.about, run.run.manifest.measure), []).append(run)
    compared = []
    for (about, _), (baseline, *others) in groups.items():
        if not others:
            continue
        try:
            differences = compare([baseline.run, *(run.run for run in others)]).differences
        except (ConfigError, DataError) as error:
            compared.append(RunGroup(about, baseline, [], str(error)))
            continue
        pairs = [ComparedRun(run, one) for run, one in zip(others, differences, strict=True)]
        compared.append(RunGroup(about, baseline, pairs, ""))
    return compared
