"""Planted against recovered, and the instrument against a naive reading: what must hold of a calibration.

What a model has learnt differs from what was planted, so that limits on it are loose. What the
instrument measures of a model is compared with what a naive reading finds in the very same one, and
there they are tight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa

from gest_dataset.builders.controls import FIELDS
from gest_dataset.calibration import naive
from gest_dataset.calibration.corpus import Question, log_g_s
from gest_dataset.calibration.keywords import Quadruplet
from gest_dataset.measures.result import split_by_template
from gest_dataset.statistics.control_bias import control_scores

LEAST_PEARSON = 0.97
SLOPE = (0.85, 1.15)  # of a model over its corpus
SAME_SLOPE = (0.99, 1.01)  # of the instrument over the naive reading of the same model
SAME = 0.01  # the most that they may differ in ln
WIDTH = (0.8, 1.25)  # of an interval over the textbook's


@dataclass(frozen=True)
class Limits:
    """What a model must have learnt: how near its sentences and slopes come to what was planted.

    One that learns its corpus but in part (`g_s` False) may miss the planted g_s. Where there are no
    limits a model need not have learnt anything: how it is measured is judged by the naive reading alone.
    """

    sentences: float = 0.9
    slope: tuple[float, float] = SLOPE
    g_s: bool = True


LIMITS = Limits()


@dataclass(frozen=True)
class Expectation:
    """A value that must lie between two limits."""

    where: str
    what: str
    value: float
    least: float
    most: float

    @property
    def passed(self) -> bool:
        return self.least <= self.value <= self.most


@dataclass(frozen=True)
class Recovery:
    """One model in one template, or on pairs.

    Of each question stands here what a naive reading of the model gives; `measured` is what the instrument
    does, by id.
    """

    subject: str
    where: str
    questions: Sequence[Question]
    naive: Sequence[float]
    measured: Mapping[str, float]
    result: Mapping[str, Any]
    limits: Limits | None = LIMITS

    @property
    def name(self) -> str:
        return f"{self.subject}, {self.where}"

    @property
    def planted(self) -> dict[int, float]:
        """The mean of ln(n_m / n_f) of the questions by stereotype: the truth of ln q."""
        return naive.means(self.questions, [asked.log_odds for asked in self.questions])

    @property
    def log_q(self) -> list[float]:
        return [math.log(q) for q in self.result["q"]]

    @property
    def g_s(self) -> float:
        """The planted one."""
        return math.exp(log_g_s(self.planted))


@dataclass(frozen=True)
class Controls:
    """One set of quadruplets: planted, read naively and measured are ss of original and control group."""

    name: str
    planted: Sequence[Quadruplet]
    naive: Sequence[tuple[float, float]]
    ss_original: Sequence[float]
    ss_control: Sequence[float]
    result: Mapping[str, Any]

    @property
    def f(self) -> float:
        """The planted mean."""
        return fmean(quad.f for quad in self.planted)


def recoveries(
    subject: str,
    where: str,
    questions: Sequence[Question],
    read: Sequence[float],
    table: pa.Table,
    result: Mapping[str, Any],
    limits: Limits | None,
) -> list[Recovery]:
    """A result as one recovery a template; pairs have none."""
    recovered = []
    for number, part in split_by_template(table).items():
        measured = dict(zip(part["id"].to_pylist(), part["log_ratio"].to_pylist(), strict=True))
        places = [place for place, asked in enumerate(questions) if asked.template == number]
        own = result.get("by_template", {number: result})[number]
        name = f"template {number}" if number else where
        chosen = [questions[place] for place in places]
        own_read = [read[place] for place in places]
        recovered.append(Recovery(subject, name, chosen, own_read, measured, own, limits))
    return recovered


def recovered_controls(
    name: str,
    planted: Sequence[Quadruplet],
    read: Sequence[float],
    table: pa.Table,
    result: Mapping[str, Any],
) -> Controls:
    """The measured ss of each quadruplet beside the planted ones; `read` is original, control, original …"""
    measured = {row["id"]: [row[f"logp_{field}"] for field in FIELDS] for row in table.to_pylist()}
    scores = control_scores([measured[quad.row["id"]] for quad in planted], None)
    both = list(zip(read[::2], read[1::2], strict=True))
    return Controls(
        name, planted, both, scores["ss_original"].tolist(), scores["ss_control"].tolist(), result
    )


def fit(planted: Sequence[float], measured: Sequence[float]) -> tuple[float, float]:
    """Pearson's correlation, and the slope of the measured values over the planted ones."""
    slope = float(np.polyfit(planted, measured, 1)[0])
    return float(np.corrcoef(planted, measured)[0, 1]), slope


