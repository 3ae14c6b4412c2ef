"""`gest build`: configs as Parquet files with a dataset card."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from gest_dataset.commands.console import err, interruptible, out, progress_bar, show_error, show_json
from gest_dataset.commands.options import Config, Json, complete_configs
from gest_dataset.errors import DataError, SourceError, UnreachableError

EXAMPLES = (
    "Examples: [bold]gest build --output gest-data[/bold] (all but the demo's data), "
    "[bold]gest build --config en,slavic --output gest-data[/bold]"
)


def run(
    out_dir: Annotated[Path, typer.Option("--output", "--out", help="The folder to write to.")],
    configs: Annotated[
        list[str] | None,
        typer.Argument(help="The same as --config, with blanks.", autocompletion=complete_configs),
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Write configs as Parquet files with a dataset card.

    Plain [bold]datasets.load_dataset(DIR, CONFIG)[/bold] then reads them, with no import of this
    package. Upstream files are downloaded once and verified, or read from a mirror (GEST_MIRROR).
    A config that is already there is not built again. The demo's own data (demo_…) are no test
    set: they are written only where they or their group are named.
    """
    from gest_dataset.builders import CONFIGS
    from gest_dataset.data import build as building
    from gest_dataset.data.card import write_card
    from gest_dataset.data.selection import names
    from gest_dataset.files import alone

    asked = [*(configs or []), *([] if config is None else [config])]
    chosen = [CONFIGS[name] for name in names(",".join(asked) if asked else "all")]
    building.claim_folder(out_dir)
    done: list[dict[str, Any]] = []
    failed: dict[str, list[str]] = {}
    bar = progress_bar()
    try:
        told = "What is written is whole; the same command goes on from here."
        with interruptible(told), alone(out_dir), bar:
            task = bar.add_task("", total=len(chosen))
            for number, wanted in enumerate(chosen):
                bar.update(task, description=wanted.name)
                start = time.perf_counter()
                try:
                    built, new = building.build_config(wanted, out_dir)
                except UnreachableError as error:
                    failed.setdefault(str(error), []).extend(rest.name for rest in chosen[number:])
                    break
                except (SourceError, DataError) as error:
                    failed.setdefault(str(error), []).append(wanted.name)
                else:
                    facts = {"config": wanted.name, "path": str(built.path), "rows": built.rows}
                    seconds = time.perf_counter() - start
                    done.append({**facts, "left_out": built.dropped, "new": new, "seconds": seconds})
                bar.advance(task)
    finally:
        old: list[str] = []
        if done:
            listed = {built.config.name for built in write_card(out_dir)}
            old = [name for name in building.present(out_dir) if name not in listed]
        if as_json and (done or failed):
            show_json({"folder": str(out_dir), "configs": done, "not_built": failed, "not_on_card": old})
        elif done:
            out.print(_table(out_dir, done))
        if old:
            err.print(f"Of another version or damaged, so not on the card; build again: {', '.join(old)}")
    for reason, unbuilt in failed.items():
        show_error(f"not built: {', '.join(unbuilt)}\n{reason}")
    if failed:
        raise typer.Exit(1)


def _table(out_dir: Path, done: Sequence[dict[str, Any]]) -> Table:
    table = Table(title=f"Written to {out_dir}")
    table.add_column("config")
    for name in ("rows", "left out", "seconds"):
        table.add_column(name, justify="right")
    for facts in done:
        seconds = f"{facts['seconds']:.2f}" if facts["new"] else "was there"
        left_out = sum(facts["left_out"].values())
        table.add_row(facts["config"], f"{facts['rows']:,}", f"{left_out:,}", seconds)
    return table
