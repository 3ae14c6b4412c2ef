"""Faults planted into the instrument, one at a time: each must be caught by a check of the calibration.

A fault is a context manager that puts something wrong in one place of the real pipeline, and takes it
out again at its end. Models and their naive readings are made before, and are the same for all faults.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

import torch

from gest_dataset.calibration.checks import Expectation
from gest_dataset.calibration.learning import Progress
from gest_dataset.calibration.study import (
    FAULTS_FOUND,
    Calibration,
    Ready,
    expectations,
    recovered,
    request_of,
    told_check,
)
from gest_dataset.measures import result as results
from gest_dataset.models import answering, scorers, scores
from gest_dataset.models.scores import measure
from gest_dataset.probes import asks, pairs, templates
from gest_dataset.probes.templates import Template
from gest_dataset.probes.text import Reader
from gest_dataset.statistics.stereotype_rate import RATES, SCALES
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import folder_lock, json_value, write_json

_SCALE = 1.05
Plant = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Fault:
    """Something wrong in the instrument; `plant` puts it there for a while."""

    name: str
    sentence: str
    plant: Plant


@dataclass(frozen=True)
class Trial:
    """A fault, and the first check that caught it: None where all of them held."""

    fault: Fault
    check: Expectation | None


def _changed(place: Any, name: str, change: Callable[..., Any]) -> Plant:
    """A function of the pipeline in whose place another one is called, which is given the real one first."""
    return lambda: patch.object(place, name, partial(change, getattr(place, name)))


def _method(place: type, name: str, change: Callable[..., Any]) -> Plant:
    """The same for a method, whose object comes after it."""

    def plant() -> AbstractContextManager[Any]:
        real = getattr(place, name)
        return patch.object(place, name, lambda self, *given: change(real, self, *given))

    return plant


# ---- what is asked -------------------------------------------------------------------------------------


def _each(change: Callable[[Template], Template]) -> Callable[..., list[Template]]:
    return lambda real, *given: [change(template) for template in real(*given)]


def _swapped(template: Template) -> Template:
    return replace(template, masculine=template.feminine, feminine=template.masculine)


def _lowered(template: Template) -> Template:
    return replace(template, masculine=template.masculine.lower(), feminine=template.feminine.lower())


def _in_another_frame(real: Callable[..., list[Template]], *given: Any) -> list[Template]:
    chosen = real(*given)
    texts = [template.text for template in chosen]
    return [
        replace(template, text=text) for template, text in zip(chosen, [*texts[1:], *texts[:1]], strict=True)
    ]


def _reversed(real: Callable[..., Any], row: Mapping[str, Any], *given: Any, **named: Any) -> Any:
    sides = {"masculine": row["feminine"], "feminine": row["masculine"]}
    return real({**row, **sides}, *given, **named)


def _without_closing(real: Callable[..., Any], *given: Any) -> Any:
    query = real(*given)
    return replace(query, positions=query.positions[:-1], targets=query.targets[:-1])


def _unstarted(real: Any, reader: Reader, tokens: Any) -> tuple[tuple[int, ...], int]:
    return tokens.ids, 0


# ---- how it is answered --------------------------------------------------------------------------------


def _one_place_early(real: Callable[..., Any], queries: Sequence[Any], *given: Any) -> Any:
    early = [
        replace(query, positions=tuple(max(0, position - 1) for position in query.positions))
        for query in queries
    ]
    return real(early, *given)


def _scaled(real: Callable[..., Any], *given: Any) -> Any:
    return [tuple(None if value is None else _SCALE * value for value in score) for score in real(*given)]


def _without_last(real: Callable[..., Any], rows: Sequence[Sequence[int]], *given: Any) -> Any:
    ids, mask = real(rows, *given)
    for row, own in enumerate(rows):
        ids[row, len(own) - 1] = mask[row, len(own) - 1] = 0
    return ids, mask


def _on_the_left(real: Callable[..., Any], rows: Sequence[Sequence[int]], *given: Any) -> Any:
    ids, mask = real(rows, *given)
    shifts = [ids.shape[1] - len(own) for own in rows]
    turned = [
        torch.stack([line.roll(shift) for line, shift in zip(both, shifts, strict=True)])
        for both in (ids, mask)
    ]
    return turned[0], turned[1]


def _padded_while_answering(real: Callable[..., Any], scorer: Any, *given: Any) -> Any:
    """Behind the scorer's own check, which would notice, and ask inputs one by one."""
    with patch.object(scorers, "pad", partial(_on_the_left, scorers.pad)):
        return real(scorer, *given)


# ---- what is made of the answers -----------------------------------------------------------------------


