"""`gest calibrate`: small models with planted stereotypes, and what the pipeline measures of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from gest_dataset.commands.console import (
    called,
    interruptible,
    new_table,
    number,
    out,
    progress_bar,
    quiet,
    show_report,
)

if TYPE_CHECKING:
    from gest_dataset.calibration.study import Calibration

EXAMPLES = (
    "Examples: [bold]gest calibrate[/bold] (a few minutes on two cores), [bold]gest calibrate --quick[/bold] "
    "(two small models), [bold]gest calibrate --seed 1 --output second[/bold], "
    "[bold]gest calibrate --demo-model DIR[/bold] (make the tiny model of `gest demo` again)"
)

_TOY = (
    "Everything here is about toys: small models that were trained on made-up sentences, so that the "
    "truth is known. It says how well the instrument measures, and nothing about any model that people use."
)


def run(
    output: Annotated[Path, typer.Option(help="The directory of models, runs and the report.")] = Path(
        "gest-calibration"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Of the words, the odds and the training.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cuda, cuda:N, mps or cpu.")] = "auto",
    quick: Annotated[
        bool, typer.Option("--quick", help="Two small masked models, without control sets.")
    ] = False,
    demo_model: Annotated[
        Path | None, typer.Option(help="Only make the tiny model of `gest demo` in this directory.")
    ] = None,
) -> None:
    """Check the instrument: train small models on corpora with known stereotypes, and measure them.

    Planted are strong, weak, no and reversed stereotypes, none at all, a shift towards men, and control
    sets whose keywords differ in frequency or in gender. Exit code 1 where a check does not hold.
    Models and runs that are there are not made again.
    """
    from gest_dataset.calibration import study, toy
    from gest_dataset.calibration.panels import panels
    from gest_dataset.report import write
    from gest_dataset.runs.reading import REPORT

    quiet()
    kept = f"Models that are trained are kept in {output}; the same command goes on from here."
    with interruptible(kept), progress_bar() as bar:
        task = bar.add_task("", total=None)

        def show(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done, total=total)

        if demo_model is not None:
            toy.make_toy(demo_model, device, show)
            out.print(f"Made {demo_model}", soft_wrap=True)
            return
        size = study.QUICK if quick else study.FULL
        calibration = study.calibrate(output, size, seed, device, called(), show)
        figures = output / study.FIGURES
        for panel in figures.glob("calibration-*.*"):  # those of another size
            panel.unlink()
        write([], output / REPORT, panels(calibration), _notes(calibration), figures)
    out.print(_stereotypes(calibration))
    out.print(_checks(calibration))
    show_report(output / REPORT)
    if not calibration.passed:
        raise typer.Exit(1)


def _notes(calibration: Calibration) -> list[str]:
    """What stands at the top of the report."""
    checks = calibration.expectations
    failed = [f"{check.where}: {check.what} ({check.value:.3f})" for check in checks if not check.passed]
    if failed:
        return [_TOY, f"{len(failed)} of {len(checks)} checks do not hold: {'; '.join(failed)}."]
    return [_TOY, f"All {len(checks)} checks hold."]


def _stereotypes(calibration: Calibration) -> Table:
    """Planted and recovered log-odds of each stereotype: the mean over where a model was measured."""
    from gest_dataset.calibration.corpus import strength
    from gest_dataset.stereotypes import STEREOTYPES

    recoveries = calibration.recoveries
    planted = recoveries[0].planted
    names = list(dict.fromkeys(each.subject for each in recoveries if each.planted == planted))
    columns = ("stereotype", "", "planted", *(part for name in names for part in (name.split("-")[1], "off")))
    table = new_table("ln q, planted and recovered", out, *columns)
    table.columns[0].no_wrap, table.columns[0].overflow, table.columns[0].max_width = True, "ellipsis", 22
    for place, (stereotype, value) in enumerate(planted.items()):
        kind = strength(stereotype, round(value, 1))
        cells = [f"{stereotype:2} {STEREOTYPES[stereotype].name}", kind, f"{round(value, 2) + 0.0:.2f}"]
        for name in names:
            own = [each.log_q[place] for each in recoveries if each.subject == name]
            worst = max(abs(q - value) for q in own)
            cells += [f"{sum(own) / len(own):.2f}", f"{worst:.2f}"]
        table.add_row(*cells)
    table.caption = "Means over templates and pairs; `off`: the farthest of them from what was planted."
    return table


def _checks(calibration: Calibration) -> Table:
    table = new_table("Checks", out, "", "value", "must lie in", "")
    where = None
    for check in calibration.expectations:
        if check.where != where:
            where = check.where
            table.add_section()
            table.add_row(where, style="bold")
        most = "…" if check.most == float("inf") else number(check.most, 3)
        limits = f"{number(check.least, 3)} to {most}"
        verdict = Text("holds", style="green") if check.passed else Text("FAILS", style="bold red")
        table.add_row(f"  {check.what}", number(check.value, 3), limits, verdict)
    return table
