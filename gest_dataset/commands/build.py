"""`gest build`: configs as Parquet files with a dataset card."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gest_dataset.commands.console import err, interruptible, out, progress_bar, show_error
from gest_dataset.errors import DataError, SourceError, UnreachableError

EXAMPLES = (
    "Examples: [bold]gest build --out gest-data[/bold] (all but the demo's data), "
    "[bold]gest build en sk_pairs --out gest-data[/bold]"
)


def run(
    out_dir: Annotated[Path, typer.Option("--out", help="The folder to write to.")],
    configs: Annotated[
        list[str] | None, typer.Argument(help="Configs to build; if none is named, all but demo_….")
    ] = None,
) -> None:
    """Write configs as Parquet files with a dataset card.

    Plain [bold]datasets.load_dataset(DIR, CONFIG)[/bold] then reads them, with no import of this
    package. Upstream files are downloaded once and verified, or read from a mirror (GEST_MIRROR).
    A config that is already there is not built again. The demo's own data (demo_…) are no test
    set: they are written only where they are named.
    """
    from gest_dataset.builders import CONFIGS, get_config
    from gest_dataset.data import build as building
    from gest_dataset.data.card import write_card
    from gest_dataset.files import alone

    published = [name for name, config in CONFIGS.items() if not config.embedded]
    chosen = [get_config(name) for name in dict.fromkeys(configs or published)]
    building.claim_folder(out_dir)
    table = Table(title=f"Written to {out_dir}")
    table.add_column("config")
    for name in ("rows", "left out", "seconds"):
        table.add_column(name, justify="right")
    failed: dict[str, list[str]] = {}
    bar = progress_bar()
    try:
        told = "What is written is whole; the same command goes on from here."
        with interruptible(told), alone(out_dir), bar:
            task = bar.add_task("", total=len(chosen))
            for number, config in enumerate(chosen):
                bar.update(task, description=config.name)
                start = time.perf_counter()
                try:
                    built, new = building.build_config(config, out_dir)
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
    finally:
        if table.row_count:
            listed = {built.config.name for built in write_card(out_dir)}
            old = [b.config.name for b in building.all_built(out_dir) if b.config.name not in listed]
            out.print(table)
            if old:
                err.print(f"Of another version, so not on the card; build again: {', '.join(old)}")
    for reason, names in failed.items():
        show_error(f"not built: {', '.join(names)}\n{reason}")
    if failed:
        raise typer.Exit(1)
