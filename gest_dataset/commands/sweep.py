"""`gest sweep`: many models on many configs, and a leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from gest_dataset.commands.console import (
    INTERVAL,
    command_line,
    err,
    fit_table,
    format_value,
    new_table,
    out,
    progress_bar,
    show_error,
    show_report,
    silence_libraries,
)
from gest_dataset.commands.several import by_reason, show_fields
from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.sweep.leaderboard import Score
    from gest_dataset.sweep.run import Cell, Engine, Job, JobResult, Output
    from gest_dataset.sweep.suite import Suite

EXAMPLES = (
    "Examples: [bold]gest sweep suite.yaml --estimate[/bold] (tokens, memory, time, cost), [bold]gest sweep "
    "suite.yaml --output mine[/bold] (rerun to resume), [bold]gest sweep suite.yaml --output /shared/mine "
    "--engine ray --address HOST:6379[/bold], [bold]gest sweep suite.yaml --output /shared/mine --engine "
    "slurm[/bold], [bold]gest sweep papers/gest-english.yaml --output s3://bucket/gest[/bold] (the paper's "
    "models; also gest-slavic, word-filling, stereoset-multi), then [bold]--check-published[/bold]"
)
_LISTED = 10  # models per config, and cells per reason, in the terminal


class EngineName(str, Enum):
    """Where cells run."""

    LOCAL = "local"
    RAY = "ray"
    SLURM = "slurm"


def run(
    suite: Annotated[
        str,
        typer.Argument(
            help="A YAML file, or a built-in suite such as papers/gest-english.yaml.", metavar="SUITE"
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(help="A folder that all workers see, or a URL (s3://bucket/name).", metavar="DIR"),
    ] = None,
    engine: Annotated[
        EngineName,
        typer.Option(
            help="local (one model after the other), ray (in parallel, here or on a cluster), or slurm."
        ),
    ] = EngineName.LOCAL,
    address: Annotated[
        str | None,
        typer.Option(help="Ray cluster (default: RAY_ADDRESS, or this machine).", metavar="HOST:PORT"),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only estimate tokens, memory, time and cost.")
    ] = False,
    task: Annotated[
        int | None,
        typer.Option(help="Only score the Nth model of the suite, from 0 (for SLURM tasks).", metavar="N"),
    ] = None,
    leaderboard: Annotated[
        bool, typer.Option("--leaderboard", help="Only build the leaderboard from the finished runs.")
    ] = False,
    check_published: Annotated[
        bool,
        typer.Option("--check-published", help="Only compare the finished runs with the papers' numbers."),
    ] = False,
) -> None:
    """Score many models, revisions and configs, and build a leaderboard.

    A suite is a YAML file that lists models and configs (docs/sweep.md). All problems in it are reported
    before anything runs. Each cell (one model on one config) is a run of [bold]gest score[/bold] in
    DIR/runs/MODEL/CONFIG. A model that fails does not stop the others. Rerun the same command to resume,
    or to retry what failed. The result is DIR/leaderboard.html, with CSV and Parquet.
    """
    from gest_dataset.sweep import cluster
    from gest_dataset.sweep.run import FAILED, PAGE, Engine, Output, list_cells
    from gest_dataset.sweep.suite import find_suite, read_suite

    if address is not None and engine is not EngineName.RAY:
        raise ConfigError("--address needs --engine ray.")
    silence_libraries()
    suite_file = find_suite(suite)
    selected = read_suite(suite_file)
    if estimate:
        _estimate(selected, Output(output) if output else None)
        return
    if output is None:
        raise ConfigError("Give the folder or URL of the sweep with --output.")
    place = Output(output)
    if check_published:
        _check_published(selected, place)
        return
    if engine is EngineName.SLURM:
        ids = cluster.submit_to_slurm(selected, suite_file, place)
        out.print(
            f"Submitted {', '.join(ids)}. The last job builds {output}/{PAGE}; logs are in {output}/slurm."
        )
        return
    if leaderboard:
        with place.local_copy() as folder:
            cells = list_cells(selected, folder)
    else:
        if task is not None:
            if not 0 <= task < len(selected.models):
                raise ConfigError(f"--task {task}: the suite has models 0 to {len(selected.models) - 1}.")
            selected = replace(selected, models=(selected.models[task],))
        workers = cluster.RayEngine(address) if engine is EngineName.RAY else Engine()
        with closing(workers):
            cells = _run(selected, place, workers)
    if task is None:
        cells = _build_leaderboard(selected, place, cells)
    for reason, cell_names in by_reason({c.name: c.reason for c in cells if c.status == FAILED}).items():
        show_error(f"failed: {_some(cell_names)}\n{reason}")
    if any(cell.status == FAILED for cell in cells):
        raise typer.Exit(1)


def _run(suite: Suite, output: Output, engine: Engine) -> list[Cell]:
    """Run what is not done, with a progress bar."""
    from gest_dataset.sweep.run import DONE, LEFT_OUT, sweep

    with progress_bar() as bar:
        task = bar.add_task("cells")

        def on_start(cells: list[Cell]) -> None:
            total = sum(cell.status != LEFT_OUT for cell in cells)
            done = sum(cell.status == DONE for cell in cells)
            bar.update(task, total=total, completed=done)
            already = f", {done:,} of them already done" if done else ""
            err.print(f"Models: {len(suite.models):,}, cells: {total:,}{already}.", soft_wrap=True)

        def on_result(job: Job, result: JobResult) -> None:
            bar.advance(task, len(job.configs))
            done = len(job.configs) - len(result.failed) - len(result.left_out)
            failed = f"{len(result.failed)} failed" if result.failed else ""
            show_fields([job.model.name, f"{done} of {len(job.configs)} cells", failed])

        return sweep(suite, output, engine, command_line(), on_start, on_result)


def _build_leaderboard(suite: Suite, output: Output, cells: Sequence[Cell]) -> list[Cell]:
    """Write the leaderboard, and print the first models of each config."""
    from gest_dataset.sweep.leaderboard import write_leaderboard
    from gest_dataset.sweep.run import LEFT_OUT, PAGE

    with progress_bar() as bar, output.local_copy() as folder:
        task = bar.add_task("comparing models", total=None)
        checked, scores = write_leaderboard(
            suite.title,
            cells,
            folder,
            command_line(),
            lambda n, total: bar.update(task, completed=n, total=total),
        )
        output.upload(folder, "*")
    _show_scores(scores)
    left_out = {cell.name: cell.reason for cell in cells if cell.status == LEFT_OUT}
    for reason, cell_names in by_reason(left_out).items():
        err.print(f"Left out ({reason}): {_some(cell_names)}", soft_wrap=True)
    show_report(f"{output.url}/{PAGE}")
    return checked


def _show_scores(scores: Mapping[str, Sequence[Score]]) -> None:
    from gest_dataset.commands.tables import span  # slow to import

    for config, best in scores.items():
        symbol = best[0].headline.symbol
        table = new_table(f"{config}: {symbol}", out, "model", symbol, INTERVAL, "verdict")
        for score in best[:_LISTED]:
            table.add_row(score.name, format_value(score.estimate.value), span(score.estimate), score.verdict)
        out.print(fit_table(table, out))
        if len(best) > _LISTED:
            out.print(f"and {len(best) - _LISTED:,} more in the leaderboard")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _estimate(suite: Suite, output: Output | None) -> None:
    """Print what each model takes, and the sum."""
    from pathlib import Path

    import torch

    from gest_dataset.sweep.estimate import estimate, total_hours
    from gest_dataset.sweep.run import TO_DO, list_cells

    with progress_bar() as bar:
        task = bar.add_task("reading models", total=len(suite.models))
        with nullcontext(Path("nonexistent")) if output is None else output.local_copy() as folder:
            cells = list_cells(suite, folder, on_model=lambda: bar.advance(task))
        bar.update(task, description="counting tokens", completed=0, total=len(suite.models))
        estimates = []
        for model in suite.models:
            configs = [cell.config for cell in cells if cell.model is model and cell.status == TO_DO]
            estimates.append(estimate(model, configs))
            bar.advance(task)
    price = suite.price
    headings = ("model", "size", "cells", "tokens", "FLOP", "memory", "hours")
    table = new_table(suite.title, out, *headings, *(["cost"] if price else []))

    def add_row(name: str, *values: str, hours: float | None, style: str = "") -> None:
        cost = [format_value(None if hours is None else hours * price)] if price else []
        table.add_row(name, *values, format_value(hours), *cost, style=style)

    for one in sorted(estimates, key=lambda one: -(one.seconds or 0.0)):
        values = (one.parameters, one.cells, one.tokens or None, one.operations, one.memory)
        add_row(one.name, *map(_short, values), hours=None if one.seconds is None else one.seconds / 3600)
        if one.problem:
            err.print(f"{one.name}: no estimate: {one.problem}", soft_wrap=True)
    devices = max(1, torch.cuda.device_count())
    hours, longest = total_hours(estimates, devices)
    sums = [sum(getattr(one, name) or 0 for one in estimates) for name in ("cells", "tokens", "operations")]
    table.add_section()
    add_row("all", "", *map(_short, sums), "", hours=hours, style="bold")
    out.print(fit_table(table, out))
    out.print(
        f"On this machine: {format_value(hours)} device-hours, {format_value(longest)} hours on {devices} "
        f"device{'s' if devices > 1 else ''}, without downloads."
    )


def _short(value: float | None) -> str:
    """
    >>> _short(134_515_008), _short(950.0), _short(None)
    ('134.5 M', '950', '-')
    """
    if value is None:
        return "-"
    units = ((1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k"))
    return next((f"{value / size:.1f}{unit}" for size, unit in units if value >= size), f"{value:.0f}")


def _check_published(suite: Suite, output: Output) -> None:
    """Print which numbers differ from the papers; the exit code is 1 if some do."""
    from gest_dataset.commands.tables import span  # slow to import
    from gest_dataset.storage import atomic_path, csv_text
    from gest_dataset.sweep.published_numbers import COLUMNS, compare_with_published, finished_runs

    suite.check()
    with output.local_copy() as folder:
        runs, missing = finished_runs(suite, folder)
        comparisons = compare_with_published(runs)
        if missing:
            err.print(f"{missing:,} cells of the suite are not finished in {output.url}.", soft_wrap=True)
        if not comparisons:
            raise ConfigError(
                f"{output.url} has no finished run of a model with published numbers. Models must be loaded "
                f"from the Hub in the newest revision, and scored on all samples without options."
            )
        with atomic_path(folder / "published.csv") as partial:
            partial.write_text(csv_text(COLUMNS, (one.row() for one in comparisons)), encoding="utf-8")
        output.upload(folder, "published.csv")
    table = new_table("Comparison with print", out, "", "numbers", "differ")
    for name in dict.fromkeys(one.table for one in comparisons):
        differs = [one.differs for one in comparisons if one.table == name]
        table.add_row(name, f"{len(differs):,}", f"{differs.count(True):,}")
    out.print(fit_table(table, out))
    differing = [one for one in comparisons if one.differs]
    for one in differing:
        estimate = f"{format_value(one.estimate.value, 3)} ({span(one.estimate, 3)})"
        where = f"{one.table}, {one.model}, {one.where}: {one.metric}"
        out.print(f"{where} is {estimate}, printed: {one.printed:g}", soft_wrap=True)
    out.print(
        f"{len(differing):,} of {len(comparisons):,} printed numbers lie outside our 95 % interval. All are "
        f"in published.csv."
    )
    if differing:
        raise typer.Exit(1)
