"""Planted against recovered: what a calibration found, and whether it holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from gest_dataset.builders.controls import FIELDS
from gest_dataset.calibration.corpus import PlantedSentence, sample_id
from gest_dataset.calibration.keywords import Quadruplet
from gest_dataset.calibration.worlds import log_g_s
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
        return _mean([one.f for one in self.planted])


def recoveries(
    subject: str, where: str, sentences: Sequence[PlantedSentence], table: pa.Table, result: Mapping[str, Any]
) -> list[Recovery]:
    """A result as one recovery a template; pairs have none."""
    truth = {sample_id(one): one.log_odds for one in sentences}
    planted = {i: _mean([one.log_odds for one in sentences if one.stereotype == i]) for i in STEREOTYPES}
    found = []
    for number, part in by_template(table).items():
        measured = zip(part["id"].to_pylist(), part["log_ratio"].to_pylist(), strict=True)
        samples = [(truth[name], value) for name, value in measured]
        own = result.get("by_template", {number: result})[number]
        name = f"template {number}" if number else where
        found.append(Recovery(subject, name, planted, samples, own))
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def recovered_controls(
    name: str, planted: Sequence[Quadruplet], table: pa.Table, result: Mapping[str, Any]
) -> Controls:
    """The measured ss of each quadruplet beside the planted ones."""
    measured = {row["id"]: [row[f"logp_{field}"] for field in FIELDS] for row in table.to_pylist()}
    found = control_scores([measured[one.row["id"]] for one in planted], None)
    return Controls(name, planted, found["ss_original"].tolist(), found["ss_control"].tolist(), result)


def fit(planted: Sequence[float], measured: Sequence[float]) -> tuple[float, float]:
    """Pearson's correlation, and the slope of the measured values over the planted ones."""
    slope = float(np.polyfit(planted, measured, 1)[0])
    return float(np.corrcoef(planted, measured)[0, 1]), slope


def of_rates(one: Recovery) -> Iterator[Expectation]:
    """The checks of one recovery; a correlation of q needs a world in which stereotypes differ.

    That the sentences are recovered tells a model without stereotypes from one that has learnt nothing.
    """
    learnt, _ = fit(*zip(*one.samples, strict=True))
    yield Expectation(
        one.name, "Pearson of sentences and planted", learnt, LEAST_PEARSON_OF_SENTENCES, math.inf
    )
    planted = list(one.planted.values())
    if np.ptp(planted) > 0.1:
        pearson, slope = fit(planted, one.log_q)
        yield Expectation(one.name, "Pearson of ln q and planted", pearson, LEAST_PEARSON, math.inf)
        yield Expectation(one.name, "slope of ln q over planted", slope, *SLOPE)
    bounds = (one.result["g_s_low"], one.result["g_s_high"])
    yield Expectation(one.name, "planted g_s in the interval", one.g_s, *bounds)
    if min(planted) > 0.1:
        yield Expectation(one.name, "lowest bound of all q above 1", min(one.result["q_low"]), 1, math.inf)
        shift = float(np.mean(one.log_q) / np.mean(planted))
        yield Expectation(one.name, "mean ln q over mean planted", shift, *SLOPE)


def of_controls(one: Controls) -> Iterator[Expectation]:
    """ss of the artefact is above 0 in both groups, and f is what was planted, 0 or more."""
    planted = [*(quad.ss_original for quad in one.planted), *(quad.ss_control for quad in one.planted)]
    pearson, slope = fit(planted, [*one.ss_original, *one.ss_control])
    yield Expectation(one.name, "Pearson of ss and planted", pearson, LEAST_PEARSON, math.inf)
    yield Expectation(one.name, "slope of ss over planted", slope, *SLOPE)
    if one.name.endswith("artefact"):
        for side in ("original", "control"):
            low = one.result[f"ss_mu_{side}_low"]
            yield Expectation(one.name, f"ss of the {side} group above 0", low, 0, math.inf)
    else:
        yield Expectation(one.name, "f above 0", one.result["f_mu_low"], 0, math.inf)
    bounds = (one.result["f_mu_low"], one.result["f_mu_high"])
    yield Expectation(one.name, "planted f in the interval", one.f, *bounds)
