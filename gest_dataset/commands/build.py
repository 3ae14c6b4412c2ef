"""`gest build`: configs as Parquet files, as text or CSV, or as tasks of lm-evaluation-harness."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gest_dataset.commands.console import err, fit_table, new_table, out, progress_bar, show_json
from gest_dataset.commands.options import Config, Json, complete_configs
from gest_dataset.commands.several import by_reason, one_by_one, show_failed
from gest_dataset.errors import ConfigError, OutputError, UnreachableError
from gest_dataset.storage import STANDARD_OUTPUT, atomic_path, folder_lock

FORMATS = ("parquet", "txt", "csv", "lm-eval")
# Texts are scored as sums of many ln P: float64 keeps the digits of their differences
_LM_EVAL = "lm_eval run --model hf --model_args pretrained=MODEL,dtype=float32,softmax_dtype=float64"
EXAMPLES = (
    "Examples: [bold]gest build --output gest-data[/bold] (all configs except the demo's), "
    "[bold]gest build --config en,slavic --output gest-data[/bold], "
    "[bold]gest build --format txt --output en.txt[/bold] (English sentences for an external translator), "
    "[bold]gest build --format lm-eval --config slavic --output tasks[/bold]"
)


def run(
    configs: Annotated[
        list[str] | None,
        typer.Argument(help="Same as --config, separated by spaces.", autocompletion=complete_configs),
    ] = None,
    config: Config = None,
    output: Annotated[
        Path, typer.Option("--output", "--out", help="The folder to write to; for txt and csv a file.")
    ] = STANDARD_OUTPUT,
    format: Annotated[
        str,
        typer.Option(
            help="parquet; txt or csv: the English sentences; lm-eval: tasks of lm-evaluation-harness.",
            autocompletion=lambda: list(FORMATS),
            metavar="|".join(FORMATS),
        ),
    ] = "parquet",
    data: Annotated[
        Path | None,
        typer.Option(help="For lm-eval: read the rows from this folder of gest build.", metavar="DIR"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write configs as Parquet files with a dataset card and Croissant metadata.

    Plain [bold]datasets.load_dataset(DIR, CONFIG)[/bold] reads the folder without this package.
    Upstream files are downloaded once and verified, or read from a mirror (GEST_MIRROR).
    Configs that are already built are skipped. The demo's data (demo_...) are written only if named.
    """
    from gest_dataset.builders import select_configs

    names = ",".join([*(configs or []), *([] if config is None else [config])])
    is_named = bool(configs) or config is not None
    if format not in FORMATS:
        raise ConfigError(f"--format {format}: choose one of {', '.join(FORMATS)}.")
    if format in ("txt", "csv"):
        _write_sentences(names or "en", format, output)
    elif output == STANDARD_OUTPUT:
        raise ConfigError(f"--format {format} needs --output DIR.")
    elif format == "lm-eval":
        _write_tasks(select_configs(names if is_named else "all"), output, data, is_named)
    else:
        _write_parquet(list(select_configs(names if is_named else "all")), output, as_json)


def _write_parquet(names: Sequence[str], folder: Path, as_json: bool) -> None:
    from gest_dataset.builders import CONFIGS
    from gest_dataset.data.build import build_config, check_build_folder
    from gest_dataset.data.card import write_card
    from gest_dataset.data.croissant import write_croissant
    from gest_dataset.data.folder import config_path
    from gest_dataset.hub.benchmark import write_benchmark

    check_build_folder(folder)
    results: list[dict[str, Any]] = []
    failed: dict[str, object] = {}
    outdated: list[str] = []
    bar = progress_bar()

    def build(name: str) -> dict[str, Any]:
        bar.update(task, description=name, completed=names.index(name))
        start = time.perf_counter()
        built, new = build_config(CONFIGS[name], folder)
        seconds = time.perf_counter() - start
        return {
            "config": name,
            "path": str(built.path),
            "rows": built.rows,
            "left_out": built.dropped,
            "new": new,
            "seconds": seconds,
        }

    with folder_lock(folder), bar:
        task = bar.add_task("", total=len(names))
        for _, result in one_by_one(names, build, (OutputError, UnreachableError), failed):
            results.append(result)
        if results:
            builds = write_card(folder)
            write_croissant(folder, builds)
            write_benchmark(folder, [built.config for built in builds])
            on_card = {built.config.name for built in builds}
            outdated = [
                name for name in CONFIGS if config_path(folder, name).exists() and name not in on_card
            ]
    if as_json and (results or failed):
        not_built = by_reason(failed)
        show_json(
            {"folder": str(folder), "configs": results, "not_built": not_built, "not_on_card": outdated}
        )
    elif results:
        table = new_table(f"Written to {folder}", out, "config", "rows", "left out", "seconds")
        for result in results:
            seconds = f"{result['seconds']:.2f}" if result["new"] else "already built"
            left_out = sum(result["left_out"].values())
            table.add_row(result["config"], f"{result['rows']:,}", f"{left_out:,}", seconds)
        out.print(fit_table(table, out))
    if outdated:
        err.print(f"Outdated or damaged, so not on the card; build again: {', '.join(outdated)}")
    show_failed("not built", failed)
    if failed:
        raise typer.Exit(1)


def _write_sentences(name: str, format: str, output: Path) -> None:
    import datasets

    from gest_dataset.builders import CONFIGS, get_config
    from gest_dataset.data.rows import rows_of

    if "sentence" not in get_config(name).features:
        offered = ", ".join(config.name for config in CONFIGS.values() if "sentence" in config.features)
        raise ConfigError(f"The config {name!r} has no English sentences. Use one of {offered}.")
    datasets.disable_progress_bars()
    table = rows_of(name).to_pandas()[["id", "sentence", "stereotype"]]
    if format == "csv":
        text = table.to_csv(index=False, lineterminator="\n")
    else:
        text = "".join(f"{sentence}\n" for sentence in table["sentence"])
    with atomic_path(output) as partial:
        partial.write_bytes(text.encode())
    if output != STANDARD_OUTPUT:
        err.print(f"{output}: {len(table):,} sentences", soft_wrap=True)


def _write_tasks(names: dict[str, bool], folder: Path, data: Path | None, show_left_out: bool) -> None:
    from gest_dataset.harness.lm_eval_tasks import write_tasks

    tasks, left_out = write_tasks(folder, names, data)
    table = new_table(f"Written to {folder}", out, "task", "config", "in the group")
    for task in tasks:
        table.add_row(task.name, task.config, task.group)
    out.print(fit_table(table, out))
    if show_left_out:
        for reason, configs in by_reason(left_out).items():
            err.print(f"left out: {', '.join(configs)}: {reason}", soft_wrap=True)
    selected = dict.fromkeys(task.group or task.name for task in tasks)
    err.print(f"{_LM_EVAL} --include_path {folder} --tasks {','.join(selected)}", soft_wrap=True)
