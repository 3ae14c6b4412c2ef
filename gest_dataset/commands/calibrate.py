"""`gest calibrate`: small models with planted stereotypes, and what the pipeline measures of them."""

from __future__ import annotations

from collections.abc import Sequence
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
    from gest_dataset.calibration.checks import Expectation
    from gest_dataset.calibration.faults import Trial
    from gest_dataset.calibration.study import Calibration

EXAMPLES = (
    "Examples: [bold]gest calibrate[/bold] (several minutes), [bold]gest calibrate "
    "--quick[/bold] (four small models), [bold]gest calibrate --faults[/bold] (does a broken instrument "
    "fail?), [bold]gest calibrate --seed 1 --output second[/bold], "
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
    quick: Annotated[bool, typer.Option("--quick", help="Four small models, without control sets.")] = False,
    faults: Annotated[
        bool,
        typer.Option(
            "--faults",
            help="With the models of --quick: plant faults into the instrument, one at a time. Each must "
            "be caught by a check.",
        ),
    ] = False,
    demo_model: Annotated[
        Path | None, typer.Option(help="Only make the tiny model of `gest demo` in this directory.")
    ] = None,
) -> None:
    """Check the instrument: train small models on corpora with known stereotypes, and measure them.

    Planted are strong, weak, no and reversed stereotypes, none at all, a shift towards men, and control
    sets whose keywords differ in frequency or in gender. What the instrument measures is compared with
    a naive reading of the same models, too. Exit code 1 where a check does not hold, or a planted fault
    is not caught. Models and runs that are there are not made again.
    """
    from gest_dataset.calibration import study, subjects, toy
    from gest_dataset.calibration.faults import try_faults
    from gest_dataset.calibration.panels import panels
    from gest_dataset.report import write_report
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
        size = subjects.QUICK if quick or faults else subjects.FULL
        calibration = study.calibrate(output, size, seed, device, called(), show)
        figures = output / study.FIGURES
        for panel in figures.glob("calibration-*.*"):  # those of another size
            panel.unlink()
        write_report([], output / REPORT, panels(calibration), _notes(calibration))
        trials = try_faults(calibration, output, show) if faults else []
    out.print(_stereotypes(calibration))
    out.print(_checks(calibration))
    if trials:
        out.print(_faults(trials))
    show_report(output / REPORT)
    if not calibration.passed or not all(trial.check for trial in trials):
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
    from gest_dataset.calibration.corpus import WORLDS, strength
    from gest_dataset.stereotypes import STEREOTYPES

    recoveries = [each for each in calibration.recoveries if each.subject.startswith("planted-")]
    names = list(dict.fromkeys(each.subject for each in recoveries))
    columns = (part for name in names for part in (name.removeprefix("planted-"), "off"))
    table = new_table("ln q, planted and recovered", out, "stereotype", "", "planted", *columns)
    table.columns[0].no_wrap, table.columns[0].overflow, table.columns[0].max_width = True, "ellipsis", 22
    for stereotype, value in WORLDS["planted"].log_odds.items():
        kind = strength(stereotype, value)
        cells = [f"{stereotype:2} {STEREOTYPES[stereotype].name}", kind, f"{value:.2f}"]
        for name in names:
            own = [each for each in recoveries if each.subject == name]
            log_q = [each.log_q[stereotype - 1] for each in own]
            off = [abs(q - each.planted[stereotype]) for q, each in zip(log_q, own, strict=True)]
            cells += [f"{sum(log_q) / len(log_q):.2f}", f"{max(off):.2f}"]
        table.add_row(*cells)
    table.caption = (
        "Means over templates and pairs; `off`: the farthest of them from what was planted in the sentences "
        "that were measured, which of `no-start` are another choice for each stereotype."
    )
    return table


def _checks(calibration: Calibration) -> Table:
    table = new_table("Checks", out, "", "value", "must lie in", "")
    where = None
    for check in calibration.expectations:
        if check.where != where:
            where = check.where
            table.add_section()
            table.add_row(where, style="bold")
        verdict = Text("holds", style="green") if check.passed else Text("FAILS", style="bold red")
        table.add_row(f"  {check.what}", number(check.value, 3), _limits(check), verdict)
    return table


def _faults(trials: Sequence[Trial]) -> Table:
    """Each fault, and the check that caught it."""
    table = new_table("Faults planted into the instrument", out, "", "value", "must lie in", "")
    for trial in trials:
        check = trial.check
        table.add_section()
        table.add_row(trial.fault.name, style="bold")
        if check is None:
            table.add_row(f"  {trial.fault.sentence}", "", "", Text("NOT CAUGHT", style="bold red"))
        else:
            caught = Text("caught", style="green")
            where = f"  {check.where}: {check.what}"
            table.add_row(where, number(check.value, 3), _limits(check), caught)
    return table


def _limits(check: Expectation) -> str:
    most = "…" if check.most == float("inf") else number(check.most, 3)
    return f"{number(check.least, 3)} to {most}"
