"""What the studies of models have in common: their options, and what is shown of an outcome."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands.console import called, err, fitted, new_table, out, show_json, show_report

if TYPE_CHECKING:
    from gest_dataset.runs import Run
    from gest_dataset.studies.asking import Asked
    from gest_dataset.studies.study import Study, Table

HOME = Path("gest-studies")
Runs = Annotated[
    list[Path] | None,
    typer.Argument(metavar="RUN", help="Folders of runs that are finished, or folders that hold such."),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", help="A model to score first: a Hub id, a folder or a .gguf file.", metavar="MODEL"
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(help="The folder of the study (default: in gest-studies).", metavar="DIR"),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Of --model: only the first so many samples.")]
Device = Annotated[str, typer.Option(help="Of --model: auto, cuda, cuda:N, mps or cpu.")]
Dtype = Annotated[str, typer.Option(help="Of --model: auto, float32, float16 or bfloat16.")]
BatchTokens = Annotated[int | None, typer.Option(min=1, help="Of --model: padded tokens in a batch.")]
KEPT = "What is scored is kept in {folder}; the same command goes on from there."


def folder_of(name: str, output: Path | None) -> Path:
    """Where a study is kept."""
    return output or HOME / name


def asked(
    folder: Path,
    runs: list[Path] | None,
    models: list[str] | None,
    limit: int | None,
    device: str,
    dtype: str,
    batch_tokens: int | None,
) -> Asked:
    """What the options of a command ask for."""
    from gest_dataset.commands.console import quiet
    from gest_dataset.statistics.checks import UndefinedWarning
    from gest_dataset.studies.asking import Asked

    quiet(models=bool(models))
    warnings.simplefilter("ignore", UndefinedWarning)  # a dash in a table says it
    loading = (("device", device), ("dtype", dtype))
    return Asked(runs or (), models or (), folder, limit, batch_tokens, loading, called(), _tell)


def _tell(run: Run) -> None:
    err.print(f"{run.path}: {run.manifest.about} of {run.manifest.subject} is there", soft_wrap=True)


def show(study: Study, folder: Path, as_json: bool) -> None:
    """Keep a study, and show its tables and what it says."""
    from gest_dataset.studies.study import keep

    page = keep(study, folder, called())
    if as_json:
        show_json(_as_json(study))
    else:
        for table in study.tables:
            out.print(_drawn(table))
            if table.note:
                out.print(table.note)
        for sentence in study.sentences:
            out.print(sentence)
        out.print(study.signature, style="dim", soft_wrap=True)
    for note in study.notes:
        err.print(f"Note: {note}", soft_wrap=True)
    show_report(page)


def _drawn(table: Table) -> Any:
    headings, rows = table.texts()
    drawn = new_table(table.title, out, *headings)
    for row in rows:
        drawn.add_row(*row)
    return fitted(drawn, out)


def _as_json(study: Study) -> Any:
    from dataclasses import asdict

    from gest_dataset.storage import json_value

    return json_value(
        {
            "name": study.name,
            "title": study.title,
            "tables": [asdict(table) | {"rows": table.rows} for table in study.tables],
            "sentences": study.sentences,
            "notes": study.notes,
            "sources": dict(study.sources),
            "signature": study.signature,
        }
    )
