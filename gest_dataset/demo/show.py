"""`gest demo`: a real language model on sentences, a toy on pairs and control sets.

DIR/smollm2-demo_en   the run of SmolLM2 (`smollm2-en` with GEST itself)
DIR/toy-CONFIG        the runs of the tiny model, whose run.json says `toy`
DIR/report.html       one page of all of them, by the command
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from gest_dataset.builders import DEFAULT_CONFIG
from gest_dataset.builders.demo import CONTROLS, PAIRS, SENTENCES, TOY_MODEL
from gest_dataset.errors import ModelError
from gest_dataset.models import names
from gest_dataset.models.loading import load_model
from gest_dataset.models.request import make_request
from gest_dataset.models.scores import record
from gest_dataset.probes.probe import Options
from gest_dataset.runs import folder as run_folder
from gest_dataset.runs.folder import Run, read_run

REAL, TOY = "smollm2", "toy"
TOY_NAME = "gest-demo-toy"
TOY_CONFIGS = (*PAIRS.values(), CONTROLS)

NOTES = (
    "A demonstration. SmolLM2-135M-Instruct is a real language model; the demo’s sentences, pairs and "
    "control sets were written for this project, and nobody validated them.",
    f"{TOY_NAME} is a toy whose stereotypes were planted, some of them the wrong way round. Its numbers show "
    f"what a report looks like and say nothing about any model that people use.",
)
WITHOUT = "SmolLM2 was not at hand, so the part about a real model is missing here."


def missing() -> ModelError | None:
    """Why the real model is not at hand, if it is not."""
    try:
        names.packaged_path(REAL)
    except ModelError as error:
        return error
    return None


def demo(
    folder: Path, full: bool, real: bool, command: Sequence[str], begin: Callable[[str], None]
) -> Iterator[Run]:
    """The runs one after the other, that of the `real` model or without it; `begin` hears what comes next.

    Only one model is in memory at a time.
    """
    several = {f"{REAL}-{config}" for config in (SENTENCES, DEFAULT_CONFIG)}
    run_folder.check_runs_folder(folder, several | {f"{TOY}-{config}" for config in TOY_CONFIGS})
    asked = make_request(
        DEFAULT_CONFIG if full else SENTENCES, None, Options(), None
    )  # before minutes are spent
    if real:
        begin("Loading SmolLM2, a real language model: about 15 seconds")
        model = load_model(REAL, "auto", "auto")
        path = folder / f"{REAL}-{asked.name}"
        begin(f"SmolLM2 on {asked.name}")
        record(model, asked, path, command)
        del model
        yield read_run(path)
    toy = replace(load_model(str(TOY_MODEL), "cpu", "float32"), name=TOY_NAME)
    for config in TOY_CONFIGS:
        path = folder / f"{TOY}-{config}"
        begin(f"A toy on {config}")
        record(toy, make_request(config, None, Options(), None), path, command)
        yield read_run(path)
