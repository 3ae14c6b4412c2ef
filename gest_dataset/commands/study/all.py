"""`gest study all`: everything that the papers show, and what of it can be had."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import interruptible
from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options
from gest_dataset.errors import ConfigError

EXAMPLES = (
    "Examples: [bold]gest study all --papers[/bold], [bold]gest study all --papers --scores FOLDER[/bold] "
    "(with the authors' score files, else those that GEST_PAPER_SCORES names)"
)


def run(
    papers: Annotated[
        bool, typer.Option("--papers", help="One page on every table and figure of the four papers.")
    ] = False,
    scores: Annotated[
        Path | None, typer.Option(help="The folder of the authors' score files.", metavar="FOLDER")
    ] = None,
    output: options.Output = None,
    as_json: Json = False,
) -> None:
    """What of every table and figure of the papers can be reproduced, and does it agree?

    Each is reproduced from released data (all numbers that these allow are computed, and compared with the
    print to its last digit), reproducible with models (by which command), or not, and why.
    """
    if not papers:
        raise ConfigError("gest study all makes a page on the papers: give --papers.")
    folder = options.folder_of("all", output)
    with interruptible("Nothing half-written was left; the same command makes the page anew."):
        from gest_dataset.commands.console import quiet
        from gest_dataset.studies.papers import papers as study

        quiet(models=False)
        options.show(study(scores), folder, as_json)
