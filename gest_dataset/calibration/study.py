"""A whole calibration in one directory: models, runs, what was found.

DIR/models/NAME        a trained model (learning)
DIR/runs/NAME-DATA     a run of the ordinary pipeline, as `gest score` leaves it
DIR/calibration.json   planted and recovered numbers, and the checks
DIR/report.html        the same for people, by the command; its figures are in DIR/figures
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import datasets

from gest_dataset.calibration import checks
from gest_dataset.calibration.checks import Controls, Expectation, Recovery
from gest_dataset.calibration.corpus import (
    WORLDS,
    Gap,
    PlantedSentence,
    World,
    pair_gaps,
    pair_rows,
    template_gaps,
    template_rows,
    world_sentences,
)
from gest_dataset.calibration.keywords import KEYWORD_SETS, Quadruplet, keyword_corpus, quadruplet_rows
from gest_dataset.calibration.learning import Progress, Recipe, train_model
from gest_dataset.files import alone, plain, write_json
from gest_dataset.probes.probe import Options
from gest_dataset.probes.templates import DEFAULTS
from gest_dataset.runs import writing
from gest_dataset.scoring.device import pick_device
from gest_dataset.scoring.loading import Loaded, load_model
from gest_dataset.scoring.request import prepare
from gest_dataset.scoring.scores import Scores, record

MODELS, RUNS, FIGURES, FOUND = "models", "runs", "figures", "calibration.json"


@dataclass(frozen=True)
class Subject:
    """A model to train and the data to measure on it, with what is planted in them.

    `sentences` are the measured ones; `quadruplets` are by the name of their data.
    """

    name: str
    title: str
    recipe: Recipe
    gaps: Sequence[Gap]
    data: Mapping[str, datasets.Dataset]
    sentences: Sequence[PlantedSentence] = ()
    quadruplets: Mapping[str, Sequence[Quadruplet]] = field(default_factory=dict)
    templates: Sequence[int] = ()


@dataclass(frozen=True)
class Size:
    """How large a calibration is: (world, kind) of its models, verbs of a stereotype, templates, recipes."""

    models: Sequence[tuple[str, str]]
    words: int
    templates: Mapping[str, Sequence[int]]
    recipes: Mapping[str, Recipe]
    keywords: Recipe | None


FULL = Size(
    models=(("planted", "masked"), ("planted", "causal"), ("null", "masked"), ("norm", "masked")),
    words=8,
    templates=DEFAULTS,
    recipes={
        "masked": Recipe("masked", epochs=20, rate=3e-3, spread=0.1),
        "causal": Recipe("causal", epochs=20, spread=0.05),
    },
    keywords=Recipe("masked", epochs=120, batch=32, spread=0.05),
)
# For a look, and for tests: one small masked model, and one with nothing planted
QUICK = Size(
    models=(("planted", "masked"), ("null", "masked")),
    words=6,
    templates={"masked": (3,)},
    recipes={"masked": Recipe("masked", width=64, epochs=30, batch=32, rate=3e-3, spread=0.1)},
    keywords=None,
)


def subjects(size: Size, seed: int) -> list[Subject]:
    """All models of a calibration."""
    of_worlds = [_of_world(WORLDS[world], kind, size, seed) for world, kind in size.models]
    return of_worlds if size.keywords is None else [*of_worlds, _of_keywords(size.keywords, seed)]


def _of_world(world: World, kind: str, size: Size, seed: int) -> Subject:
    every = world_sentences(world, size.words, seed)
    learnt = [sentence for sentence in every if not sentence.measured]
    kept = [sentence for sentence in every if sentence.measured]
    templates = size.templates[kind]
    return Subject(
        f"{world.name}-{kind}",
        f"{world.title}, {kind} model",
        size.recipes[kind],
        [*template_gaps(learnt, templates), *pair_gaps(learnt, seed)],
        {"templates": template_rows(kept), "pairs": pair_rows(kept, seed)},
        sentences=kept,
        templates=templates,
    )


def _of_keywords(recipe: Recipe, seed: int) -> Subject:
    gaps: list[Gap] = []
    quadruplets = {}
    for keyword_set in KEYWORD_SETS:
        own, quadruplets[keyword_set.name] = keyword_corpus(keyword_set, seed)
        gaps += own
    data = {name: quadruplet_rows(members, name) for name, members in quadruplets.items()}
    return Subject(
        "keywords-masked", "Control sets, masked model", recipe, gaps, data, quadruplets=quadruplets
    )


@dataclass(frozen=True)
class Calibration:
    """What a calibration has found."""

    seed: int
    recoveries: Sequence[Recovery]
    controls: Sequence[Controls]
    expectations: Sequence[Expectation]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.expectations)


def calibrate(
    folder: Path, size: Size, seed: int, device: str, command: Sequence[str], progress: Progress
) -> Calibration:
    """Train, measure and check; models and runs that are there are not made again."""
    writing.claim_several(folder, {MODELS, RUNS, FIGURES, FOUND})
    recoveries: list[Recovery] = []
    controls: list[Controls] = []
    with alone(folder):
        for subject in subjects(size, seed):
            loaded = _model(folder, subject, seed, device, progress)
            for where, scores in _measured(folder, subject, loaded, command):
                result = scores.result()
                if where in subject.quadruplets:
                    planted = subject.quadruplets[where]
                    controls.append(checks.recovered_controls(where, planted, scores.table, result))
                else:
                    recoveries += checks.recoveries(
                        subject.name, where, subject.sentences, scores.table, result
                    )
        judged = [check for recovery in recoveries for check in checks.of_rates(recovery)]
        judged += [check for measured in controls for check in checks.of_controls(measured)]
        calibration = Calibration(seed, recoveries, controls, judged)
        write_json(folder / FOUND, plain(_told(calibration)))
    return calibration


def _model(folder: Path, subject: Subject, seed: int, device: str, progress: Progress) -> Loaded:
    """A subject's model, trained if it is not there, ready to be asked under its own name."""
    path, told = folder / MODELS / subject.name, partial(progress, subject.title)
    told(0, 1)
    if train_model(path, subject.gaps, subject.recipe, seed, pick_device(device), told):
        for where in subject.data:  # of the model that was there before, if there was one
            shutil.rmtree(_run_folder(folder, subject, where), ignore_errors=True)
    told(1, 1)
    # in float32 anywhere: it is the pipeline that is measured here, not the rounding of half precision
    return replace(load_model(str(path), device, "float32"), name=subject.name)