def of_rates(recovery: Recovery) -> Iterator[Expectation]:
    """The checks of one recovery: that all is measured, what is learnt, and how that is read."""
    check = partial(Expectation, recovery.name)
    missing = sum(asked.id not in recovery.measured for asked in recovery.questions)
    yield check("sentences that are not measured", missing, 0, 0)
    if not missing:
        if recovery.limits is not None:
            yield from _learnt(recovery, recovery.limits)
        yield from _read(recovery)


def _learnt(recovery: Recovery, limits: Limits) -> Iterator[Expectation]:
    """Measured against planted; a correlation of q needs a world in which stereotypes differ.

    That the sentences are recovered tells a model without stereotypes from one that has learnt nothing.
    """
    check = partial(Expectation, recovery.name)
    measured = [recovery.measured[asked.id] for asked in recovery.questions]
    learnt, _ = fit([asked.log_odds for asked in recovery.questions], measured)
    yield check("Pearson of sentences and planted", learnt, limits.sentences, math.inf)
    planted = list(recovery.planted.values())
    if np.ptp(planted) > 0.1:
        pearson, slope = fit(planted, recovery.log_q)
        yield check("Pearson of ln q and planted", pearson, LEAST_PEARSON, math.inf)
        yield check("slope of ln q over planted", slope, *limits.slope)
    if limits.g_s:
        bounds = (recovery.result["g_s_low"], recovery.result["g_s_high"])
        yield check("planted g_s in the interval", recovery.g_s, *bounds)
    if min(planted) > 0.1:
        yield check("lowest bound of all q above 1", min(recovery.result["q_low"]), 1, math.inf)
        shift = float(np.mean(recovery.log_q) / np.mean(planted))
        yield check("mean ln q over mean planted", shift, *limits.slope)


def _read(recovery: Recovery) -> Iterator[Expectation]:
    """Measured against the naive reading: each sentence, ln q, g_s and the width of its interval."""
    check = partial(Expectation, recovery.name)
    measured = [recovery.measured[asked.id] for asked in recovery.questions]
    yield from _same(check, "sentences", recovery.naive, measured)
    log_q = naive.means(recovery.questions, recovery.naive)
    yield check("ln q off the naive reading", _farthest(list(log_q.values()), recovery.log_q), 0, SAME)
    off = abs(math.log(recovery.result["g_s"]) - log_g_s(log_q))
    yield check("ln g_s off the naive reading", off, 0, SAME)
    width = math.log(recovery.result["g_s_high"] / recovery.result["g_s_low"]) / 2
    textbook = naive.half_width(recovery.questions, recovery.naive)
    yield check("width of g_s's interval over the textbook's", width / textbook, *WIDTH)


def _same(
    check: partial[Expectation], what: str, read: Sequence[float], measured: Sequence[float]
) -> Iterator[Expectation]:
    _, slope = fit(read, measured)
    yield check(f"slope of {what} over the naive reading", slope, *SAME_SLOPE)
    yield check(f"{what} off the naive reading", _farthest(read, measured), 0, SAME)


def _farthest(left: Sequence[float], right: Sequence[float]) -> float:
    return float(np.abs(np.subtract(left, right)).max())


def of_controls(controls: Controls) -> Iterator[Expectation]:
    """ss of the artefact is above 0 in both groups, and f is what was planted, 0 or more."""
    check = partial(Expectation, controls.name)
    planted = [
        *(quad.ss_original for quad in controls.planted),
        *(quad.ss_control for quad in controls.planted),
    ]
    measured = [*controls.ss_original, *controls.ss_control]
    pearson, slope = fit(planted, measured)
    yield check("Pearson of ss and planted", pearson, LEAST_PEARSON, math.inf)
    yield check("slope of ss over planted", slope, *SLOPE)
    if controls.name.endswith("artefact"):
        for side in ("original", "control"):
            low = controls.result[f"ss_mu_{side}_low"]
            yield check(f"ss of the {side} group above 0", low, 0, math.inf)
    else:
        yield check("f above 0", controls.result["f_mu_low"], 0, math.inf)
    bounds = (controls.result["f_mu_low"], controls.result["f_mu_high"])
    yield check("planted f in the interval", controls.f, *bounds)
    original, control = zip(*controls.naive, strict=True)
    yield from _same(check, "ss", [*original, *control], measured)
    off = abs(controls.result["f_mu"] - (fmean(original) - fmean(control)))
    yield check("f off the naive reading", off, 0, SAME)
