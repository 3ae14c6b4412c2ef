"""A whole calibration in one directory: models, runs, what was found.

DIR/models/NAME        a trained model (learning)
DIR/runs/NAME-DATA     a run of the ordinary pipeline, as `gest score` leaves it
DIR/calibration.json   planted and recovered numbers, and the checks
DIR/faults.json        faults planted into the instrument, and which check caught them (faults)
DIR/report.html        the same for people, by the command; its figures are in DIR/figures
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from gest_dataset.calibration import checks, naive
from gest_dataset.calibration.checks import Controls, Expectation, Recovery
from gest_dataset.calibration.learning import Progress, train_model
from gest_dataset.calibration.subjects import Data, Size, Subject, subjects
from gest_dataset.models.device import pick_device
from gest_dataset.models.loading import Loaded, load_model
from gest_dataset.models.request import Request, prepare
from gest_dataset.models.scores import Scores, record
from gest_dataset.probes.probe import Options
from gest_dataset.runs import writing
from gest_dataset.storage import folder_lock, json_value, write_json

MODELS, RUNS, FIGURES = "models", "runs", "figures"
FOUND, FAULTS_FOUND = "calibration.json", "faults.json"


@dataclass(frozen=True)
class Ready:
    """A subject with its trained model, and by data what a naive reading of the model gives."""

    subject: Subject
    loaded: Loaded
    read: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Calibration:
    """What a calibration has found."""

    seed: int
    ready: Sequence[Ready]
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
    writing.claim_several(folder, {MODELS, RUNS, FIGURES, FOUND, FAULTS_FOUND})
    every: list[Ready] = []
    recoveries: list[Recovery] = []
    controls: list[Controls] = []
    with folder_lock(folder):
        for subject in subjects(size, seed):
            ready = _ready(folder, subject, seed, device, progress)
            every.append(ready)
            for where in subject.data:
                path = _run_folder(folder, subject, where)
                scores, _ = record(ready.loaded, request_of(ready, where), path, command)
                measured = recovered(ready, where, scores)
                if isinstance(measured, Controls):
                    controls.append(measured)
                else:
                    recoveries += measured
        judged = [check for recovery in recoveries for check in checks.of_rates(recovery)]
        judged += [check for measured in controls for check in checks.of_controls(measured)]
        calibration = Calibration(seed, every, recoveries, controls, judged)
        write_json(folder / FOUND, json_value(_told(calibration)))
    return calibration


def _ready(folder: Path, subject: Subject, seed: int, device: str, progress: Progress) -> Ready:
    """A subject's model, trained if it is not there, to be asked under its own name."""
    path, told = folder / MODELS / subject.name, partial(progress, subject.title)
    told(0, 1)
    if train_model(path, subject.gaps, subject.recipe, seed, pick_device(device), told):
        for where in subject.data:  # of the model that was there before, if there was one
            shutil.rmtree(_run_folder(folder, subject, where), ignore_errors=True)
    # in float32 anywhere: it is the pipeline that is measured here, not the rounding of half precision
    loaded = replace(load_model(str(path), device, "float32"), name=subject.name)
    read = {where: _read(loaded, data) for where, data in subject.data.items()}
    told(1, 1)
    return Ready(subject, loaded, read)


def _read(loaded: Loaded, data: Data) -> list[float]:
    return naive.read(loaded.model, loaded.tokenizer, loaded.kind, data.questions)


def request_of(ready: Ready, where: str) -> Request:
    """What the ordinary pipeline is asked to do with some data of a subject."""
    data = ready.subject.data[where]
    return prepare(data.rows, None, Options(data.templates), None)


def recovered(ready: Ready, where: str, scores: Scores) -> Controls | list[Recovery]:
    """What the scores of some data of a subject say, beside what is known of it."""
    data, read, result = ready.subject.data[where], ready.read[where], scores.result()
    if data.quadruplets:
        return checks.recovered_controls(where, data.quadruplets, read, scores.table, result)
    name, limits = ready.subject.name, ready.subject.limits
    return checks.recoveries(name, where, data.questions, read, scores.table, result, limits)


def expectations(measured: Controls | list[Recovery]) -> Iterator[Expectation]:
    """All checks of what was found on some data."""
    if isinstance(measured, Controls):
        yield from checks.of_controls(measured)
    else:
        for recovery in measured:
            yield from checks.of_rates(recovery)


def _run_folder(folder: Path, subject: Subject, where: str) -> Path:
    return folder / RUNS / f"{subject.name}-{where}"


def told_check(check: Expectation) -> dict[str, Any]:
    """A check as the JSON files have it."""
    return asdict(check) | {"passed": check.passed}


def _told(calibration: Calibration) -> dict[str, Any]:
    """What calibration.json says."""
    return {
        "toy": True,
        "seed": calibration.seed,
        "passed": calibration.passed,
        "checks": [told_check(check) for check in calibration.expectations],
        "rates": [
            {
                "model": recovery.subject,
                "where": recovery.where,
                "planted_log_q": list(recovery.planted.values()),
                "naive_log_q": list(naive.means(recovery.questions, recovery.naive).values()),
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
