"""`gest sweep`: many models on many configs, and a leaderboard."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gest_dataset.commands import console
from gest_dataset.commands.console import err, out
from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.sweep.run import Cell, Engine
    from gest_dataset.sweep.suite import Suite

ENGINES = ("local", "ray", "slurm")  # where cells run
_LISTED = 10  # models per config, and cells per reason, in the terminal


def run(
    suite: str,
    output: Path | None = None,
    engine: str = "local",
    address: str | None = None,
    estimate: bool = False,
    slurm: list[str] | None = None,
    task: int | None = None,
    cell: int | None = None,
    leaderboard: bool = False,
    site: Path | None = None,
    trust_remote_code: bool = False,
) -> None:
    from gest_dataset.sweep.run import FAILED, PAGE, list_cells, run_here, run_on_ray, submit_to_slurm
    from gest_dataset.sweep.suite import find_suite, read_suite

    if engine not in ENGINES:
        raise ConfigError(f"Unknown --engine {engine!r}. Choose from {', '.join(ENGINES)}.")
    if address is not None and engine != "ray":
        raise ConfigError("--address needs --engine ray.")
    console.silence_libraries()
    suite_file = find_suite(suite)
    selected = read_suite(suite_file, trust_remote_code)
    if estimate:
        _estimate(selected, output)
        return
    if output is None:
        raise ConfigError("Give the folder of the sweep with --output.")
    if engine == "slurm":
        given = dict(text.partition("=")[::2] for text in slurm or [])
        selected = replace(selected, slurm={**selected.slurm, **given})
        ids = ", ".join(submit_to_slurm(selected, suite_file, output))
        out.print(f"Submitted {ids}. The last job builds {output}/{PAGE}; logs are in {output}/slurm.")
        return
    if task is not None:
        if not 0 <= task < len(selected.models):
            raise ConfigError(f"--task {task}: the suite has models 0 to {len(selected.models) - 1}.")
        selected = replace(selected, models=[selected.models[task]])
    cells = list_cells(selected, output)
    if cell is not None:
        if not 0 <= cell < len(cells):
            raise ConfigError(f"--cell {cell}: the suite has cells 0 to {len(cells) - 1}.")
        cells = [cells[cell]]
    if not leaderboard:
        on_ray = partial(run_on_ray, address=address)
        cells = _run(cells, output, on_ray if engine == "ray" else run_here)
    failed = {cell.name: cell.reason for cell in cells if cell.status == FAILED}
    if task is None and cell is None:
        failed |= _build_leaderboard(selected, output, cells)
        if site is not None:
            from gest_dataset.sweep.board import write_board

            err.print(f"Board: {write_board(selected, output, site):,} numbers in {site}")
    console.show_failed("failed", failed, _LISTED)
    if failed:
        raise typer.Exit(1)


def _run(cells: "Sequence[Cell]", output: Path, engine: "Engine") -> "list[Cell]":
    from gest_dataset.sweep.run import DONE, FAILED, LEFT_OUT, sweep

    total = sum(cell.status != LEFT_OUT for cell in cells)
    done = sum(cell.status == DONE for cell in cells)
    err.print(f"Cells: {total:,}{f', {done:,} of them already done' if done else ''}.")
    finished = {cell.name: cell for cell in cells}
    for job in sweep(cells, output, engine, console.command_line()):
        finished |= {cell.name: cell for cell in job}
        done, failed = (sum(cell.status == status for cell in job) for status in (DONE, FAILED))
        failures = f", {failed} failed" if failed else ""
        out.print(f"{job[0].model.name} {done} of {len(job)} cells{failures}")
    return list(finished.values())


def _build_leaderboard(suite: "Suite", output: Path, cells: "Sequence[Cell]") -> dict[str, str]:
    """Write the leaderboard, print the first models of each config, and return damaged runs."""
    from gest_dataset.sweep.leaderboard import scores_by_config, write_leaderboard
    from gest_dataset.sweep.run import FAILED, LEFT_OUT, PAGE

    lines = write_leaderboard(suite.title, cells, output, console.command_line())
    for config, best in scores_by_config(lines).items():
        symbol = best[0]["headline"].symbol
        rows = [
            (line["name"], console.format_value(line["value"]), line["interval"] or "-", line["verdict_text"])
            for line in best[:_LISTED]
        ]
        console.show_table(f"{config}: {symbol}", ("model", symbol, console.INTERVAL, "verdict"), rows)
        if len(best) > _LISTED:
            out.print(f"and {len(best) - _LISTED:,} more in the leaderboard")
    console.show_left_out({cell.name: cell.reason for cell in cells if cell.status == LEFT_OUT}, _LISTED)
    err.print(f"Report: {output / PAGE}")
    return {f"{line['name']}/{line['config']}": line["reason"] for line in lines if line["status"] == FAILED}


def _estimate(suite: "Suite", output: Path | None) -> None:
    """Print what is left to do, and the time and cost, estimated from the finished cells."""
    from gest_dataset.data.rows import rows_of
    from gest_dataset.sweep.run import DONE, TO_DO, list_cells, seconds_per_sample

    cells = list_cells(suite, output or Path("nonexistent"))
    rows, hours = [], 0.0
    for model in suite.models:
        own = [cell for cell in cells if cell.model is model]
        samples = sum(len(rows_of(cell.config)) for cell in own if cell.status == TO_DO)
        speed = seconds_per_sample([cell for cell in own if cell.status == DONE], output)
        done = sum(cell.status == DONE for cell in own)
        left = sum(cell.status == TO_DO for cell in own)
        needed = None if speed is None else samples * speed / 3600
        hours += needed or 0.0
        rows.append((model.name, done, left, samples, console.format_value(needed)))
    console.show_table(suite.title, ("model", "done", "to do", "samples to do", "hours"), rows)
    cost = f", cost {hours * suite.price:.2f}" if suite.price else ""
    out.print(f"{hours:.2f} device-hours{cost}, estimated from each model's finished cells (-: none yet).")
