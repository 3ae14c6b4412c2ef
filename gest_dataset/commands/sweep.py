"""`gest sweep`: a suite of models and configs, on the devices of this machine or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress, TaskID

from gest_dataset.commands.console import (
    INTERVAL,
    called,
    err,
    fitted,
    interruptible,
    new_table,
    number,
    out,
    progress_bar,
    quiet,
    show_error,
    show_report,
)
from gest_dataset.commands.several import by_reason, show_fields
from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.sweep.engine import Engine
    from gest_dataset.sweep.grid import Row
    from gest_dataset.sweep.place import Place
    from gest_dataset.sweep.plan import Estimate
    from gest_dataset.sweep.suite import Suite
    from gest_dataset.sweep.work import Event

EXAMPLES = (
    "Examples: [bold]gest sweep suite.yaml --plan[/bold] (what it will take), [bold]gest sweep suite.yaml "
    "--output mine[/bold], [bold]gest sweep suite.yaml --output mine --resume[/bold] (after an interrupt, or "
    "to try again what has failed), [bold]gest sweep suite.yaml --engine ray --address HOST:6379 --output "
    "/shared/mine[/bold], [bold]gest sweep papers/gest-english.yaml --output s3://bucket/gest[/bold] (the "
    "paper's models; also gest-slavic, word-filling, stereoset-multi), then [bold]--check-published[/bold]"
)
_LISTED = 10  # models of a config in the terminal, and cells of a reason; the page has all


def run(
    suite: Annotated[
        str,
        typer.Argument(
            help="A YAML file, or a suite of the papers, such as papers/gest-english.yaml.", metavar="SUITE"
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(help="A folder that all workers see, or a URL (s3://bucket/name).", metavar="DIR"),
    ] = None,
    engine: Annotated[str, typer.Option(help="local (one process a device) or ray.")] = "local",
    address: Annotated[
        str | None,
        typer.Option(help="Of the Ray cluster (default: RAY_ADDRESS, or this machine).", metavar="HOST:PORT"),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only tell what it will take: tokens, memory, time, cost.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the sweep in DIR; what has failed is tried again.")
    ] = False,
    check_published: Annotated[
        bool,
        typer.Option("--check-published", help="Only set what DIR holds beside the papers' printed numbers."),
    ] = False,
) -> None:
    """Score a grid of models, revisions and configs, and rank them.

    A suite is a YAML file that lists models and configs, with what each model needs (docs/sweep.md). All
    that is wrong with it is told before anything starts. A cell of the grid is a run of [bold]gest
    score[/bold]: it is kept in DIR/runs/MODEL/CONFIG, and never computed twice. A model that fails leaves
    the others; what is lost with a process or a node is done again. At the end there is
    DIR/leaderboard.html, with CSV and Parquet.
    """
    from gest_dataset.sweep.grid import FAILED
    from gest_dataset.sweep.place import Place
    from gest_dataset.sweep.suite import find_suite, read_suite
    from gest_dataset.sweep.whole import PAGE

    if plan and check_published:
        raise ConfigError("--plan and --check-published are two things to tell: leave one of them out.")
    if address is not None and engine != "ray":
        raise ConfigError("--address is that of a Ray cluster: use it with --engine ray.")
    quiet(models=False)
    found = read_suite(find_suite(suite))
    if plan:
        with interruptible("Nothing was started."):
            _plan(found, Place(output) if output else None)
        return
    if output is None:
        raise ConfigError("Runs are kept in a folder or a URL that all workers see. Name it with --output.")
    place = Place(output)
    if check_published:
        _check(found, place)
        return
    kept = f"What is finished is kept in {place}; the same command with --resume goes on from there."
    with interruptible(kept), _engine(engine, address) as workers, progress_bar() as bar:
        rows = _scored(found, place, workers, resume, bar)
    _summarise(list(rows.values()))
    show_report(f"{place}/{PAGE}")
    if any(row.count(FAILED) for row in rows.values()):
        raise typer.Exit(1)


@contextmanager
def _engine(name: str, address: str | None) -> Iterator[Engine]:
    """The workers, which are ended whatever happens."""
    from gest_dataset.statistics import checks
    from gest_dataset.sweep import cluster, local

    checks.check_choice("--engine", name, ["local", "ray"])
    made: Engine = cluster.connect(address) if name == "ray" else local.Local(local.devices())
    try:
        yield made
    finally:
        made.close()


def _scored(suite: Suite, place: Place, engine: Engine, resume: bool, bar: Progress) -> dict[str, Row]:
    """Everything that is not done yet, with bars."""
    from gest_dataset.sweep.grid import DONE, FAILED, TO_DO
    from gest_dataset.sweep.whole import Watcher, sweep
    from gest_dataset.sweep.work import BEGUN, ENDED, LOST

    looking = bar.add_task("looking at models", total=None)
    cells = bar.add_task("cells", visible=False)
    pairs = bar.add_task("comparing models", visible=False)
    models: dict[str, TaskID] = {}

    def begins(rows: Mapping[str, Row]) -> None:
        bar.remove_task(looking)
        counts = {state: sum(row.count(state) for row in rows.values()) for state in (DONE, TO_DO)}
        bar.update(cells, completed=counts[DONE], total=sum(counts.values()), visible=True)
        kept = f", {counts[DONE]:,} of them finished before" if counts[DONE] else ""
        told = f"Models: {len(rows):,}, cells: {sum(counts.values()):,}{kept}; {engine.words}."
        err.print(told, soft_wrap=True)

    def heard(row: Row, event: Event) -> None:
        name = row.subject.name
        finished = len(row.cells) - row.count(TO_DO)
        if event.what == BEGUN:
            task = models.setdefault(name, bar.add_task("") if name not in models else models[name])
            told = f"{name}: {event.config}"
            bar.update(task, description=told, completed=finished, total=len(row.cells))
        elif event.config:
            bar.advance(cells)
        if event.what == LOST:
            err.print(f"{name}: a worker was lost, and its cells are given out again ({event.reason}).")
        if event.what in (ENDED, LOST) and name in models:
            bar.remove_task(models.pop(name))
        if event.what == ENDED:
            failed = f"{row.count(FAILED)} failed" if row.count(FAILED) else ""
            show_fields([name, f"{row.count(DONE)} of {len(row.cells)} cells", failed])

    def compared(number: int, of: int) -> None:
        bar.update(pairs, completed=number, total=of, visible=True)

    watcher = Watcher(
        lambda number, of: bar.update(looking, completed=number, total=of), begins, heard, compared
    )
    return sweep(suite, place, engine, resume, called(), watcher)


def _summarise(rows: Sequence[Row]) -> None:
    """The first models of each config; what has no number, and why."""
    from gest_dataset.commands.tables import span
    from gest_dataset.sweep.board import failed_of, lines_of

    for config, lines in lines_of(rows).items():
        head = lines[0].headline
        table = new_table(f"{config}: {head.symbol}", out, "model", head.symbol, INTERVAL, "verdict")
        for line in lines[:_LISTED]:
            table.add_row(line.name, number(line.estimate.value), span(line.estimate), line.facts["verdict"])
        out.print(fitted(table, out))
        if len(lines) > _LISTED:
            out.print(f"and {len(lines) - _LISTED:,} more in leaderboard.html")
    for reason, names in by_reason(failed_of(rows)).items():
        show_error(f"failed: {_some(names)}\n{reason}")
    left_out = {f"{row.subject.name}/{config}": why for row in rows for config, why in row.left_out.items()}
    for reason, names in by_reason(left_out).items():
        err.print(f"Left out ({reason}): {_some(names)}", soft_wrap=True)


def _some(names: Sequence[str]) -> str:
    """Names, as many as people read."""
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _plan(suite: Suite, place: Place | None) -> None:
    """What each model will take, and all of them."""
    from gest_dataset.sweep import plan
    from gest_dataset.sweep.device import measure
    from gest_dataset.sweep.local import devices
    from gest_dataset.sweep.prepare import prepare

    quiet()
    with progress_bar() as bar:
        looking = bar.add_task("looking at models", total=None)
        rows = prepare(suite, place, None, lambda n, of: bar.update(looking, completed=n, total=of))
        bar.update(looking, description="measuring this machine", total=None)
        own = devices()
        dtypes = dict.fromkeys(subject.asking.dtype for subject in suite.subjects if subject.server is None)
        speed = {dtype: measure(own[0], dtype) for dtype in dtypes}
        bar.update(looking, description="asking tokenizers", completed=0, total=len(rows))
        found = []
        for row in rows.values():
            found.append(plan.estimate(row, speed))
            bar.advance(looking)
    columns = (
        "model",
        "size",
        "cells",
        "tokens",
        "PFLOP",
        "memory",
        "hours",
        *(["cost"] if suite.price else []),
    )
    table = new_table(f"{suite.title}: what it will take", out, *columns)
    for one in sorted(found, key=lambda one: -(one.seconds or 0.0)):
        table.add_row(one.name, *_planned(one, suite.price))
    hours, longest = plan.total(found, len(own))
    whole = (f"{sum(one.cells for one in found):,}", _short(sum(one.tokens for one in found)))
    work = number(sum(one.operations or 0.0 for one in found) / 1e15)
    table.add_section()
    cost = [f"{hours * suite.price:,.2f}"] if suite.price else []
    table.add_row("all", "", *whole, work, "", number(hours), *cost, style="bold")
    out.print(fitted(table, out))
    for one in found:
        if one.problem:
            err.print(f"{one.name}: no estimate: {one.problem}", soft_wrap=True)
    for dtype, measured in speed.items():
        told = ", ".join(
            f"{operations / 1e9:,.0f} at width {width}"
            for width, operations in zip(measured.widths, measured.operations, strict=True)
        )
        asked = f" (dtype {dtype})" if dtype != measured.dtype else ""
        out.print(f"{measured.device}, {measured.dtype}{asked}: GFLOP in a second: {told}.")
    out.print(
        f"On this machine, whose speed was measured now: {number(hours)} device-hours, {number(longest)} "
        f"hours on {len(own)} device{'s' if len(own) > 1 else ''}. Weights still to download are not in it."
    )


def _planned(one: Estimate, price: float | None) -> list[str]:
    """The cells of a model in the table of the plan."""
    work = None if one.operations is None else one.operations / 1e15
    hours = None if one.seconds is None else one.seconds / 3600
    told = [_short(one.parameters), f"{one.cells:,}", _short(one.tokens or None), number(work)]
    told += ["-" if one.memory is None else f"{_short(one.memory)}B", number(hours)]
    if price:
        told.append("-" if hours is None else f"{hours * price:,.2f}")
    return told


def _short(value: float | None) -> str:
    """A large number in few characters.

    >>> _short(134_515_008), _short(950.0), _short(None)
    ('134.5 M', '950', '-')
    """
    if value is None:
        return "-"
    for unit, name in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:.1f}{name}"
    return f"{value:.0f}"


def _check(suite: Suite, place: Place) -> None:
    """Ours beside print, and what differs; the exit code says whether something does."""
    from gest_dataset.commands.tables import span
    from gest_dataset.storage import csv_text
    from gest_dataset.sweep.check import COLUMNS, check_published, runs_of

    suite.checked()
    runs, lacking = runs_of(suite, place)
    found = check_published(runs)
    if lacking:
        err.print(f"{lacking:,} cells of the suite have no finished run in {place}.", soft_wrap=True)
    if not found:
        raise ConfigError(
            f"{place} holds no finished run of a model that a paper has printed numbers of. Models count by "
            f"their id on the Hub, in the newest revision, on all samples and without options of their own."
        )
    table = new_table("Ours beside the printed numbers", out, "", "numbers", "agree", "differ", "no interval")
    for key in dict.fromkeys((one.table, one.model, one.where) for one in found):
        own = [one.differs for one in found if (one.table, one.model, one.where) == key]
        counts = (len(own), own.count(False), own.count(True), own.count(None))
        table.add_row(", ".join(key), *(f"{count:,}" for count in counts))
    out.print(fitted(table, out))
    differing = [one for one in found if one.differs]
    if differing:
        table = new_table("Those that differ by more than the interval", out, "", "ours", INTERVAL, "printed")
        for one in differing:
            name = f"{one.table}, {one.model}, {one.where}: {one.number}"
            table.add_row(name, number(one.ours.value, 3), span(one.ours, 3), f"{one.printed:g}")
        out.print(fitted(table, out))
    place.write("published.csv", csv_text(COLUMNS, (one.told() for one in found)).encode())
    out.print(
        f"{len(found):,} numbers stand beside print; {len(differing):,} of them differ by more than our 95 % "
        f"interval. All are in published.csv."
    )
    if differing:
        raise typer.Exit(1)
