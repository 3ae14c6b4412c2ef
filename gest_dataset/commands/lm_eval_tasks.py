"""`gest lm-eval-tasks`: configs as tasks of lm-evaluation-harness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import err, fitted, new_table, out
from gest_dataset.commands.options import Config
from gest_dataset.commands.several import by_reason

# Whole texts are sums of many ln P: in float64 their differences keep the digits
_RUN = "lm_eval run --model hf --model_args pretrained=MODEL,dtype=float32,softmax_dtype=float64"
EXAMPLES = (
    "Examples: [bold]gest lm-eval-tasks tasks[/bold] (all configs that have a task), "
    "[bold]gest lm-eval-tasks tasks --config en,slavic[/bold], "
    "[bold]gest lm-eval-tasks tasks --config sk_pairs --data gest-data[/bold] (rows of a folder of gest "
    f"build). Then: [bold]{_RUN} --include_path tasks --tasks gest_sk_pairs[/bold]"
)


def run(
    folder: Annotated[
        Path, typer.Argument(help="The folder to write to.", metavar="DIR", show_default=False)
    ],
    config: Config = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder of gest build to read rows from (default: load_dataset('gest', ...)).",
            metavar="DIR",
        ),
    ] = None,
) -> None:
    """Write configs as tasks of lm-evaluation-harness.

    The tasks give causal models the scores of [bold]gest score[/bold], and g_s with its interval; they need
    this package beside [bold]lm_eval[/bold]. What an earlier call has written to the folder is replaced.
    """
    from gest_dataset.builders import select_configs
    from gest_dataset.harness import task_folder

    tasks, left_out = task_folder.choose(select_configs(config or "all"), data)
    groups = task_folder.write(folder, tasks, data)
    table = new_table(f"Written to {folder}", out, "task", "config", "in the group")
    group_of = {member: group for group, members in groups.items() for member in members}
    for task in tasks:
        table.add_row(task.name, task.config, group_of.get(task.name, ""))
    out.print(fitted(table, out))
    if config is not None:
        for reason, left in by_reason(left_out).items():
            err.print(f"left out: {', '.join(left)}: {reason}", soft_wrap=True)
    asked = dict.fromkeys(group_of.get(task.name, task.name) for task in tasks)
    err.print(f"{_RUN} --include_path {folder} --tasks {','.join(asked)}", soft_wrap=True)
