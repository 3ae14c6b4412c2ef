"""The command line: `gest` and the table of its commands. Each command is a file in `commands`."""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated

import typer

from gest_dataset.commands.console import out, show_error, tell_what_is_logged
from gest_dataset.errors import GestError
from gest_dataset.version import __version__

# The commands in the order of `gest --help`, and the heading that each stands under
COMMANDS = {
    "list": "Data",
    "build": "Data",
    "sentences": "Data",
    "score": "Models",
    "demo": "Models",
    "calibrate": "Models",
    "translate": "Translators",
    "detect-gender": "Translators",
    "masculine-rate": "Translators",
    "pairs": "Translators",
    "compare": "Results",
    "report": "Results",
}

app = typer.Typer(
    name="gest",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure gender stereotypes in language models and translators.",
)


def main() -> None:
    """Run the command; an error of ours is a message and an exit code, not a traceback.

    A letter that the standard output's encoding lacks is shown as a question mark.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    tell_what_is_logged()
    try:
        app()
    except GestError as error:
        show_error(error)
        sys.exit(error.exit_code)


def _show_version(asked: bool) -> None:
    if asked:
        out.print(f"gest-dataset {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """Measure gender stereotypes in language models and translators."""


for _name, _heading in COMMANDS.items():
    _command = import_module(f"gest_dataset.commands.{_name.replace('-', '_')}")
    app.command(_name, epilog=_command.EXAMPLES, rich_help_panel=_heading)(_command.run)
