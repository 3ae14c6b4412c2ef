"""Two models on the same samples: a paired difference, its interval and p-value; Holm's correction.

Both models' scores of a sample are resampled together, so what the samples share cancels out. A ratio is
compared where it is additive: of g_s it is

    ln g_s(a) - ln g_s(b) = ln [g_s(a) / g_s(b)]

so that one model's 1.1 beside 1.0 and 2.2 beside 2.0 are the same difference, a ratio of 1.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from gest_dataset.statistics import bootstrap, checks
from gest_dataset.statistics.bootstrap import SEED, SmoothFunction, linear, sample_moments, stratify
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.choice_rate import OPTIONS, option_codes
from gest_dataset.statistics.control_bias import control_scores
from gest_dataset.statistics.masculine_rate import LABELS
from gest_dataset.statistics.resampling import resample
from gest_dataset.statistics.simultaneous import bounds, families
from gest_dataset.statistics.stereoset_icat import icat_of_means, wins
from gest_dataset.statistics.stereotype_rate import exp
from gest_dataset.statistics.verdict import error_from_interval, smallest_detectable
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

# More than for an interval: a p-value is at least 2 / (draws + 1), and Holm multiplies it
DRAWS = 10_000


@dataclass(frozen=True)
class Comparison:
    """The difference a - b of a measure, with its 95 % bounds and two-sided p-value.

    Of a `ratio` (g_s, q_i) the difference and its bounds are those of the natural logarithms, while `a` and
    `b` are the ratios themselves.
    """

    measure: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float
    ratio: bool = False

    @property
    def times(self) -> tuple[float, float, float]:
        """a / b with its bounds, of a ratio; nan of what is none."""
        if not self.ratio:
            return (math.nan, math.nan, math.nan)
        return (exp(self.difference), exp(self.low), exp(self.high))

    @property
    def smallest(self) -> float:
        """The smallest true difference that pairs of models like this one show with a power of 80 %."""
        return smallest_detectable(error_from_interval(self.low, self.high))


@dataclass(frozen=True)
class StereotypeDifference:
    """The difference of ln q_i of one stereotype, ln q_i(a) - ln q_i(b).

    The bounds of all stereotypes hold together in 95 % of cases (`statistics.simultaneous`).
    """

    stereotype: int
    a: float
    b: float
    difference: float
    low: float
    high: float

    @property
    def shown(self) -> bool:
        """Whether the simultaneous interval excludes 0."""
        return self.low > 0 or self.high < 0

    @property
    def times(self) -> tuple[float, float, float]:
        """q_i(a) / q_i(b) with its bounds."""
        return (exp(self.difference), exp(self.low), exp(self.high))


@dataclass(frozen=True)
class Paired:
    """The rows of both models (the first half of the columns is a's) and the measure on a half.

    `told` makes of the measure what a reader knows it by.
    """

    columns: Floats
    strata: Ints
    number: int
    measures: tuple[SmoothFunction, SmoothFunction]
    told: Callable[[float], float] = float

    @property
    def ratio(self) -> bool:
        """Whether the measure is the logarithm of what is told."""
        return self.told is exp


def _log_ratios(a: Any, b: Any) -> tuple[Floats, Floats]:
    """Both models' scores [samples, templates]; a number a sample is one template."""
    first = next(iter(a))
    rows = isinstance(first, (list, tuple)) or getattr(first, "ndim", 0) > 0
    width = (len(first) or None) if rows else None
    left, right = (
        checks.finite_array(name, side, width).reshape(len(side), -1) for name, side in (("a", a), ("b", b))
    )
    return left, right


def _g_s(a: Any, b: Any, references: Any, units: Ints | None) -> Paired:
    """ln of g_s, or of its mean over templates."""
    sides = _log_ratios(a, b)
    strata = checks.stereotype_codes("references", references)
    mean = _ln_mean_ratio(MALE_MINUS_FEMALE)
    return Paired(np.hstack(sides), strata, len(STEREOTYPES), (mean, mean), exp)


def _ln_mean_ratio(weights: Floats) -> SmoothFunction:
    """ln of the mean over templates t of exp(sum of w_i mean_it)."""

    def each(mean: Floats) -> Floats:
        return np.asarray(np.einsum("s,...st->...t", weights, mean))

    def value(mean: Floats) -> Floats:
        return np.asarray(special.logsumexp(each(mean), axis=-1) - math.log(mean.shape[-1]))

    def gradient(mean: Floats) -> Floats:
        return np.asarray(special.softmax(each(mean), axis=-1)[..., None, :] * weights[:, None])

    return SmoothFunction(value, gradient)


def _f_s(a: Any, b: Any, references: Any, units: Ints | None) -> Paired:
    """f_s of the samples whose gender is known of both: of other samples it would be another question."""
    codes = [checks.label_codes(name, labels, LABELS) for name, labels in (("a", a), ("b", b))]
    both = np.all([side < len(GENDERS) for side in codes], axis=0)
    columns = [column for side in codes for column in (both & (side == LABELS.index("male")), both)]
    strata = checks.stereotype_codes("references", references)
    rates = SmoothFunction(_contrast_of_rates, _contrast_of_rates_gradient)
    return Paired(np.column_stack(columns).astype(np.float64), strata, len(STEREOTYPES), (rates, rates))


def _contrast_of_rates(mean: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((mean[..., 0] / mean[..., 1]) @ MALE_MINUS_FEMALE)


def _contrast_of_rates_gradient(mean: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (MALE_MINUS_FEMALE / mean[..., 1], -MALE_MINUS_FEMALE * mean[..., 0] / mean[..., 1] ** 2)
    return np.stack(parts, axis=-1)


def _stereotype_rate(a: Any, b: Any, references: Any, units: Ints | None) -> Paired:
    """The stereotype rate of choices, of the sentences about which both have readable answers.

    Of a sentence with k of them each answer weighs 1/k, so that sums of answers are sums of sentences.
    """
    strata = checks.stereotype_codes("references", references)
    sentences = np.arange(len(strata)) if units is None else units
    cells = strata * (sentences.max(initial=0) + 1) + sentences
    codes = [option_codes(name, chosen) for name, chosen in (("a", a), ("b", b))]
    readable = [side < len(OPTIONS) for side in codes]
    number = [np.bincount(cells[side], minlength=cells.max(initial=-1) + 1)[cells] for side in readable]
    both = np.minimum(*number) > 0
    columns = []
    for side, told, count in zip(codes, readable, number, strict=True):
        weight = np.where(told & both, 1 / np.maximum(count, 1), 0.0)
        male, female = (side == OPTIONS.index(gender) for gender in ("male", "female"))
        columns += [weight * (male.astype(float) - female) / 2, weight]
    rates = SmoothFunction(_contrast_of_rates, _contrast_of_rates_gradient)
    return Paired(np.column_stack(columns), strata, len(STEREOTYPES), (rates, rates))


def _icat(a: Any, b: Any, references: Any, units: Ints | None) -> Paired:
    """ICAT over all samples, as a share."""
    rows = [wins(checks.finite_array(name, side, width=3)) for name, side in (("a", a), ("b", b))]
    whole = np.ones(1)
    sides = tuple(icat_of_means(whole, bool(row[:, 1].mean() > 0.5)) for row in rows)
    return Paired(np.hstack(rows), np.zeros(len(a), dtype=np.int64), 1, (sides[0], sides[1]))


def _f_mu(a: Any, b: Any, references: Any, units: Ints | None) -> Paired:
    """The mean of f, in natural logarithms."""
    columns = np.column_stack([control_scores(side, None)["f"] for side in (a, b)])
    mean = linear(np.ones((1, 1)))
    return Paired(columns, np.zeros(len(a), dtype=np.int64), 1, (mean, mean))


def _cs_mu(a: Any, b: Any, references: Any, units: Ints | None) -> Paired:
    """The mean of cs, in natural logarithms."""
    columns = np.column_stack([checks.finite_array("a", a), checks.finite_array("b", b)])
    mean = linear(np.ones((1, 1)))
    return Paired(columns, np.zeros(len(a), dtype=np.int64), 1, (mean, mean))


# measure -> its reading of the inputs, and what makes a share of it into what is reported
MEASURES: dict[str, tuple[Callable[[Any, Any, Any, Ints | None], Paired], float]] = {
    "g_s": (_g_s, 1.0),
    "f_s": (_f_s, 1.0),
    "stereotype_rate": (_stereotype_rate, 1.0),
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
    """The paired difference of a measure, measure(a) - measure(b).

    It is `g_s`, `f_s`, `stereotype_rate` (of choices), `icat`, `f_mu` or `cs_mu_original`.

    `a` and `b` are the predictions of the measure's own function for two models, sample by sample (for
    `cs_mu_original` each sample's cs of the original pair); `references` are the stereotypes of the
    samples (for `g_s`, `f_s` and `stereotype_rate`). For `g_s` a sample may be a row with its score in each
    template: then the means over templates are compared. Differences of `g_s` are those of ln g_s. `f_s` is
    of the samples whose gender is known in both, `stereotype_rate` of the sentences (`units`) with readable
    answers of both. Samples of one of the `units` are resampled together.
    """
    checks.check_choice("measure", measure, MEASURES)
    together = _together(a, b, references, units)
    read, unit = MEASURES[measure]
    paired = read(a, b, references, together)
    width = paired.columns.shape[1] // 2
    means = sample_moments(stratify(paired.columns, paired.strata, paired.number)).mean
    values = [
        paired.told(unit * float(side.value(means[:, half])))
        for side, half in zip(paired.measures, (slice(width), slice(width, None)), strict=True)
    ]
    resamples = resample(paired.columns, paired.strata, paired.number, together, draws, seed, _apart)
    difference = resamples.interval(_difference(paired.measures, width))
    if math.isnan(difference.low):
        where = "" if references is None else " in a stereotype"
        checks.warn_undefined(f"{measure} cannot be compared: too few samples{where}")
    limits = (unit * difference.value, unit * difference.low, unit * difference.high)
    return Comparison(measure, values[0], values[1], *limits, difference.p_value, paired.ratio)


def compare_stereotypes(
    a: Sequence[Any],
    b: Sequence[Any],
    references: Sequence[Any],
    units: Sequence[Hashable] | None = None,
    *,
    draws: int = bootstrap.DRAWS,
    seed: int = SEED,
) -> list[StereotypeDifference]:
    """The paired differences of the 16 ln q_i, with bounds that hold together; inputs as of `g_s`.

    Over several templates ln q_i is the mean of theirs. Bounds are nan where a stereotype has too few.
    """
    together = _together(a, b, references, units)
    first, second = (side.mean(axis=1) for side in _log_ratios(a, b))
    strata = checks.stereotype_codes("references", references)
    columns = np.column_stack([first, second])
    means = sample_moments(stratify(columns, strata, len(STEREOTYPES))).mean
    resamples = resample(columns, strata, len(STEREOTYPES), together, draws, seed, _apart)
    of_each = [linear(np.outer(row, [1.0, 0.0])) for row in np.eye(len(STEREOTYPES))]
    alone, _ = families(resamples, of_each)
    low, high = bounds(alone)
    return [
        StereotypeDifference(number, exp(float(sides[0])), exp(float(sides[1])), *map(float, limits))
        for number, sides, limits in zip(
            STEREOTYPES, means, zip(alone.value, low, high, strict=True), strict=True
        )
    ]


def _together(
    a: Sequence[Any], b: Sequence[Any], references: Sequence[Any] | None, units: Sequence[Hashable] | None
) -> Ints | None:
    """The units of samples that both sides have."""
    length = checks.same_length(a=a, b=b, **({} if references is None else {"references": references}))
    return checks.unit_codes("units", units, length)


def _apart(rows: Floats) -> Floats:
    """The rows (a - b, b) of a stratum; a difference that varies by its rounding only is one value."""
    a, b = np.hsplit(rows, 2)
    difference = a - b
    if len(a):
        rounding = 4 * np.finfo(np.float64).eps * max(np.abs(a).max(), np.abs(b).max())
        same = np.ptp(difference, axis=0) <= rounding
        difference[:, same] = difference[0, same]
    return np.hstack([difference, b])


def _difference(measures: tuple[SmoothFunction, SmoothFunction], width: int) -> SmoothFunction:
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

    return SmoothFunction(value, gradient)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): the p-values adjusted for their number."""
    p = checks.finite_array("p_values", p_values)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1)
    return adjusted.tolist()
