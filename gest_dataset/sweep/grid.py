"""The grid of a suite: what each model is asked, what it cannot be asked, and what is done of it.

A cell is a model in a revision on a config, with all templates of it: one run. A job is a model with the
cells that are still to do, for one worker that loads it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from gest_dataset.builders import CONFIGS
from gest_dataset.data.selection import names
from gest_dataset.errors import ConfigError
from gest_dataset.measures import measure_of
from gest_dataset.models.selection import split
from gest_dataset.sweep.looking import Look
from gest_dataset.sweep.suite import Subject

TO_DO, DONE, FAILED = "to do", "done", "failed"


@dataclass(frozen=True)
class Cell:
    """What is known of a cell: its state; of a finished one `facts`, of a failed one the `reason`.

    `mark` is the SHA-256 of the run's manifest. `losses` are workers that were lost while they were at it.
    """

    state: str = TO_DO
    reason: str = ""
    mark: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    losses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One model of the grid: its look, its cells by config, the configs that it cannot be asked with why."""

    subject: Subject
    look: Look
    cells: Mapping[str, Cell]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def count(self, state: str) -> int:
        return sum(cell.state == state for cell in self.cells.values())

    def with_cell(self, config: str, cell: Cell) -> Row:
        return replace(self, cells={**self.cells, config: cell})


@dataclass(frozen=True)
class Job:
    """A model with the configs that one worker is to ask it; `version` is that of who gives it out."""

    subject: Subject
    configs: tuple[str, ...]
    kind: str
    parameters: int
    place: str
    command: tuple[str, ...]
    version: str

    @property
    def name(self) -> str:
        return self.subject.name

    @cached_property
    def work(self) -> float:
        """What it takes, for the order: parameters times rows; served models cost the server, and begin."""
        rows = sum(CONFIGS[config].published_rows for config in self.configs)
        return float("inf") if self.subject.server else float(self.parameters * rows)


def row_of(subject: Subject, look: Look) -> tuple[Row, list[str]]:
    """The row of a model, and what is wrong with what it is to be asked."""
    asking = subject.asking
    if look.error:
        return Row(subject, look, {}), [f"{subject.name}: {_first(look.error)}"]
    if not asking.configs:  # they are wrong, and that is told
        return Row(subject, look, {}), []
    # none counts as named: of a grid each model does what it can, and the rest is left out
    wanted = dict.fromkeys(names(",".join(asking.configs)), False)
    try:
        chosen, left_out = split(wanted, look.kind, subject.model)
    except ConfigError as error:
        return Row(subject, look, {}), [f"{subject.name}: {_first(str(error))}"]
    problems = list(dict.fromkeys(_unsuited(subject, look.kind, chosen)))
    return Row(subject, look, dict.fromkeys(chosen, Cell()), left_out), problems


def _unsuited(subject: Subject, kind: str, configs: Sequence[str]) -> Iterator[str]:
    """Options that the probe of a config does not take from such a model."""
    for config in configs:
        probe = measure_of(list(CONFIGS[config].features), config)[1]
        if probe.intersentence and kind == "masked":
            continue  # its checkpoint may have a next-sentence head, which loading it tells
        try:
            probe.query_builders(kind, subject.asking.options)
        except ConfigError as error:
            yield f"{subject.name}: {_first(str(error))}"


def _first(text: str) -> str:
    return " ".join(text.split())


def jobs_of(rows: Sequence[Row], place: str, command: Sequence[str], version: str) -> list[Job]:
    """The jobs of what is not done, the largest first; what has failed is tried again."""
    jobs = [
        Job(
            row.subject,
            tuple(config for config, cell in row.cells.items() if cell.state != DONE),
            row.look.kind,
            row.look.parameters,
            place,
            tuple(command),
            version,
        )
        for row in rows
    ]
    return sorted((job for job in jobs if job.configs), key=lambda job: -job.work)
