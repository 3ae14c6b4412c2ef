"""The leaderboard: what every cell has found, and how sure the differences of models are.

A line of the table is a cell, or one template of it. The differences are of every two models that have
answered a config, on the samples that both have; p-values are Holm's over all pairs of the config.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from gest_dataset.data.parquet import write_table
from gest_dataset.errors import GestError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Headline
from gest_dataset.runs.comparison import Difference, compare_pairs
from gest_dataset.runs.folder import Run, read_run
from gest_dataset.statistics import holm
from gest_dataset.statistics.comparison import DRAWS
from gest_dataset.storage import csv_text
from gest_dataset.sweep.grid import DONE, FAILED, Cell, Row
from gest_dataset.sweep.place import Place, run_name

logger = logging.getLogger(__name__)
# The models of a config that are compared two by two: the first ones of the suite, which is settled before
# anything is known. 36 make 630 pairs, each of which takes up to a second
MOST = 36
# So many draws for each pair: Holm multiplies the least p-value, 2 / (draws + 1), by their number
_DRAWS_A_PAIR = 80
LEFT_OUT = "left out"
_BOUNDED = ("", "_low", "_high")

# The columns of leaderboard.csv and leaderboard.parquet, with their types
COLUMNS: Mapping[str, pa.DataType] = {
    "name": pa.string(),
    "model": pa.string(),
    "revision": pa.string(),
    "config": pa.string(),
    "template": pa.string(),
    "state": pa.string(),
    "number": pa.string(),
    "value": pa.float64(),
    "low": pa.float64(),
    "high": pa.float64(),
    "zone_low": pa.float64(),
    "zone_high": pa.float64(),
    "verdict": pa.string(),
    "scored": pa.int64(),
    "asked": pa.int64(),
    "limit": pa.int64(),
    "kind": pa.string(),
    "parameters": pa.int64(),
    "dtype": pa.string(),
    "device": pa.string(),
    "seconds": pa.float64(),
    "commit": pa.string(),
    "signature": pa.string(),
    "reason": pa.string(),
}
_DIFFERENCES = (
    *("config", "name", "beside", "templates", "number", "value", "beside_value", "difference"),
    *("low", "high", "ratio", "ratio_low", "ratio_high", "p", "p_holm", "n", "missing"),
)


@dataclass(frozen=True)
class Line:
    """A cell as the leaderboard shows it; `estimate` is nan where there is no number."""

    row: Row
    config: str
    cell: Cell

    @property
    def name(self) -> str:
        return self.row.subject.name

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.cell.facts

    @property
    def headline(self) -> Headline:
        measure = MEASURES[self.facts["measure"]]
        return next(head for head in measure.headlines if head.name == self.facts["number"])

    @property
    def estimate(self) -> Estimate:
        return estimate_of(self.facts.get("estimate"))

    @property
    def zone(self) -> tuple[float, float]:
        low, high = (math.nan if end is None else float(end) for end in self.facts["zone"])
        return low, high


@dataclass(frozen=True)
class Pairs:
    """The differences of one config; `left_out` are models beyond the first ones, `problem` why there are
    none.
    """

    config: str
    differences: tuple[Difference, ...] = ()
    left_out: tuple[str, ...] = ()
    problem: str = ""


def estimate_of(told: Sequence[float | None] | None) -> Estimate:
    """An estimate as the facts of a run hold it: null is nan."""
    return Estimate(*(math.nan if end is None else float(end) for end in told or [None] * 3))


def lines_of(rows: Sequence[Row]) -> dict[str, list[Line]]:
    """The finished cells by config, those with the strongest stereotypes first."""
    found: dict[str, list[Line]] = {}
    for row in rows:
        for config, cell in row.cells.items():
            if cell.state == DONE:
                found.setdefault(config, []).append(Line(row, config, cell))
    for lines in found.values():
        lines.sort(key=lambda line: (math.isnan(line.estimate.value), -line.estimate.value, line.name))
    return found


def table_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The lines of leaderboard.csv: every cell of the grid, whatever has become of it."""
    told: list[dict[str, Any]] = []
    for row in rows:
        about = {"name": row.subject.name, "model": row.subject.model, "revision": row.subject.revision}
        for config, cell in row.cells.items():
            own = about | {"config": config, "template": "", "state": cell.state, "reason": cell.reason}
            if cell.state != DONE:
                told.append(own)
                continue
            facts = cell.facts
            own |= {name: facts.get(name) for name in COLUMNS if name in facts} | {
                "commit": facts["revision"]
            }
            own["revision"] = row.subject.revision
            told.append(own | _numbers(facts["estimate"]) | _zone(facts["zone"]))
            for template, estimate in facts["templates"].items():
                told.append(own | {"template": str(template), "verdict": None} | _numbers(estimate))
        for config, reason in row.left_out.items():
            told.append(about | {"config": config, "template": "", "state": LEFT_OUT, "reason": reason})
    return told


