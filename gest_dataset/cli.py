"""The command line `gest`: a table of commands, each a module in `commands/` with a function `run`."""

import os
import shlex
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from gest_dataset.commands import options
from gest_dataset.commands.console import err, out, setup_logging, show_error
from gest_dataset.display import printable
from gest_dataset.errors import ConfigError, GestError
from gest_dataset.models.distributed import is_main, world_size
from gest_dataset.storage import read_yaml
from gest_dataset.version import __version__

INTERRUPTED = 130
ISSUES = "https://github.com/gest-dataset/gest-dataset/issues"
UNEXPECTED = 70  # EX_SOFTWARE of sysexits.h
DISTRIBUTED = "score"  # the command that several processes of a launcher can share
_GRACE = 30.0  # seconds in which the launcher ends this process if the main one failed too
_COMMANDS = read_yaml(Path(options.__file__).with_name("commands.yaml"))
RENAMED = _COMMANDS["renamed"]  # commands of version 0.1 and what replaces them
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH")

# Every command and subcommand, such as "study validity"; `_add` fills it
LINES: list[str] = []

app = typer.Typer(
    name="gest",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run a command. An error ends it with a message and an exit code instead of a traceback."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # letters that the terminal's encoding lacks become "?"
    setup_logging()
    arguments = sys.argv[1:]
    with only_main_prints():
        try:
            if arguments and arguments[0] in RENAMED:
                raise ConfigError(f"`gest {arguments[0]}` was replaced by {RENAMED[arguments[0]]}.")
            check_launcher(arguments)
            app(prog_name="gest")
        except GestError as error:
            show_error(error)
            sys.exit(error.exit_code)
        except SystemExit as end:
            if end.code == INTERRUPTED:  # by Ctrl-C
                err.print("Interrupted. Finished work is saved; run the same command again to continue.")
            raise
        except Exception as error:
            header = f"gest-dataset {__version__}, Python {sys.version}, {sys.platform}\n"
            text = hide_secrets(f"{header}{shlex.join(sys.argv)}\n{traceback.format_exc()}")
            sys.stderr.write(printable(text))
            show_error(
                f"Unexpected {type(error).__name__} in gest-dataset or a library. Finished work is saved. "
                f"Please report it with the traceback above: {ISSUES}"
            )
            sys.exit(UNEXPECTED)


def check_launcher(arguments: list[str]) -> None:
    """Refuse commands that several processes of a launcher would run at the same time."""
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    if world_size() > 1 and command not in (None, DISTRIBUTED):
        raise ConfigError(
            f"`gest {command}` runs in one process, but the launcher has started {world_size()}: run it "
            f"without the launcher."
        )


@contextmanager
def only_main_prints() -> Iterator[None]:
    """Silence the other processes of a launcher, except for an error that the main process does not have."""
    if is_main():
        yield
        return
    messages = StringIO()
    try:
        with redirect_stdout(StringIO()), redirect_stderr(messages):
            yield
    except SystemExit as end:
        if end.code not in (None, 0, INTERRUPTED):
            time.sleep(_GRACE)
            sys.stderr.write(messages.getvalue())
        raise


def hide_secrets(text: str) -> str:
    """Replace the values of environment variables whose names suggest a secret."""
    for name, value in os.environ.items():
        if len(value) >= 6 and any(part in name.upper() for part in _SECRET_NAMES):
            text = text.replace(value, "***")
    return text


def _show_version(requested: bool) -> None:
    if requested:
        out.print(f"gest-dataset {__version__}")
        raise typer.Exit


@app.callback()
def gest(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, metavar="", help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Measure gender stereotypes in language models and translators."""


def _add(to: typer.Typer, line: str, module: Any, panel: str | None = None) -> None:
    """Add a command, or a group of commands: a package with a table `COMMANDS` of their modules."""
    LINES.append(line)
    name, epilog = line.split()[-1], "\n\n".join(["Examples:", *_COMMANDS["examples"][line].splitlines()])
    paragraphs = (getattr(module, "HELP", None) or _COMMANDS["help"][line]).split("\n\n")
    text = "\n\n".join(" ".join(part.split()) for part in paragraphs)  # the terminal wraps lines
    shown: dict[str, Any] = {"help": text, "epilog": epilog, "rich_help_panel": panel}
    if not hasattr(module, "COMMANDS"):
        to.command(name, **shown)(options.add_help(module.run, line))
        return
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    for subcommand, own in module.COMMANDS.items():
        _add(group, f"{line} {subcommand}", own)
    to.add_typer(group, name=name, **shown)


for _panel, _names in _COMMANDS["panels"].items():
    for _name in _names:
        _add(app, _name, import_module(f"gest_dataset.commands.{_name.replace('-', '_')}"), _panel)
