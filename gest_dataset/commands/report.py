"""`gest report`: one HTML page of one or more runs, with the papers' figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import err, interruptible, show_report

EXAMPLES = (
    "Examples: [bold]gest report RUN[/bold] (writes RUN/report.html), "
    "[bold]gest report gest-runs --output all.html --figures figures[/bold] (all runs below a directory)"
)


def run(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Directories of runs, or directories that hold runs.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            help="The page (default: RUN/report.html of one run, ./report.html of several; - is the "
            "standard output)."
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A directory for each figure as PNG, SVG and CSV.", metavar="DIR")
    ] = None,
) -> None:
    """Write one self-contained HTML page about runs, beside the papers' models.

    The page loads nothing: it works from disk, in print and in a mail. Several runs (models, configs,
    languages) are put beside each other.
    """
    import datasets

    from gest_dataset import report
    from gest_dataset.runs.folder import REPORT, find_runs
    from gest_dataset.storage import STANDARD_OUTPUT

    datasets.disable_progress_bars()
    with interruptible("Nothing half-written was left; the same command makes the report anew."):
        runs = find_runs(paths)
        page = output or (runs[0].path if len(runs) == 1 else Path()) / REPORT
        report(runs, page, figures)
    if figures is not None:
        err.print(f"Figures: {figures}", soft_wrap=True)
    if page != STANDARD_OUTPUT:
        show_report(page)
