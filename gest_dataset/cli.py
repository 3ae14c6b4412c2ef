"""The command line `gest`: a table of commands, each a module in `commands/` with `run` and `EXAMPLES`."""

from __future__ import annotations

import functools
import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Callable
from importlib import import_module, util
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from gest_dataset.commands import launched
from gest_dataset.commands.console import err, out, setup_logging, show_error
from gest_dataset.errors import ConfigError, GestError
from gest_dataset.version import __version__

# The commands in the order of `gest --help`, with the panel of each
COMMANDS = {
    "list": "Data",
    "build": "Data",
    "add-language": "Data",
    "score": "Models",
    "ask": "Models",
    "sweep": "Models",
    "demo": "Models",
    "translate": "Translators",
    "detect-gender": "Translators",
    "masculine-rate": "Translators",
    "pairs": "Translators",
    "compare": "Results",
    "report": "Results",
    "study": "Results",
    "push": "The Hub",
    "push-results": "The Hub",
}
# Commands of version 0.1 and what replaces them
RENAMED = {
    "calibrate": "`make validate` in the repository",
    "figures": "`gest report --figures DIR`",
    "import-eurogest": "`gest add-language --eurogest`",
    "lm-eval-tasks": "`gest build --format lm-eval`",
    "nsp-train": "`gest study nsp`",
    "sentences": "`gest build --format txt` or `--format csv`",
    "translate-stereoset": "`gest study translate-stereoset`",
    "view": "`gest report --serve`",
}
INTERRUPTED = 130
UNEXPECTED = 70  # EX_SOFTWARE of sysexits.h
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH")

# Every command and subcommand, such as "study validity"; `_add` fills it
LINES: list[str] = []

app = typer.Typer(
    name="gest",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure gender stereotypes in language models and translators.",
)


def main() -> None:
    """Run a command. An error ends it with a message and an exit code instead of a traceback."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # letters that the terminal's encoding lacks become "?"
    setup_logging()
    with launched.only_main_prints():
        try:
            _check_arguments(sys.argv[1:])
            launched.check(sys.argv[1:])
            app()
        except GestError as error:
            show_error(error)
            sys.exit(error.exit_code)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except Exception as error:
            sys.exit(_report_unexpected(error))


def _check_arguments(arguments: list[str]) -> None:
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise ConfigError(f"{argument!a} is not valid UTF-8. Rename the file or retype it.") from error
    if arguments and arguments[0] in RENAMED and arguments[0] not in COMMANDS:
        raise ConfigError(f"`gest {arguments[0]}` was replaced by {RENAMED[arguments[0]]}.")


def _report_unexpected(error: Exception) -> int:
    """Write the traceback to a file, name the file in a message, and return the exit code."""
    header = f"gest-dataset {__version__}, Python {sys.version}, {sys.platform}\n{shlex.join(sys.argv)}\n\n"
    text = hide_secrets(header + "".join(traceback.format_exception(error)))
    try:
        handle, where = tempfile.mkstemp(prefix="gest-error-", suffix=".txt")
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode(errors="backslashreplace"))
    except OSError:  # such as a full disk, which may be the cause
        sys.stderr.write(text)
        where = "the traceback above"
    show_error(
        f"Unexpected {type(error).__name__} in gest-dataset or a library. Finished work is saved. "
        f"Please report it with {where}."
    )
    return UNEXPECTED


def hide_secrets(text: str) -> str:
    """Replace the values of environment variables whose names suggest a secret."""
    for name, value in os.environ.items():
        if len(value) >= 6 and any(part in name.upper() for part in _SECRET_NAMES):
            text = text.replace(value, "***")
    return text


def _command(run: Callable[..., None]) -> Callable[..., None]:
    """The function of a command, with Ctrl-C as exit code 130."""

    @functools.wraps(run)
    def command(*args: Any, **kwargs: Any) -> None:
        try:
            run(*args, **kwargs)
        except KeyboardInterrupt:
            err.print("Interrupted. Finished work is saved; run the same command again to continue.")
            raise typer.Exit(INTERRUPTED) from None
        except EOFError as error:  # typer would take it for the end of the user's input
            raise RuntimeError(f"unexpected end of a file: {error}") from error

    return command


def _show_version(requested: bool) -> None:
    if requested:
        out.print(f"gest-dataset {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Measure gender stereotypes in language models and translators."""


def _add(to: typer.Typer, words: tuple[str, ...], panel: str | None = None) -> None:
    """Add a command, or a group of commands: a package with a table `COMMANDS`."""
    LINES.append(" ".join(words))
    path = ".".join(word.replace("-", "_") for word in words)
    module = import_module(f"gest_dataset.commands.{path}")
    if not hasattr(module, "COMMANDS"):
        to.command(words[-1], epilog=module.EXAMPLES, rich_help_panel=panel)(_command(module.run))
        return
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    for name in module.COMMANDS:
        _add(group, (*words, name))
    to.add_typer(group, name=words[-1], help=module.HELP, epilog=module.EXAMPLES, rich_help_panel=panel)


COMMANDS |= {
    name: "Old" for name in RENAMED if util.find_spec(f"gest_dataset.commands.{name.replace('-', '_')}")
}
for _name, _panel in COMMANDS.items():
    _add(app, (_name,), _panel)
