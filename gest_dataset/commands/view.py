"""`gest view`: the report of runs in the browser, live while they go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import err, interruptible, out

EXAMPLES = (
    "Examples: [bold]gest view RUN[/bold], [bold]gest view gest-runs[/bold] (all runs below a directory, as "
    "soon as they begin), [bold]gest view gest-runs --no-browser[/bold] (prints the address alone)"
)


def run(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Directories of runs, or directories that hold runs.")
    ],
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, or print its address alone.")
    ] = True,
) -> None:
    """Show the report of runs in the browser, and how far those are that are not finished.

    The page loads itself again when another run has finished. It is on this machine alone (127.0.0.1, a
    random port and path) and shows the report, no files. Ctrl-C ends it.
    """
    import webbrowser

    import datasets

    from gest_dataset.report import live, serving

    datasets.disable_progress_bars()
    live.check(paths)
    made, address = serving.server(paths)
    with made, interruptible("The page is no longer live."):
        out.print(address, soft_wrap=True)
        if browser and not webbrowser.open(address):
            err.print("No browser could be opened: open the address yourself.")
        made.serve_forever()
