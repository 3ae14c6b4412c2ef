"""A sweep from its suite to its leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gest_dataset.errors import OutputError
from gest_dataset.sweep import board, page, state
from gest_dataset.sweep.drive import drive
from gest_dataset.sweep.engine import Engine
from gest_dataset.sweep.grid import DONE, Row, jobs_of
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.prepare import prepare, tried_again
from gest_dataset.sweep.suite import Suite
from gest_dataset.sweep.work import Event
from gest_dataset.version import __version__

PAGE = "leaderboard.html"


@dataclass(frozen=True)
class Watcher:
    """Who hears how a sweep goes on: of models looked at (how many, of how many), of the grid before it
    begins, of each event with the model's row as it is then, and of pairs that are compared.
    """

    looked: Callable[[int, int], None] = lambda number, of: None
    begins: Callable[[Mapping[str, Row]], None] = lambda rows: None
    heard: Callable[[Row, Event], None] = lambda row, event: None
    compared: Callable[[int, int], None] = lambda number, of: None


def sweep(
    suite: Suite,
    place: Place,
    engine: Engine,
    resume: bool = False,
    command: Sequence[str] = (),
    watcher: Watcher | None = None,
) -> dict[str, Row]:
    """Do what is not done yet of a suite, rank it, and give the rows of the grid by the models' names.

    What is wrong with the suite is one ConfigError before anything starts. An OutputError is that of a place
    that cannot be written to: what is finished is kept there.
    """
    hears = watcher or Watcher()
    state.check(place, suite, resume)
    rows = tried_again(prepare(suite, place, engine, hears.looked))
    with state.held(place):
        state.begin(place, suite)
        jobs = jobs_of(list(rows.values()), place.url, command, __version__)
        hears.begins(rows)
        try:
            rows = drive(jobs, rows, engine, place, hears.heard)
            ranked(suite, place, rows, command, hears.compared)
        except OutputError as error:
            done = sum(row.count(DONE) for row in rows.values())
            of = sum(len(row.cells) for row in rows.values())
            raise OutputError(
                f"{error}\n{done:,} of {of:,} cells are finished, and kept in {place}; then the same command "
                f"with --resume goes on from there."
            ) from error
    return rows


def ranked(
    suite: Suite,
    place: Place,
    rows: Mapping[str, Row],
    command: Sequence[str],
    compared: Callable[[int, int], None] = lambda number, of: None,
) -> None:
    """Write the leaderboard of what is finished."""
    whole = list(rows.values())
    of, number = board.number_of_pairs(whole), 0

    def tick(more: int) -> None:
        nonlocal number
        number += more
        compared(number, of)

    pairs = board.differences_of(whole, place, tick)
    board.written(whole, pairs, place)
    place.write(PAGE, page.rendered(suite.title, whole, pairs, command).encode())
