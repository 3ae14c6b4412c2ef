"""The options that the studies share, and how their tables are shown."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gest_dataset.commands.console import (
    command_line,
    err,
    fit_table,
    new_table,
    out,
    show_json,
    show_report,
    silence_libraries,
)

if TYPE_CHECKING:
    from gest_dataset.runs import Run
    from gest_dataset.studies import Inputs, Study

HOME = Path("gest-studies")
Runs = Annotated[
    list[Path] | None, typer.Argument(metavar="RUN", help="Finished runs, or folders that contain them.")
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", help="Score this model first: a Hub id, a folder or a .gguf file.", metavar="MODEL"
    ),
]
Output = Annotated[
    Path | None, typer.Option(help="Folder of the study (default: gest-studies/NAME).", metavar="DIR")
]
Scores = Annotated[
    Path | None,
    typer.Option(help="Read the authors' files MODEL_template-N.txt in this folder.", metavar="FOLDER"),
]
Limit = Annotated[int | None, typer.Option(min=1, help="For --model: score only the first N samples.")]
Device = Annotated[str, typer.Option(help="For --model: auto, cuda, cuda:N, mps or cpu.")]
Dtype = Annotated[str, typer.Option(help="For --model: auto, float32, float16 or bfloat16.")]
BatchTokens = Annotated[int | None, typer.Option(min=1, help="For --model: padded tokens per batch.")]


def make_inputs(
    folder: Path,
    runs: list[Path] | None,
    models: list[str] | None,
    limit: int | None,
    device: str,
    dtype: str,
    batch_tokens: int | None,
) -> Inputs:
    """The inputs of a study from the options of its command."""
    from gest_dataset.statistics.checks import UndefinedWarning
    from gest_dataset.studies import Inputs

    silence_libraries(models=bool(models))
    warnings.simplefilter("ignore", UndefinedWarning)  # tables show a dash
    loading = (("device", device), ("dtype", dtype))
    return Inputs(runs or (), models or (), folder, limit, batch_tokens, loading, command_line(), _report_run)


def _report_run(run: Run) -> None:
    err.print(f"{run.path}: {run.manifest.model} on {run.manifest.about}", soft_wrap=True)


def show(study: Study, folder: Path, as_json: bool) -> None:
    """Write a study, and print its tables."""
    page = study.write(folder, command_line())
    if as_json:
        show_json(study.to_json())
    else:
        for table in study.tables:
            headings, rows = table.texts()
            shown = new_table(table.title, out, *headings)
            for row in rows:
                shown.add_row(*row)
            out.print(fit_table(shown, out))
            if table.note:
                out.print(table.note)
        out.print(study.signature, style="dim", soft_wrap=True)
    for note in study.notes:
        err.print(f"Note: {note}", soft_wrap=True)
    show_report(page)
