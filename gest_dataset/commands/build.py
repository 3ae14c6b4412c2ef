"""`gest build`: configs as Parquet files, as text or CSV, or as tasks of lm-evaluation-harness."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from gest_dataset.commands.console import (
    by_reason,
    err,
    new_table,
    one_by_one,
    progress_bar,
    show_failed,
    show_json,
    show_table,
)
from gest_dataset.errors import ConfigError, OutputError, UnreachableError
from gest_dataset.storage import STANDARD_OUTPUT, atomic_path, folder_lock

FORMATS = ("parquet", "txt", "csv", "lm-eval")
# Texts are scored as sums of many ln P: float64 keeps the digits of their differences
_LM_EVAL = "lm_eval run --model hf --model_args pretrained=MODEL,dtype=float32,softmax_dtype=float64"


def run(
    configs: list[str] | None = None,
    config: str | None = None,
    output: Path = STANDARD_OUTPUT,
    format: str = "parquet",
    data: Path | None = None,
    as_json: bool = False,
) -> None:
    """Write configs as Parquet files with a dataset card and Croissant metadata.

    Plain [bold]datasets.load_dataset(DIR, CONFIG)[/bold] reads the folder without this package.
    Upstream files are downloaded once and verified, or read from a mirror (GEST_MIRROR).
    Configs that are already built are skipped. The demo's data (demo_...) are written only if named.
    """
    from gest_dataset.builders import select_configs

    named = ",".join([*(configs or []), *([] if config is None else [config])])
    is_named = bool(configs) or config is not None
    if format not in FORMATS:
        raise ConfigError(f"--format {format}: choose one of {', '.join(FORMATS)}.")
    if format in ("txt", "csv"):
        return _write_sentences(named or "en", format, output)
    if output == STANDARD_OUTPUT:
        raise ConfigError(f"--format {format} needs --output DIR.")
    names = select_configs(named if is_named else "all")
    if format == "lm-eval":
        return _write_tasks(names, output, data, is_named)
    return _write_parquet(list(names), output, as_json)


def _write_parquet(names: Sequence[str], folder: Path, as_json: bool) -> None:
    from gest_dataset.builders import CONFIGS
    from gest_dataset.data.build import build_config, check_build_folder
    from gest_dataset.data.card import write_card
    from gest_dataset.data.croissant import write_croissant
    from gest_dataset.data.folder import config_path
    from gest_dataset.hub.results import write_benchmark

    check_build_folder(folder)
    failed: dict[str, object] = {}
    bar = progress_bar()

    def build(name: str) -> dict[str, Any]:
        bar.update(task, description=name, completed=names.index(name))
        built, new = build_config(CONFIGS[name], folder)
        facts = {"config": name, "path": str(built.path), "rows": built.rows}
        return {**facts, "left_out": built.dropped, "new": new}

    with folder_lock(folder), bar:
        task = bar.add_task("", total=len(names))
        errors = (OutputError, UnreachableError)
        results = [result for _, result in one_by_one(names, build, errors, failed)]
        builds = write_card(folder) if results else []
        if results:
            write_croissant(folder, builds)
            write_benchmark(folder, [built.config for built in builds])
        on_card = {built.config.name for built in builds}
        outdated = [name for name in CONFIGS if config_path(folder, name).exists() and name not in on_card]
    if as_json:
        told = {"folder": str(folder), "configs": results, "not_built": by_reason(failed)}
        show_json({**told, "not_on_card": outdated})
    elif results:
        table = new_table(f"Written to {folder}", "config", "rows", "left out", "")
        for result in results:
            left_out = f"{sum(result['left_out'].values()):,}"
            note = "" if result["new"] else "already built"
            table.add_row(result["config"], f"{result['rows']:,}", left_out, note)
        show_table(table)
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
    lines = "".join(f"{sentence}\n" for sentence in table["sentence"])
    text = table.to_csv(index=False, lineterminator="\n") if format == "csv" else lines
    with atomic_path(output) as partial:
        partial.write_bytes(text.encode())
    if output != STANDARD_OUTPUT:
        err.print(f"{output}: {len(table):,} sentences", soft_wrap=True)


def _write_tasks(names: dict[str, bool], folder: Path, data: Path | None, show_left_out: bool) -> None:
    from gest_dataset.harness.lm_eval_tasks import write_tasks

    tasks, left_out = write_tasks(folder, names, data)
    table = new_table(f"Written to {folder}", "task", "config", "in the group")
    for task in tasks:
        table.add_row(task.name, task.config, task.group)
    show_table(table)
    for reason, configs in by_reason(left_out).items():
        if show_left_out:
            err.print(f"left out: {', '.join(configs)}: {reason}", soft_wrap=True)
    selected = dict.fromkeys(task.group or task.name for task in tasks)
    err.print(f"{_LM_EVAL} --include_path {folder} --tasks {','.join(selected)}", soft_wrap=True)
