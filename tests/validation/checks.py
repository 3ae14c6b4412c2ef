"""The checks of a validation: planted values against measured ones, and the package against a naive reading.

What a model has learnt differs from what was planted, so those limits are loose. The package's scores of a
model are compared with a naive reading of the same model, and those limits are tight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from gest_dataset.builders.controls import FIELDS
from gest_dataset.measures.result import split_by_template
from gest_dataset.models.score_run import Scores, compute_scores
from gest_dataset.statistics.control_bias import control_scores
from tests.validation import naive
from tests.validation.corpus import Question, log_g_s
from tests.validation.keywords import Quadruplet
from tests.validation.models import Limits, Model

LEAST_PEARSON = 0.97
LEARNT_SLOPE = (0.85, 1.15)  # of measured over planted values
SAME_SLOPE = (0.99, 1.01)  # of the package over the naive reading
SAME = 0.01  # the largest difference in ln
WIDTH = (0.8, 1.25)  # of an interval over the textbook's


@dataclass(frozen=True)
class Check:
    """A value that must lie between two limits."""

    where: str
    what: str
    value: float
    least: float
    most: float

    @property
    def passed(self) -> bool:
        return self.least <= self.value <= self.most

    def __str__(self) -> str:
        status = "ok  " if self.passed else "FAIL"
        return f"{status}  {self.where}: {self.what} {self.value:.3f} ({self.least:.3f} to {self.most:.3f})"


def model_checks(model: Model) -> Iterator[Check]:
    """Score all data of a model with the package, and check the results."""
    for name, data in model.data.items():
        scores = compute_scores(model.loaded, data.request)
        readings = model.readings[name]
        if data.quadruplets:
            where = f"{model.name}, {name}"
            yield from control_checks(where, data.quadruplets, readings, *_ss(data.quadruplets, scores))
        else:
            yield from _template_checks(model, name, scores, readings)


def _template_checks(model: Model, name: str, scores: Scores, readings: Sequence[float]) -> Iterator[Check]:
    result = scores.result()
    for template, part in split_by_template(scores.table).items():
        measured = dict(zip(part["id"].to_pylist(), part["log_ratio"].to_pylist(), strict=True))
        pairs = zip(model.data[name].questions, readings, strict=True)
        chosen = [(question, value) for question, value in pairs if question.template == template]
        questions, naive_values = zip(*chosen, strict=True)
        template_result = result.get("by_template", {template: result})[template]
        where = f"{model.name}, {f'template {template}' if template else name}"
        yield from rate_checks(where, questions, naive_values, measured, template_result, model.limits)


def rate_checks(
    where: str,
    questions: Sequence[Question],
    naive_values: Sequence[float],
    measured: Mapping[str, float],
    result: Mapping[str, Any],
    limits: Limits | None,
) -> Iterator[Check]:
    """That every sentence is measured, what the model has learnt, and how the package reads it."""
    check = partial(Check, where)
    missing = sum(question.id not in measured for question in questions)
    yield check("sentences without a score", missing, 0, 0)
    if missing:
        return
    values = [measured[question.id] for question in questions]
    log_q = [math.log(q) for q in result["q"]]
    if limits is not None:
        yield from _learnt(check, questions, values, log_q, result, limits)
    yield from _same(check, "sentences", naive_values, values)
    naive_log_q = naive.means(questions, naive_values)
    yield check("ln q off the naive reading", _farthest(list(naive_log_q.values()), log_q), 0, SAME)
    off = abs(math.log(result["g_s"]) - log_g_s(naive_log_q))
    yield check("ln g_s off the naive reading", off, 0, SAME)
    width = math.log(result["g_s_high"] / result["g_s_low"]) / 2
    textbook = naive.half_width(questions, naive_values)
    yield check("width of g_s's interval over the textbook's", width / textbook, *WIDTH)


def _learnt(
    check: partial[Check],
    questions: Sequence[Question],
    values: Sequence[float],
    log_q: Sequence[float],
    result: Mapping[str, Any],
    limits: Limits,
) -> Iterator[Check]:
    """Measured against planted values."""
    planted_values = [question.log_odds for question in questions]
    # tells a model without stereotypes from one that has learnt nothing
    yield check(
        "Pearson of sentences and planted", fit(planted_values, values)[0], limits.sentences, math.inf
    )
    by_stereotype = naive.means(questions, planted_values)
    planted = list(by_stereotype.values())
    if np.ptp(planted) > 0.1:  # stereotypes differ
        pearson, slope = fit(planted, log_q)
        yield check("Pearson of ln q and planted", pearson, LEAST_PEARSON, math.inf)
        yield check("slope of ln q over planted", slope, *limits.slope)
    if limits.g_s:
        g_s = math.exp(log_g_s(by_stereotype))
        yield check("planted g_s in the interval", g_s, result["g_s_low"], result["g_s_high"])
    if min(planted) > 0.1:  # male as norm
        yield check("lowest bound of all q above 1", min(result["q_low"]), 1, math.inf)
        shift = float(np.mean(log_q) / np.mean(planted))
        yield check("mean ln q over mean planted", shift, *limits.slope)


def _ss(
    quadruplets: Sequence[Quadruplet], scores: Scores
) -> tuple[list[float], list[float], Mapping[str, Any]]:
    """The measured ss of the original and the control group, and the result."""
    rows = {row["id"]: [row[f"logp_{field}"] for field in FIELDS] for row in scores.table.to_pylist()}
    measured = control_scores([rows[quad.row["id"]] for quad in quadruplets], None)
    return measured["ss_original"].tolist(), measured["ss_control"].tolist(), scores.result()


def control_checks(
    name: str,
    quadruplets: Sequence[Quadruplet],
    naive_values: Sequence[float],
    ss_original: Sequence[float],
    ss_control: Sequence[float],
    result: Mapping[str, Any],
) -> Iterator[Check]:
    """ss and f as planted; `naive_values` are the naive ss of original, control, original …"""
    check = partial(Check, name)
    planted = [*(quad.ss_original for quad in quadruplets), *(quad.ss_control for quad in quadruplets)]
    measured = [*ss_original, *ss_control]
    pearson, slope = fit(planted, measured)
    yield check("Pearson of ss and planted", pearson, LEAST_PEARSON, math.inf)
    yield check("slope of ss over planted", slope, *LEARNT_SLOPE)
    if name.endswith("artefact"):
        for side in ("original", "control"):
            yield check(f"ss of the {side} group above 0", result[f"ss_mu_{side}_low"], 0, math.inf)
    else:
        yield check("f above 0", result["f_mu_low"], 0, math.inf)
    planted_f = fmean(quad.f for quad in quadruplets)
    yield check("planted f in the interval", planted_f, result["f_mu_low"], result["f_mu_high"])
    original, control = naive_values[::2], naive_values[1::2]
    yield from _same(check, "ss", [*original, *control], measured)
    off = abs(result["f_mu"] - (fmean(original) - fmean(control)))
    yield check("f off the naive reading", off, 0, SAME)


def fit(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Pearson's correlation, and the slope of the second values over the first."""
    slope = float(np.polyfit(first, second, 1)[0])
    return float(np.corrcoef(first, second)[0, 1]), slope


def _same(
    check: partial[Check], what: str, naive_values: Sequence[float], measured: Sequence[float]
) -> Iterator[Check]:
    slope = fit(naive_values, measured)[1]
    yield check(f"slope of {what} over the naive reading", slope, *SAME_SLOPE)
    yield check(f"{what} off the naive reading", _farthest(naive_values, measured), 0, SAME)


def _farthest(left: Sequence[float], right: Sequence[float]) -> float:
    return float(np.abs(np.subtract(left, right)).max())
