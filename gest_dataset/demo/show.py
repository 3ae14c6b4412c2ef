"""`gest demo`: a real language model on sentences, a toy on pairs and control sets.

DIR/smollm2-demo_en   the run of SmolLM2 (`smollm2-en` with GEST itself)
DIR/toy-CONFIG        the runs of the tiny model, whose run.json says `toy`
DIR/report.html       one page of all of them, by the command
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gest_dataset.builders import DEFAULT_CONFIG
from gest_dataset.builders.demo import CONTROLS, PAIRS, SENTENCES, TOY_MODEL
from gest_dataset.errors import ModelError
from gest_dataset.probes.probe import Options
from gest_dataset.runs import writing
from gest_dataset.runs.reading import Run, read_run
from gest_dataset.scoring import names
from gest_dataset.scoring.loading import load_model
from gest_dataset.scoring.request import Request, prepare
from gest_dataset.scoring.scores import record

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


class Shown(NamedTuple):
    """What the demo has run, and why the real model is missing, if it is."""

    runs: Sequence[Run]
    missing: ModelError | None


def demo(
    folder: Path,
    full: bool,
    command: Sequence[str],
    begin: Callable[[str], None],
    done: Callable[[Run], None],
) -> Shown:
    """Run everything; `begin` hears what comes next, `done` gets each run that is there."""
    real = {f"{REAL}-{config}" for config in (SENTENCES, DEFAULT_CONFIG)}
    toys = {f"{TOY}-{config}" for config in TOY_CONFIGS}
    writing.claim_several(folder, {*real, *toys})
    asked = prepare(DEFAULT_CONFIG if full else SENTENCES, None, Options(), None)  # before minutes are spent
    missing = _missing()
    runs = []
    for run in _runs(folder, None if missing else asked, command, begin):
        runs.append(run)
        done(run)
    return Shown(runs, missing)


def _missing() -> ModelError | None:
    try:
        names.packaged(REAL)
    except ModelError as error:
        return error
    return None


def _runs(
    folder: Path, asked: Request | None, command: Sequence[str], begin: Callable[[str], None]
) -> Iterator[Run]:
    """The runs one after the other; only one model is in memory at a time."""
    if asked is not None:
        begin("Loading SmolLM2, a real language model: about 15 seconds")
        real = load_model(REAL, "auto", "auto")
        path = folder / f"{REAL}-{asked.name}"
        begin(f"SmolLM2 on {asked.name}")
        record(real, asked, path, command)
        del real
        yield read_run(path)
    toy = replace(load_model(str(TOY_MODEL), "cpu", "float32"), name=TOY_NAME)
    for config in TOY_CONFIGS:
        path = folder / f"{TOY}-{config}"
        begin(f"A toy on {config}")
        record(toy, prepare(config, None, Options(), None), path, command)
        yield read_run(path)