def _numbers(estimate: Sequence[float | None]) -> dict[str, float | None]:
    return dict(zip(("value", "low", "high"), estimate, strict=True))


def _zone(zone: Sequence[float | None]) -> dict[str, float | None]:
    return dict(zip(("zone_low", "zone_high"), zone, strict=True))


def differences_of(
    rows: Sequence[Row], place: Place, told: Callable[[int], None] = lambda pairs: None
) -> list[Pairs]:
    """The differences of every two models of each config; `told` hears how many more are done."""
    found = []
    for config in lines_of(rows):
        there = [row for row in rows if config in row.cells and row.cells[config].state == DONE]
        if len(there) > 1:
            chosen, others = there[:MOST], there[MOST:]
            left_out = tuple(row.subject.name for row in others)
            found.append(replace(_pairs(config, chosen, place, told), left_out=left_out))
    return found


def number_of_pairs(rows: Sequence[Row]) -> int:
    """How many differences `differences_of` computes."""
    sizes = (min(MOST, len(lines)) for lines in lines_of(rows).values())
    return sum(size * (size - 1) // 2 for size in sizes)


def _pairs(config: str, rows: Sequence[Row], place: Place, told: Callable[[int], None]) -> Pairs:
    runs = [_run(row, config, place) for row in rows]
    number = len(runs) * (len(runs) - 1) // 2
    found: list[Difference] = []
    try:
        for difference in compare_pairs(runs, max(DRAWS, _DRAWS_A_PAIR * number)):
            found.append(difference)
            told(1)
    except GestError as error:
        return Pairs(config, problem=" ".join(str(error).split()))
    if not found:
        return Pairs(config, problem="no two of the models have answered the same templates")
    adjusted = holm([difference.found.p_value for difference in found])
    return Pairs(
        config,
        tuple(replace(one, adjusted=p) for one, p in zip(found, adjusted, strict=True)),
    )


def _run(row: Row, config: str, place: Place) -> Run:
    """A finished run under the name of its model in the suite."""
    with place.run(run_name(row.subject.name, config)) as path:
        run = read_run(path)
    return replace(run, manifest=replace(run.manifest, model=row.subject.name))


def written(rows: Sequence[Row], pairs: Sequence[Pairs], place: Place) -> None:
    """leaderboard.csv, leaderboard.parquet and differences.csv."""
    told = table_of(rows)
    cells = ([line.get(name) for name in COLUMNS] for line in told)
    place.write("leaderboard.csv", csv_text(list(COLUMNS), cells).encode())
    columns = {name: pa.array([line.get(name) for line in told], kind) for name, kind in COLUMNS.items()}
    with place.file("leaderboard.parquet") as path:
        write_table(path, pa.table(columns))
    lines = (_told(one) for own in pairs for one in own.differences)
    place.write("differences.csv", csv_text(_DIFFERENCES, lines).encode())


def _told(one: Difference) -> list[Any]:
    found = one.found
    values = (found.a, found.b, found.difference, found.low, found.high, *found.times)
    templates = "+".join(map(str, one.templates))
    tested = (found.p_value, one.adjusted, one.n, one.missing)
    return [one.config, one.run, one.baseline, templates, found.measure, *values, *tested]


def failed_of(rows: Sequence[Row]) -> dict[str, str]:
    """The cells that have failed, with the reasons."""
    return {
        f"{row.subject.name}/{config}": cell.reason
        for row in rows
        for config, cell in row.cells.items()
        if cell.state == FAILED
    }
