"""`gest calibrate`: small models with planted stereotypes, and what the pipeline measures of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from gest_dataset.commands.console import interruptible, new_table, number, out, progress_bar, show_report

if TYPE_CHECKING:
    from gest_dataset.calibration.study import Calibration
    from gest_dataset.calibration.subjects import Subject

EXAMPLES = (
    "Examples: [bold]gest calibrate[/bold] (a few minutes on two cores), [bold]gest calibrate --quick[/bold] "
    "(two small models), [bold]gest calibrate --seed 1 --output second[/bold], "
    "[bold]gest calibrate --demo-model DIR[/bold] (make the tiny model of `gest demo` again)"
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
    import datasets
    import transformers

    from gest_dataset.calibration import study, toy
    from gest_dataset.calibration.subjects import FULL, QUICK
    from gest_dataset.runs.reading import REPORT

    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    kept = f"Models that are trained are kept in {output}; the same command goes on from here."
    with interruptible(kept), progress_bar() as bar:
        task = bar.add_task("", total=None)

        def show(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done, total=total)

        if demo_model is not None:
            toy.make_toy(demo_model, device, show)
            out.print(f"Made {demo_model}", soft_wrap=True)
            return

        def show_subject(subject: Subject, done: int, total: int) -> None:
            show(subject.title, done, total)

        size = QUICK if quick else FULL
        found = study.calibrate(output, size, seed, device, ["gest", *sys.argv[1:]], show_subject)
    out.print(_stereotypes(found))
    out.print(_checks(found))
    show_report(output / REPORT)
    if not found.passed:
        raise typer.Exit(1)


def _stereotypes(found: Calibration) -> Table:
    """Planted and recovered log-odds of each stereotype: the mean over where a model was measured."""
    from gest_dataset.calibration.worlds import strength
    from gest_dataset.stereotypes import STEREOTYPES

    planted = found.recoveries[0].planted
    names = list(dict.fromkeys(one.subject for one in found.recoveries if one.planted == planted))
    columns = ("stereotype", "", "planted", *(part for name in names for part in (name.split("-")[1], "off")))
    table = new_table("ln q, planted and recovered", out, *columns)
    table.columns[0].no_wrap, table.columns[0].overflow, table.columns[0].max_width = True, "ellipsis", 22
    for place, (stereotype, value) in enumerate(planted.items()):
        kind = strength(stereotype, round(value, 1))
        cells = [f"{stereotype:2} {STEREOTYPES[stereotype].name}", kind, f"{round(value, 2) + 0.0:.2f}"]
        for name in names:
            own = [one.log_q[place] for one in found.recoveries if one.subject == name]
            worst = max(abs(q - value) for q in own)
            cells += [f"{sum(own) / len(own):.2f}", f"{worst:.2f}"]
        table.add_row(*cells)
    table.caption = "Means over templates and pairs; `off`: the farthest of them from what was planted."
    return table


def _checks(found: Calibration) -> Table:
    table = new_table("Checks", out, "", "value", "must lie in", "")
    where = None
    for check in found.expectations:
        if check.where != where:
            where = check.where
            table.add_section()
            table.add_row(where, style="bold")
        limits = f"{number(check.least, 3)} to {_limit(check.most)}"
        verdict = Text("holds", style="green") if check.passed else Text("FAILS", style="bold red")
        table.add_row(f"  {check.what}", number(check.value, 3), limits, verdict)
    return table


def _limit(value: float) -> str:
    return "…" if value == float("inf") else number(value, 3)
