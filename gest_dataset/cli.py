"""The command line. Heavy imports stay inside the commands, so that `gest --help` is quick."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gest_dataset.errors import ConfigError, DataError, GestError, SourceError, UnreachableError
from gest_dataset.version import __version__

app = typer.Typer(
    name="gest",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure gender stereotypes in language models and translators.",
)
out = Console()
err = Console(stderr=True)


def main() -> None:
    """Run the command; an error of ours is a message and an exit code, not a traceback."""
    try:
        app()
    except ConfigError as error:
        _show_error(error)
        sys.exit(2)
    except GestError as error:
        _show_error(error)
        sys.exit(1)


def _show_error(message: object) -> None:
    err.print(f"error: {message}", style="red", markup=False, highlight=False, soft_wrap=True)


def _show_version(asked: bool) -> None:
    if asked:
        out.print(f"gest-dataset {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """Measure gender stereotypes in language models and translators."""


@app.command("list", epilog="Example: [bold]gest list[/bold]")
def list_configs() -> None:
    """Show every config: rows, languages, licence."""
    from gest_dataset.builders import CONFIGS

    table = Table(title="Configs of gest", caption="load_dataset('gest', CONFIG, split='test')")
    table.add_column("config", no_wrap=True)
    table.add_column("rows", justify="right", overflow="fold")
    table.add_column("languages", overflow="fold")
    table.add_column("licence", overflow="fold")
    previous = None
    for config in CONFIGS.values():
        if previous not in (None, config.family):
            table.add_section()
        previous = config.family
        rows = f"{config.published_rows:,}"
        languages = ", ".join(config.languages)
        licence = config.licence
        table.add_row(config.name, rows if config.exact else f"up to {rows}", languages, licence)
    out.print(table)


@app.command(
    epilog="Examples: [bold]gest build --out gest-data[/bold] (everything), "
    "[bold]gest build en sk_pairs --out gest-data[/bold]"
)
def build(
    out_dir: Annotated[Path, typer.Option("--out", help="The folder to write to.")],
    configs: Annotated[
        list[str] | None, typer.Argument(help="Configs to build; all if none is named.")
    ] = None,
) -> None:
    """Write configs as Parquet files with a dataset card.

    Plain [bold]datasets.load_dataset(DIR, CONFIG)[/bold] then reads them, with no import of this
    package. Upstream files are downloaded once and verified, or read from a mirror (GEST_MIRROR).
    A config that is already there is not built again.
    """
    from gest_dataset import build as building
    from gest_dataset.builders import CONFIGS, get_config

    chosen = [get_config(name) for name in dict.fromkeys(configs or CONFIGS)]
    building.prepare(out_dir)
    table = Table(title=f"Written to {out_dir}")
    table.add_column("config")
    for name in ("rows", "left out", "seconds"):
        table.add_column(name, justify="right")
    failed: dict[str, list[str]] = {}
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )
    try:
        with building.alone(out_dir), bar:
            task = bar.add_task("", total=len(chosen))
            for number, config in enumerate(chosen):
                bar.update(task, description=config.name)
                start = time.perf_counter()
                try:
                    built, new = building.build(config, out_dir)
                except UnreachableError as error:
                    failed.setdefault(str(error), []).extend(rest.name for rest in chosen[number:])
                    break
                except (SourceError, DataError) as error:
                    failed.setdefault(str(error), []).append(config.name)
                else:
                    seconds = f"{time.perf_counter() - start:.2f}" if new else "was there"
                    left_out = f"{sum(built.dropped.values()):,}"
                    table.add_row(config.name, f"{built.rows:,}", left_out, seconds)
                bar.advance(task)
    except KeyboardInterrupt:
        err.print("Interrupted. What is written is whole; the same command goes on from here.")
        raise typer.Exit(130) from None
    finally:
        if table.row_count:
            listed = {built.config.name for built in building.write_card(out_dir)}
            old = [b.config.name for b in building.find_all(out_dir) if b.config.name not in listed]
            out.print(table)
            if old:
                err.print(f"Of another version, so not on the card; build again: {', '.join(old)}")
    for reason, names in failed.items():
        _show_error(f"not built: {', '.join(names)}\n{reason}")
    if failed:
        raise typer.Exit(1)
