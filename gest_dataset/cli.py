"""The command line: `gest` and the table of its commands. Each command is a file in `commands`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from gest_dataset.commands import faults, interrupts, launched
from gest_dataset.commands.console import err, out, show_error, tell_what_is_logged
from gest_dataset.errors import ConfigError, GestError, LostError
from gest_dataset.version import __version__

# The commands in the order of `gest --help`, and the heading that each stands under
COMMANDS = {
    "list": "Data",
    "build": "Data",
    "sentences": "Data",
    "import-eurogest": "Data",
    "add-language": "Data",
    "score": "Models",
    "ask": "Models",
    "sweep": "Models",
    "lm-eval-tasks": "Models",
    "nsp-train": "Models",
    "demo": "Models",
    "calibrate": "Models",
    "translate": "Translators",
    "detect-gender": "Translators",
    "masculine-rate": "Translators",
    "pairs": "Translators",
    "translate-stereoset": "Translators",
    "compare": "Results",
    "report": "Results",
    "figures": "Results",
    "view": "Results",
    "study": "Results",
    "push": "The Hub",
    "push-results": "The Hub",
}

# All that can be written behind `gest`, filled below: commands, and those of a command that has some
LINES: list[str] = []

app = typer.Typer(
    name="gest",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure gender stereotypes in language models and translators.",
)


def main() -> None:
    """Run the command; an error is a message and an exit code, not a traceback.

    A letter that the standard output's encoding lacks is shown as a question mark.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    tell_what_is_logged()
    with launched.one_speaks():
        try:
            _check_arguments(sys.argv[1:])
            launched.check(sys.argv[1:])
            app()
        except GestError as error:
            if not isinstance(error, LostError) or error.speaks:
                show_error(error)
            sys.exit(error.exit_code)
        except Exception as error:
            sys.exit(faults.report(error))


def _check_arguments(arguments: Sequence[str]) -> None:
    """Bytes that are no UTF-8 come as half surrogate pairs, which no file of ours could say."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise ConfigError(
                f"{argument!a} is not in UTF-8. Rename that file, or write the argument in UTF-8."
            ) from error


def _command(run: Callable[..., None]) -> Callable[..., None]:
    """The function of a command, which an interrupt ends with 130."""

    @functools.wraps(run)
    def command(*args: Any, **kwargs: Any) -> None:
        try:
            with interrupts.raised():
                run(*args, **kwargs)
        except KeyboardInterrupt:
            err.print("Interrupted.")
            raise typer.Exit(interrupts.INTERRUPTED) from None
        except EOFError as error:  # which typer would take for the end of the user's input
            raise RuntimeError(f"a file ended early: {error}") from error

    return command


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


def _add(to: typer.Typer, words: tuple[str, ...], heading: str | None = None) -> None:
    """Put a command into the line: a file with `run`, or a folder of such with a table of them."""
    LINES.append(" ".join(words))
    path = ".".join(word.replace("-", "_") for word in words)
    module = import_module(f"gest_dataset.commands.{path}")
    if not hasattr(module, "COMMANDS"):
        to.command(words[-1], epilog=module.EXAMPLES, rich_help_panel=heading)(_command(module.run))
        return
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    for below in module.COMMANDS:
        _add(group, (*words, below))
    to.add_typer(group, name=words[-1], help=module.HELP, epilog=module.EXAMPLES, rich_help_panel=heading)


for _name, _heading in COMMANDS.items():
    _add(app, (_name,), _heading)
