"""A whole calibration in one directory: models, runs, what was found.

DIR/models/NAME        a trained model (making)
DIR/runs/NAME-DATA     a run of the ordinary pipeline, as `gest score` leaves it
DIR/calibration.json   planted and recovered numbers, and the checks
DIR/report.html        the same for people; its figures are in DIR/figures
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from gest_dataset.calibration import checks
from gest_dataset.calibration.checks import Controls, Expectation, Recovery
from gest_dataset.calibration.learning import steps
from gest_dataset.calibration.making import train_model
from gest_dataset.calibration.panels import panels
from gest_dataset.calibration.subjects import Size, Subject, subjects
from gest_dataset.files import alone, plain, write_json
from gest_dataset.probes.probe import Options
from gest_dataset.report.writing import write
from gest_dataset.runs import writing
from gest_dataset.runs.reading import REPORT
from gest_dataset.scoring.device import pick_device
from gest_dataset.scoring.loading import Loaded, load_model
from gest_dataset.scoring.request import prepare
from gest_dataset.scoring.scores import Scores, record

MODELS, RUNS, FIGURES, FOUND = "models", "runs", "figures", "calibration.json"
_TOY = (
    "Everything here is about toys: small models that were trained on made-up sentences, so that the "
    "truth is known. It says how well the instrument measures, and nothing about any model that people use."
)

# Called with the subject, the steps that are done, and all of them
Progress = Callable[[Subject, int, int], None]


@dataclass(frozen=True)
class Calibration:
    """What a calibration found."""

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
    """Train, measure, check and report; models and runs that are there are not made again."""
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
        for panel in (folder / FIGURES).glob("calibration-*.*"):  # those of another size
            panel.unlink()
        drawn = panels(recoveries, controls)
        write([], folder / REPORT, drawn, _notes(calibration), folder / FIGURES)
    return calibration


def _model(folder: Path, subject: Subject, seed: int, device: str, progress: Progress) -> Loaded:
    """A subject's model, trained if it is not there, ready to be asked under its own name."""
    path, total = folder / MODELS / subject.name, steps(len(subject.gaps), subject.recipe)
    done = count(1)

    def advance() -> None:
        progress(subject, next(done), total)

    progress(subject, 0, total)
    if train_model(path, subject.gaps, subject.recipe, seed, pick_device(device), advance):
        for where in subject.data:  # of the model that was there before, if there was one
            shutil.rmtree(_run_folder(folder, subject, where), ignore_errors=True)
    progress(subject, total, total)
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
                **{
                    name: value
                    for name, value in controls.result.items()
                    if name.startswith(("f_mu", "ss_mu"))
                },
            }
            for controls in calibration.controls
        ],
    }


def _notes(calibration: Calibration) -> list[str]:
    failed = [check for check in calibration.expectations if not check.passed]
    verdict = f"All {len(calibration.expectations)} checks hold."
    if failed:
        listed = "; ".join(f"{check.where}: {check.what} ({check.value:.3f})" for check in failed)
        verdict = f"{len(failed)} of {len(calibration.expectations)} checks do not hold: {listed}."
    return [_TOY, verdict]
