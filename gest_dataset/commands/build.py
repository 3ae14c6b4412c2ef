"""`gest build`: configs as Parquet files with a dataset card, Croissant metadata and the Hub's tasks."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from gest_dataset.commands.console import err, fitted, interruptible, new_table, out, progress_bar, show_json
from gest_dataset.commands.options import Config, Json, complete_configs
from gest_dataset.commands.several import by_reason, one_by_one, show_failed
from gest_dataset.errors import OutputError, UnreachableError

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

    Beside it are Croissant metadata (croissant.json) and the tasks that results on the Hub name (eval.yaml).
    Plain [bold]datasets.load_dataset(DIR, CONFIG)[/bold] then reads them, with no import of this
    package. Upstream files are downloaded once and verified, or read from a mirror (GEST_MIRROR).
    A config that is already there is not built again. The demo's own data (demo_…) are no test
    set: they are written only where they or their group are named.
    """
    from gest_dataset.builders import CONFIGS
    from gest_dataset.data import build as building
    from gest_dataset.data.card import write_card
    from gest_dataset.data.croissant import write_croissant
    from gest_dataset.data.selection import names
    from gest_dataset.hub.benchmark import write_benchmark
    from gest_dataset.storage import folder_lock

    asked = [*(configs or []), *([] if config is None else [config])]
    chosen = list(names(",".join(asked) if asked else "all"))
    building.claim_folder(out_dir)
    done: list[dict[str, Any]] = []
    failed: dict[str, object] = {}
    bar = progress_bar()

    def build(name: str) -> dict[str, Any]:
        bar.update(task, description=name, completed=chosen.index(name))
        start = time.perf_counter()
        built, new = building.build_config(CONFIGS[name], out_dir)
        facts = {"config": name, "path": str(built.path), "rows": built.rows, "left_out": built.dropped}
        return {**facts, "new": new, "seconds": time.perf_counter() - start}

    try:
        told = "What is written is whole; the same command goes on from here."
        with interruptible(told), folder_lock(out_dir), bar:
            task = bar.add_task("", total=len(chosen))
            for _, facts in one_by_one(chosen, build, (OutputError, UnreachableError), failed):
                done.append(facts)
    finally:
        old: list[str] = []
        if done:
            builds = write_card(out_dir)
            write_croissant(out_dir, builds)
            write_benchmark(out_dir, [built.config for built in builds])
            listed = {built.config.name for built in builds}
            old = [name for name in building.present(out_dir) if name not in listed]
        if as_json and (done or failed):
            left = by_reason(failed)
            show_json({"folder": str(out_dir), "configs": done, "not_built": left, "not_on_card": old})
        elif done:
            table = new_table(f"Written to {out_dir}", out, "config", "rows", "left out", "seconds")
            for facts in done:
                seconds = f"{facts['seconds']:.2f}" if facts["new"] else "was there"
                left_out = sum(facts["left_out"].values())
                table.add_row(facts["config"], f"{facts['rows']:,}", f"{left_out:,}", seconds)
            out.print(fitted(table, out))
        if old:
            err.print(f"Of another version or damaged, so not on the card; build again: {', '.join(old)}")
    show_failed("not built", failed)
    if failed:
        raise typer.Exit(1)
