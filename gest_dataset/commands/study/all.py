"""`gest study all`: what can be reproduced of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import silence_libraries
from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options
from gest_dataset.errors import ConfigError

EXAMPLES = (
    "Examples: [bold]gest study all --papers[/bold], [bold]gest study all --papers --scores FOLDER[/bold] "
    "(with the authors' score files; default: the folder in GEST_PAPER_SCORES)"
)


def run(
    papers: Annotated[
        bool, typer.Option("--papers", help="List every table and figure of the four papers.")
    ] = False,
    scores: Annotated[
        Path | None, typer.Option(help="Folder of the authors' score files.", metavar="FOLDER")
    ] = None,
    output: options.Output = None,
    as_json: Json = False,
) -> None:
    """List every table and figure of the papers: what can be reproduced, and does it agree?

    Everything that released data allow is computed and compared with the printed digits. The rest is listed
    with the command that makes it, or the reason why it cannot be made.
    """
    if not papers:
        raise ConfigError("Give --papers, the only study of all papers.")
    from gest_dataset.studies import papers_study

    silence_libraries(models=False)
    options.show(papers_study(scores), output or options.HOME / "all", as_json)