def _measured(
    folder: Path, subject: Subject, loaded: Loaded, command: Sequence[str]
) -> Iterator[tuple[str, Scores]]:
    """The scores of a subject on each of its data, by the ordinary pipeline."""
    for where, rows in subject.data.items():
        chosen = subject.templates if where == "templates" else None
        request = prepare(rows, None, Options(chosen), None)
        scores, _ = record(loaded, request, _run_folder(folder, subject, where), command)
        yield where, scores


def _run_folder(folder: Path, subject: Subject, where: str) -> Path:
    return folder / RUNS / f"{subject.name}-{where}"


def _told(calibration: Calibration) -> dict[str, Any]:
    """What calibration.json says."""
    return {
        "toy": True,
        "seed": calibration.seed,
        "passed": calibration.passed,
        "checks": [asdict(check) | {"passed": check.passed} for check in calibration.expectations],
        "rates": [
            {
                "model": recovery.subject,
                "where": recovery.where,
                "planted_log_q": list(recovery.planted.values()),
                "log_q": recovery.log_q,
                "planted_g_s": recovery.g_s,
                **{name: recovery.result[name] for name in ("g_s", "g_s_low", "g_s_high", "q_low", "q_high")},
            }
            for recovery in calibration.recoveries
        ],
        "controls": [
            {
                "set": controls.name,
                "planted_f_mu": controls.f,
                **{name: n for name, n in controls.result.items() if name.startswith(("f_mu", "ss_mu"))},
            }
            for controls in calibration.controls
        ],
    }
