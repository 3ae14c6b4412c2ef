"""Two models on the same samples: a paired difference, its interval and p-value; Holm's correction.

Both models' scores of a sample are resampled together, so what the samples share cancels out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import SEED, Smooth, linear, observed, stratify
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.control import control_scores
from gest_dataset.statistics.icat import icat_of_means, wins
from gest_dataset.statistics.masculine_rate import LABELS
from gest_dataset.statistics.units import resample
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

# More than for an interval: a p-value is at least 2 / (draws + 1), and Holm multiplies it
DRAWS = 10_000


@dataclass(frozen=True)
class Comparison:
    """The difference a - b of a measure, with its 95 % bounds and two-sided p-value."""

    measure: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Paired:
    """The rows of both models (the first half of the columns is a's) and the measure on a half."""

    columns: Floats
    strata: Ints
    number: int
    measures: tuple[Smooth, Smooth]


def _g_s(a: Any, b: Any, references: Any) -> Paired:
    """g_s on the scale of ratios."""
    columns = np.column_stack([checks.finite("a", a), checks.finite("b", b)])
    strata = checks.stereotypes("references", references)
    return Paired(columns, strata, len(STEREOTYPES), (_RATIO, _RATIO))


def _exp_linear(weights: Floats) -> Smooth:
    line = linear(weights[:, None])

    def gradient(mean: Floats) -> Floats:
        return np.asarray(np.exp(line.value(mean))[..., None, None] * line.gradient(mean))

    return Smooth(lambda mean: np.asarray(np.exp(line.value(mean))), gradient)


_RATIO = _exp_linear(MALE_MINUS_FEMALE)


def _f_s(a: Any, b: Any, references: Any) -> Paired:
    """f_s, with each model's own samples of unknown gender left out."""
    columns = []
    for name, labels in (("a", a), ("b", b)):
        codes = checks.known(name, labels, LABELS)
        columns += [codes == LABELS.index("male"), codes < len(GENDERS)]
    strata = checks.stereotypes("references", references)
    rates = Smooth(_contrast_of_rates, _contrast_of_rates_gradient)
    return Paired(np.column_stack(columns).astype(np.float64), strata, len(STEREOTYPES), (rates, rates))


def _contrast_of_rates(mean: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((mean[..., 0] / mean[..., 1]) @ MALE_MINUS_FEMALE)


def _contrast_of_rates_gradient(mean: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (MALE_MINUS_FEMALE / mean[..., 1], -MALE_MINUS_FEMALE * mean[..., 0] / mean[..., 1] ** 2)
    return np.stack(parts, axis=-1)


def _icat(a: Any, b: Any, references: Any) -> Paired:
    """ICAT over all samples, as a share."""
    rows = [wins(checks.finite(name, side, width=3)) for name, side in (("a", a), ("b", b))]
    whole = np.ones(1)
    sides = tuple(icat_of_means(whole, bool(row[:, 1].mean() > 0.5)) for row in rows)
    return Paired(np.hstack(rows), np.zeros(len(a), dtype=np.int64), 1, (sides[0], sides[1]))


def _f_mu(a: Any, b: Any, references: Any) -> Paired:
    """The mean of f, in natural logarithms."""
    columns = np.column_stack([control_scores(side, None)["f"] for side in (a, b)])
    mean = linear(np.ones((1, 1)))
    return Paired(columns, np.zeros(len(a), dtype=np.int64), 1, (mean, mean))


def _cs_mu(a: Any, b: Any, references: Any) -> Paired:
    """The mean of cs, in natural logarithms."""
    columns = np.column_stack([checks.finite("a", a), checks.finite("b", b)])
    mean = linear(np.ones((1, 1)))
    return Paired(columns, np.zeros(len(a), dtype=np.int64), 1, (mean, mean))


# measure -> its reading of the inputs, and what makes a share of it into what is reported
MEASURES: dict[str, tuple[Callable[[Any, Any, Any], Paired], float]] = {
    "g_s": (_g_s, 1.0),
    "f_s": (_f_s, 1.0),
    "icat": (_icat, 100.0),
    "f_mu": (_f_mu, 1.0),
    "cs_mu_original": (_cs_mu, 1.0),
}


def compare(
    measure: str,
    a: Sequence[Any],
    b: Sequence[Any],
    references: Sequence[Any] | None = None,
    units: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Comparison:
    """The paired difference of `g_s`, `f_s`, `icat`, `f_mu` or `cs_mu_original`, measure(a) - measure(b).

    `a` and `b` are the predictions of the measure's own function for two models, sample by sample (for
    `cs_mu_original` each sample's cs of the original pair); `references` are the stereotypes of the
    samples (for `g_s` and `f_s`). Samples of one of the `units` are resampled together.
    """
    checks.choice("measure", measure, MEASURES)
    length = checks.same_length(a=a, b=b, **({} if references is None else {"references": references}))
    together = checks.units("units", units, length)
    read, unit = MEASURES[measure]
    paired = read(a, b, references)
    width = paired.columns.shape[1] // 2
    means = observed(stratify(paired.columns, paired.strata, paired.number)).mean
    values = [
        float(side.value(means[:, half]))
        for side, half in zip(paired.measures, (slice(width), slice(width, None)), strict=True)
    ]
    resamples = resample(paired.columns, paired.strata, paired.number, together, draws, seed, _apart)
    difference = resamples.interval(_difference(paired.measures, width))
    if math.isnan(difference.low):
        where = "" if references is None else " in a stereotype"
        checks.undefined(f"{measure} cannot be compared: too few samples{where}")
    bounds = (unit * difference.value, unit * difference.low, unit * difference.high)
    return Comparison(measure, unit * values[0], unit * values[1], *bounds, difference.p_value)


def _apart(rows: Floats) -> Floats:
    """The rows (a - b, b) of a stratum; a difference that varies by its rounding only is one value."""
    a, b = np.hsplit(rows, 2)
    difference = a - b
    if len(a):
        rounding = 4 * np.finfo(np.float64).eps * max(np.abs(a).max(), np.abs(b).max())
        same = np.ptp(difference, axis=0) <= rounding
        difference[:, same] = difference[0, same]
    return np.hstack([difference, b])


def _difference(measures: tuple[Smooth, Smooth], width: int) -> Smooth:
    """measure(a) - measure(b) of the means of (a - b, b).

    What the samples share is taken away before it is squared: variances of a and of b that nearly
    cancel would leave their rounding.
    """
    first, second = measures

    def sides(mean: Floats) -> tuple[Floats, Floats]:
        b = mean[..., width:]
        return mean[..., :width] + b, b

    def value(mean: Floats) -> Floats:
        a, b = sides(mean)
        return first.value(a) - second.value(b)

    def gradient(mean: Floats) -> Floats:
        a, b = sides(mean)
        by_a, by_b = first.gradient(a), second.gradient(b)
        with np.errstate(invalid="ignore"):
            return np.concatenate([by_a, by_a - by_b], axis=-1)

    return Smooth(value, gradient)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): the p-values adjusted for their number."""
    p = checks.finite("p_values", p_values)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1)
    return adjusted.tolist()
