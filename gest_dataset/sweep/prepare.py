"""What comes before a sweep: all that can be wrong is found, and told at once, before anything starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gest_dataset.data.rows import rows_of
from gest_dataset.errors import GestError
from gest_dataset.sweep import state
from gest_dataset.sweep.engine import Engine
from gest_dataset.sweep.grid import DONE, FAILED, Cell, Row, row_of
from gest_dataset.sweep.looking import look_at
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.suite import Suite


def prepare(
    suite: Suite,
    place: Place | None = None,
    engine: Engine | None = None,
    looked: Callable[[int, int], None] = lambda number, of: None,
) -> dict[str, Row]:
    """The grid of a suite by the models' names, with what is kept of it in a place; else one error with all
    problems. `looked` hears how many models were looked at, of how many.
    """
    problems: list[str] = []
    known = {} if place is None else state.known(place, suite.subjects)
    looks = {}
    for subject in suite.subjects:
        look = state.look_of(known.get(subject.name, {}), subject)
        if look is not None:
            looks[subject.name] = look
    new = [subject for subject in suite.subjects if subject.name not in looks]
    for number, (subject, look) in enumerate(look_at(new), start=1):
        looks[subject.name] = look
        looked(number, len(new))
    rows: dict[str, Row] = {}
    for subject in suite.subjects:
        row, wrong = row_of(subject, looks[subject.name])
        if place is not None and not wrong:
            row, wrong = state.with_kept(row, known.get(subject.name, {}), place)
        rows[subject.name] = row
        problems += wrong
    problems += [] if engine is None else engine.lacking(suite.subjects)
    problems += _unreadable(rows)
    suite.checked(tuple(dict.fromkeys(problems)))
    return rows


def _unreadable(rows: dict[str, Row]) -> list[str]:
    """Configs whose data cannot be had, of those that are still to be asked."""
    wanted = dict.fromkeys(
        config for row in rows.values() for config, cell in row.cells.items() if cell.state != DONE
    )
    lines = []
    for config in wanted:
        try:
            rows_of(config)
        except GestError as error:
            lines.append(f"configs: {config} cannot be read: {' '.join(str(error).split())}")
    return lines


def tried_again(rows: dict[str, Row]) -> dict[str, Row]:
    """The rows with what has failed as still to be done."""
    return {
        name: replace(
            row,
            cells={config: Cell() if cell.state == FAILED else cell for config, cell in row.cells.items()},
        )
        for name, row in rows.items()
    }
