"""`gest figures`: the figures of runs as papers need them, and LaTeX tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import err, interruptible, progress_bar

EXAMPLES = (
    "Examples: [bold]gest figures RUN --out figures[/bold], [bold]gest figures RUN RUN --out figures "
    "--format pdf,csv[/bold] (runs beside each other), [bold]gest figures gest-runs --out tables --format "
    "tex[/bold] (all runs below a directory, the LaTeX tables alone)"
)


def run(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Directories of runs, or directories that hold runs.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "--output", help="The folder for the figures and tables.", metavar="DIR")
    ],
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            help="pdf, svg, csv (the numbers), tex (LaTeX tables), with commas.",
            metavar="NAME,...",
        ),
    ] = "pdf,svg,csv,tex",
) -> None:
    """Write each figure of runs at the widths of a paper's columns, with caption and numbers; LaTeX tables.

    NAME-single is 7.7 cm wide (a column), NAME-double 16 cm (the text); fonts are embedded, and the same runs
    give the same bytes. results.tex and details.tex need the package booktabs.
    """
    import datasets

    from gest_dataset.report import paper

    datasets.disable_progress_bars()
    asked = [name for name in formats.replace(" ", "").split(",") if name]
    with (
        interruptible("Each file is whole or not there; the same command writes all of them."),
        progress_bar() as bar,
    ):
        task = bar.add_task("Figures", total=None)
        number = 0
        for number, path in enumerate(paper.written(paths, out, asked), start=1):
            bar.update(task, completed=number, description=path.name)
    err.print(f"{number} files: {out}", soft_wrap=True)
