"""Watching over a sweep: jobs go out, events come in, each cell is noted, what is lost goes out again."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from gest_dataset.errors import OutputError
from gest_dataset.sweep import state
from gest_dataset.sweep.engine import Engine
from gest_dataset.sweep.grid import DONE, FAILED, TO_DO, Cell, Job, Row
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.work import BEGUN, LEFT_OUT, LOST, STOP, Event

# A cell that was there when so many workers were lost is what loses them: a third one would be as well
MOST_LOSSES = 3


def drive(
    jobs: Sequence[Job],
    rows: dict[str, Row],
    engine: Engine,
    place: Place,
    heard: Callable[[Row, Event], None] = lambda row, event: None,
) -> dict[str, Row]:
    """Do the jobs, in their order; the rows as they are at the end.

    A lost worker (its process, its node) costs the cells that were on their way there; a cell that has lost
    `MOST_LOSSES` workers has failed. An OutputError is that of a place that cannot be written to any more:
    what is done is kept there.
    """
    waiting = deque(jobs)
    flying: dict[str, Job] = {}
    current: dict[str, str] = {}
    losses: Counter[str] = Counter()  # of jobs that were lost before a cell had begun
    while waiting or flying:
        while waiting and engine.has_room(waiting[0]):
            job = waiting.popleft()
            flying[job.name] = job
            engine.start(job)
        for event in engine.wait():
            row = rows[event.job]
            if event.what == STOP:
                raise OutputError(event.reason)
            if event.what == BEGUN:
                current[event.job] = event.config
            elif event.config:
                row = _noted(row, event, place)
                current.pop(event.job, None)
            else:
                job = flying.pop(event.job)
                begun = current.pop(event.job, "")
                if event.what == LOST:
                    losses[event.job] += not begun
                    row = _with_loss(row, begun, event.reason, losses[event.job])
                    state.note(place, row)
                    rest = tuple(config for config in job.configs if _is_open(row, config))
                    if rest:
                        waiting.appendleft(replace(job, configs=rest))
            rows[event.job] = row
            heard(row, event)
    return rows


def _is_open(row: Row, config: str) -> bool:
    return config in row.cells and row.cells[config].state == TO_DO


def _noted(row: Row, event: Event, place: Place) -> Row:
    """The row with what an event says of a cell; written down at once."""
    before = row.cells[event.config]
    if event.what == LEFT_OUT:
        cells = {config: cell for config, cell in row.cells.items() if config != event.config}
        row = replace(row, cells=cells, left_out={**row.left_out, event.config: event.reason})
    elif event.what == DONE:
        mark = state.mark_of(place, row.subject.name, event.config)
        row = row.with_cell(event.config, Cell(DONE, "", mark, event.facts, before.losses))
    else:
        row = row.with_cell(event.config, Cell(FAILED, event.reason, losses=before.losses))
    state.note(place, row)
    return row


def _with_loss(row: Row, begun: str, reason: str, before_any: int) -> Row:
    """The row after a worker was lost: the cell that was on its way there has a loss more; with none, all."""
    if begun:
        cell = row.cells[begun]
        cell = replace(cell, losses=(*cell.losses, reason))
        if len(cell.losses) >= MOST_LOSSES:
            cell = replace(cell, state=FAILED, reason=_lost(reason, "at this config"))
        return row.with_cell(begun, cell)
    if before_any < MOST_LOSSES:
        return row
    failed = Cell(FAILED, _lost(reason, "before it had asked anything"))
    return replace(
        row, cells={config: failed if cell.state == TO_DO else cell for config, cell in row.cells.items()}
    )


def _lost(reason: str, where: str) -> str:
    return (
        f"{MOST_LOSSES} workers were lost {where}, the last one: {reason}. Often it is the memory: give the "
        f"model more (`memory`, `gpus`), a smaller dtype or batch_tokens."
    )
