"""Planted against recovered: what a calibration found, and whether it holds."""

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
from gest_dataset.calibration.corpus import PlantedSentence, log_g_s, sample_id
from gest_dataset.calibration.keywords import Quadruplet
from gest_dataset.measures.result import by_template
from gest_dataset.statistics.control import control_scores
from gest_dataset.stereotypes import STEREOTYPES

LEAST_PEARSON, LEAST_PEARSON_OF_SENTENCES = 0.97, 0.9
SLOPE = (0.85, 1.15)


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

    `planted` is the mean of ln(n_m / n_f) of the measured sentences by stereotype, and so the truth of
    ln q; `samples` are planted and measured log-odds of each sentence.
    """

    subject: str
    where: str
    planted: Mapping[int, float]
    samples: Sequence[tuple[float, float]]
    result: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.subject}, {self.where}"

    @property
    def log_q(self) -> list[float]:
        return [math.log(q) for q in self.result["q"]]

    @property
    def g_s(self) -> float:
        """The planted one."""
        return math.exp(log_g_s(self.planted))


@dataclass(frozen=True)
class Controls:
    """One set of quadruplets: planted and measured ss of the original and of the control group."""

    name: str
    planted: Sequence[Quadruplet]
    ss_original: Sequence[float]
    ss_control: Sequence[float]
    result: Mapping[str, Any]

    @property
    def f(self) -> float:
        """The planted mean."""
        return fmean(quad.f for quad in self.planted)


def recoveries(
    subject: str, where: str, sentences: Sequence[PlantedSentence], table: pa.Table, result: Mapping[str, Any]
) -> list[Recovery]:
    """A result as one recovery a template; pairs have none."""
    truth = {sample_id(sentence): sentence.log_odds for sentence in sentences}
    planted = {
        i: fmean(sentence.log_odds for sentence in sentences if sentence.stereotype == i) for i in STEREOTYPES
    }
    recovered = []
    for number, part in by_template(table).items():
        measured = zip(part["id"].to_pylist(), part["log_ratio"].to_pylist(), strict=True)
        samples = [(truth[name], value) for name, value in measured]
        own = result.get("by_template", {number: result})[number]
        name = f"template {number}" if number else where
        recovered.append(Recovery(subject, name, planted, samples, own))
    return recovered


def recovered_controls(
    name: str, planted: Sequence[Quadruplet], table: pa.Table, result: Mapping[str, Any]
) -> Controls:
    """The measured ss of each quadruplet beside the planted ones."""
    measured = {row["id"]: [row[f"logp_{field}"] for field in FIELDS] for row in table.to_pylist()}
    scores = control_scores([measured[quad.row["id"]] for quad in planted], None)
    return Controls(name, planted, scores["ss_original"].tolist(), scores["ss_control"].tolist(), result)


def fit(planted: Sequence[float], measured: Sequence[float]) -> tuple[float, float]:
    """Pearson's correlation, and the slope of the measured values over the planted ones."""
    slope = float(np.polyfit(planted, measured, 1)[0])
    return float(np.corrcoef(planted, measured)[0, 1]), slope


def of_rates(recovery: Recovery) -> Iterator[Expectation]:
    """The checks of one recovery; a correlation of q needs a world in which stereotypes differ.

    That the sentences are recovered tells a model without stereotypes from one that has learnt nothing.
    """
    check = partial(Expectation, recovery.name)
    learnt, _ = fit(*zip(*recovery.samples, strict=True))
    yield check("Pearson of sentences and planted", learnt, LEAST_PEARSON_OF_SENTENCES, math.inf)
    planted = list(recovery.planted.values())
    if np.ptp(planted) > 0.1:
        pearson, slope = fit(planted, recovery.log_q)
        yield check("Pearson of ln q and planted", pearson, LEAST_PEARSON, math.inf)
        yield check("slope of ln q over planted", slope, *SLOPE)
    bounds = (recovery.result["g_s_low"], recovery.result["g_s_high"])
    yield check("planted g_s in the interval", recovery.g_s, *bounds)
    if min(planted) > 0.1:
        yield check("lowest bound of all q above 1", min(recovery.result["q_low"]), 1, math.inf)
        shift = float(np.mean(recovery.log_q) / np.mean(planted))
        yield check("mean ln q over mean planted", shift, *SLOPE)


def of_controls(controls: Controls) -> Iterator[Expectation]:
    """ss of the artefact is above 0 in both groups, and f is what was planted, 0 or more."""
    check = partial(Expectation, controls.name)
    planted = [
        *(quad.ss_original for quad in controls.planted),
        *(quad.ss_control for quad in controls.planted),
    ]
    pearson, slope = fit(planted, [*controls.ss_original, *controls.ss_control])
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