def _shifted_labels(real: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
    inputs = real(*given)
    return inputs | {"references": [i % len(STEREOTYPES) + 1 for i in inputs["references"]]}


def _pooled(real: Callable[..., dict[str, Any]], chosen: Any, *given: Any, **named: Any) -> dict[str, Any]:
    """g_s of all samples about men and about women, whatever their stereotype."""

    def statistic(predictions: Sequence[float], references: Sequence[int], **options: Any) -> dict[str, Any]:
        pooled: dict[str, Any] = chosen.statistic(predictions, references, **options)
        male, female = (
            fmean(
                value
                for value, i in zip(predictions, references, strict=True)
                if STEREOTYPES[i].gender == gender
            )
            for gender in ("male", "female")
        )
        return pooled | {"g_s": math.exp(male - female)}

    return real(replace(chosen, statistic=statistic), *given, **named)


def _one_of_the_other_gender() -> AbstractContextManager[Any]:
    """The last of the female stereotypes counts as a male one."""
    female, male = RATES["q_f"].copy(), RATES["q_m"].copy()
    last = female.nonzero()[0][-1]
    female[last], male[last] = 0, male.max()
    return patch.dict(RATES, {"g_s": male / male.sum() - female / female.sum()})


def _base_ten() -> AbstractContextManager[Any]:
    return patch.dict(SCALES, {"ratio": SCALES["published"]})


FAULTS = (
    Fault(
        "swapped words",
        "w_m and w_f change places in all templates",
        _changed(templates, "choose", _each(_swapped)),
    ),
    Fault(
        "scaled contrast", f"every score is {_SCALE} times what it is", _changed(scores, "_folded", _scaled)
    ),
    Fault(
        "position off by one",
        "the model is asked one token too early",
        _changed(answering, "answer", _one_place_early),
    ),
    Fault(
        "wrong context",
        "the words of a template are asked in the frame of the next one",
        _changed(templates, "choose", _in_another_frame),
    ),
    Fault("dropped token", "the last token of every input is lost", _changed(scorers, "pad", _without_last)),
    Fault(
        "lower-cased words",
        "the words of the templates are written in lower case",
        _changed(templates, "choose", _each(_lowered)),
    ),
    Fault(
        "padded side",
        "inputs of a batch are padded on the left, their positions are not moved",
        _method(scorers.LanguageModel, "answer", _padded_while_answering),
    ),
    Fault(
        "wrong stereotype labels",
        "every sample is counted for the next stereotype",
        _changed(results, "inputs_of", _shifted_labels),
    ),
    Fault(
        "wrong gender of a stereotype",
        "a stereotype about women is counted among those about men",
        _one_of_the_other_gender,
    ),
    Fault(
        "pooled samples",
        "g_s is of all samples, not of the means of stereotypes",
        _changed(scores, "result_of", _pooled),
    ),
    Fault(
        "pairs reversed",
        "the feminine form is taken for the masculine one",
        _changed(pairs, "ask", _reversed),
    ),
    Fault(
        "unscored sentinel",
        "the sentinel that closes a span does not count",
        _changed(asks, "decoded", _without_closing),
    ),
    Fault(
        "no start of text",
        "a causal model is asked without a token in front of the text",
        _method(Reader, "started", _unstarted),
    ),
    Fault(
        "clustered as independent",
        "copies of a sentence are resampled as if each were one",
        _changed(results, "units_of", lambda real, *given: None),
    ),
    Fault("base of logarithm", "means of log10 meet an exponential function", _base_ten),
)


def try_faults(calibration: Calibration, folder: Path, progress: Progress) -> list[Trial]:
    """Plant each fault and ask again, until a check does not hold; what came out is kept in the folder."""
    trials = []
    with folder_lock(folder):
        for number, fault in enumerate(FAULTS):
            progress(fault.name, number, len(FAULTS))
            trials.append(Trial(fault, first_failed(calibration.ready, fault)))
        write_json(folder / FAULTS_FOUND, json_value(_told(calibration, trials)))
    return trials


def first_failed(ready: Sequence[Ready], fault: Fault) -> Expectation | None:
    """The first check that does not hold while a fault is planted."""
    with fault.plant():
        return next((check for check in _anew(ready) if not check.passed), None)


def _anew(ready: Sequence[Ready]) -> Iterator[Expectation]:
    """All checks, of data that are asked again, nothing on disk."""
    for each in ready:
        for where in each.subject.data:
            measured = measure(each.loaded, request_of(each, where))
            yield from expectations(recovered(each, where, measured))


def _told(calibration: Calibration, trials: Sequence[Trial]) -> dict[str, Any]:
    """What faults.json says."""
    return {
        "toy": True,
        "seed": calibration.seed,
        "honest_passed": calibration.passed,
        "passed": calibration.passed and all(trial.check for trial in trials),
        "faults": [
            {
                "name": trial.fault.name,
                "sentence": trial.fault.sentence,
                "caught_by": None if trial.check is None else told_check(trial.check),
            }
            for trial in trials
        ],
    }
