"""`gest build`: configs as Parquet files, as text or CSV, or as tasks of lm-evaluation-harness."""

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.progress import Progress

from gest_dataset.commands import console
from gest_dataset.commands.console import err
from gest_dataset.errors import ConfigError, GestError, OutputError, UnreachableError
from gest_dataset.storage import STANDARD_OUTPUT, folder_lock, write_file

FORMATS = ("parquet", "txt", "csv", "lm-eval", "euroeval")
# Texts are scored as sums of many ln P: float64 keeps the digits of their differences
_LM_EVAL = "lm_eval run --model hf --model_args pretrained=MODEL,dtype=float32,softmax_dtype=float64"


def run(
    configs: list[str] | None = None,
    config: str | None = None,
    output: Path = STANDARD_OUTPUT,
    format: str = "parquet",
    data: Path | None = None,
) -> None:
    from gest_dataset.builders import select_configs

    named = ",".join([*(configs or []), *([] if config is None else [config])])
    if format not in FORMATS:
        raise ConfigError(f"Unknown --format {format!r}. Choose from {', '.join(FORMATS)}.")
    if format in ("txt", "csv"):
        return _write_sentences(named or "en", format, output)
    if output == STANDARD_OUTPUT:
        raise ConfigError("Pass the folder to write to: --output DIR.")
    if format == "euroeval":
        from gest_dataset.harness.choices import write_choices

        err.print(f"{output}: {write_choices(output, named or 'en'):,} questions")
        return None
    names = select_configs(named if configs or config is not None else "all")
    if format == "parquet":
        return _write_parquet(list(names), output)

    from gest_dataset.harness.lm_eval import write_tasks

    tasks, left_out = write_tasks(output, names, data)
    console.show_table(f"Written to {output}", ("task", "config", "in the group"), tasks)
    if named:
        console.show_left_out(left_out)
    selected = dict.fromkeys(group or name for name, _, group in tasks)
    err.print(f"{_LM_EVAL} --include_path {output} --tasks {','.join(selected)}")


def _write_parquet(names: Sequence[str], folder: Path) -> None:
    from gest_dataset.builders import CONFIGS
    from gest_dataset.data.build import build_config, check_build_folder
    from gest_dataset.data.card import write_card
    from gest_dataset.data.folder import config_path
    from gest_dataset.hub.results import write_benchmark

    check_build_folder(folder)
    failed: dict[str, GestError] = {}
    ending = (OutputError, UnreachableError)
    with folder_lock(folder), Progress(console=console.err, transient=True) as bar:
        task = bar.add_task("", total=len(names))

        def build(name: str) -> tuple[str, int, int, str]:
            bar.update(task, description=name, completed=names.index(name))
            built, new = build_config(CONFIGS[name], folder)
            return name, built.rows, sum(built.dropped.values()), "" if new else "already built"

        results = [row for _, row in console.one_by_one(names, build, ending, failed)]
        builds = write_card(folder) if results else []
        if results:
            write_benchmark(folder, [built.config for built in builds])
        on_card = {built.config.name for built in builds}
        outdated = [name for name in CONFIGS if config_path(folder, name).exists() and name not in on_card]
    if results:
        columns = ("config", "rows", "left out", "")
        caption = "left out: upstream rows that the rules exclude"
        console.show_table(f"Written to {folder}", columns, results, caption)
    if outdated:
        err.print(f"Outdated or damaged, so not on the card; build again: {', '.join(outdated)}")
    console.show_failed("not built", failed)
    if failed:
        raise typer.Exit(1)


def _write_sentences(name: str, format: str, output: Path) -> None:
    import datasets

    from gest_dataset.translation.sentences import read_sentences

    datasets.disable_progress_bars()
    table = read_sentences(name)
    lines = "".join(f"{sentence}\n" for sentence in table["sentence"])
    write_file(output, table.to_csv(index=False, lineterminator="\n") if format == "csv" else lines)
    if output != STANDARD_OUTPUT:
        err.print(f"{output}: {len(table):,} sentences")
