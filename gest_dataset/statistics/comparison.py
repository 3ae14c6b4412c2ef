"""Paired comparison of two models on the same samples: difference, interval and p-value; Holm's correction.

Both models' scores of a sample are resampled together, so that what the samples share cancels out. Ratios are
compared on the log scale, where they are additive: ln g_s(a) - ln g_s(b) = ln [g_s(a) / g_s(b)].
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from gest_dataset.statistics import bootstrap, checks
from gest_dataset.statistics.bootstrap import SEED, SmoothFunction, linear, of_ratios, one_stratum, resample
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.choice_rate import OPTIONS, option_codes
from gest_dataset.statistics.control_bias import control_scores
from gest_dataset.statistics.masculine_rate import LABELS
from gest_dataset.statistics.simultaneous import bounds, families
from gest_dataset.statistics.stereoset_icat import icat_of_means, wins
from gest_dataset.statistics.stereotype_rate import LN_G_S, exp, template_squares
from gest_dataset.statistics.verdict import error_from_interval, smallest_detectable
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

# More than for an interval: a p-value is at least 2 / (draws + 1), and Holm multiplies it
DRAWS = 10_000
# Sentences that differ between languages: the largest deviations do not count for the distribution of the
# others. With fewer sentences, more than 5 % of sets with heavy tails would have one that stands out
LARGEST, MIN_SENTENCES = 10, 500
# Of the means of (hit, counted)
_RATE_CONTRAST = of_ratios(linear(MALE_MINUS_FEMALE), np.ones((len(STEREOTYPES), 1)))
# Two models of equal LMS have the same ICAT if their SS are equal, or 50 - x and 50 + x. One of the two must
# be ruled out by this many standard errors (docs/intervals.md)
MIN_FROM_KINK = 3.0


@dataclass(frozen=True)
class Comparison:
    """The difference a - b of a measure, with its 95 % bounds and two-sided p-value.

    For a `ratio` (g_s) the difference and its bounds are on the log scale; `a` and `b` are the ratios.
    `samples_needed` is set if the bounds are undefined because both SS are too close to 50 (`icat`).
    """

    measure: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float
    ratio: bool = False
    samples_needed: int | None = None

    @property
    def times(self) -> tuple[float, float, float]:
        """a / b with its bounds for a ratio, else nan."""
        if not self.ratio:
            return (math.nan, math.nan, math.nan)
        return (exp(self.difference), exp(self.low), exp(self.high))

    @property
    def smallest(self) -> float:
        """The smallest true difference that such pairs of models show with a power of 80 %.

        nan if the interval is one point, from which no error can be estimated.
        """
        if self.low == self.high:
            return math.nan
        return smallest_detectable(error_from_interval(self.low, self.high))


@dataclass(frozen=True)
class StereotypeDifference:
    """The difference of ln q_i of one stereotype, ln q_i(a) - ln q_i(b)."""

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
class _Paired:
    """The samples of both models (a's columns, then b's), and the function of each (ln of a ratio)."""

    columns: Floats
    strata: Ints
    n_strata: int
    functions: tuple[SmoothFunction, SmoothFunction]
    is_ratio: bool = False


def _log_ratios(a: Any, b: Any) -> tuple[Floats, Floats]:
    """The scores of both models as rows, one column per template."""
    width = (len(a[0]) or None) if np.ndim(a[0]) else None
    left, right = (
        checks.finite_array(name, side, width).reshape(len(side), -1) for name, side in (("a", a), ("b", b))
    )
    return left, right


def _g_s(a: Any, b: Any, references: Any, units: Ints | None) -> _Paired:
    """ln of g_s, or of its mean over templates."""
    columns = np.hstack(_log_ratios(a, b))
    strata = checks.stereotype_codes("references", references)
    function = linear(MALE_MINUS_FEMALE) if columns.shape[1] == 2 else LN_G_S
    return _Paired(columns, strata, len(STEREOTYPES), (function, function), is_ratio=True)


def _d(a: Any, b: Any, references: Any, units: Ints | None) -> _Paired:
    """d = ln g_s / s, where each model has its own s."""
    ratios = _g_s(a, b, references, units)
    (ln_g_s, _), strata = ratios.functions, ratios.strata
    columns = [
        part
        for side in np.hsplit(ratios.columns, 2)
        for part in (side, template_squares(side, strata)[:, None])
    ]
    function = bootstrap.standardised(ln_g_s, strata, ratios.n_strata)
    return _Paired(np.hstack(columns), strata, ratios.n_strata, (function, function))


def _f_s(a: Any, b: Any, references: Any, units: Ints | None) -> _Paired:
    """f_s on the samples whose gender is known for both models."""
    codes = [checks.label_codes(name, labels, LABELS) for name, labels in (("a", a), ("b", b))]
    known = np.all([side < len(GENDERS) for side in codes], axis=0)
    columns = [column for side in codes for column in (known & (side == LABELS.index("male")), known)]
    strata = checks.stereotype_codes("references", references)
    rates = np.column_stack(columns).astype(np.float64)
    return _Paired(rates, strata, len(STEREOTYPES), (_RATE_CONTRAST, _RATE_CONTRAST))


def _stereotype_rate(a: Any, b: Any, references: Any, units: Ints | None) -> _Paired:
    """The stereotype rate of choices on the sentences with readable answers of both models."""
    strata = checks.stereotype_codes("references", references)
    sentences = np.arange(len(strata)) if units is None else units
    cells = strata * (sentences.max(initial=0) + 1) + sentences
    codes = [option_codes(name, chosen) for name, chosen in (("a", a), ("b", b))]
    readable = [side < len(OPTIONS) for side in codes]
    n_readable = [np.bincount(cells[side], minlength=cells.max(initial=-1) + 1)[cells] for side in readable]
    readable_in_both = np.minimum(*n_readable) > 0
    columns = []
    for side, is_readable, n_of_sentence in zip(codes, readable, n_readable, strict=True):
        weight = np.where(is_readable & readable_in_both, 1 / np.maximum(n_of_sentence, 1), 0.0)
        male, female = (side == OPTIONS.index(gender) for gender in ("male", "female"))
        columns += [weight * (male.astype(float) - female) / 2, weight]
    return _Paired(np.column_stack(columns), strata, len(STEREOTYPES), (_RATE_CONTRAST, _RATE_CONTRAST))


def _icat(a: Any, b: Any, references: Any, units: Ints | None) -> _Paired:
    """ICAT over all samples, as a share."""
    columns = [wins(checks.finite_array(name, side, width=3)) for name, side in (("a", a), ("b", b))]
    icat_of_a, icat_of_b = (icat_of_means(np.ones(1), bool(side[:, 1].mean() > 0.5)) for side in columns)
    return _Paired(np.hstack(columns), one_stratum(a), 1, (icat_of_a, icat_of_b))


def _from_kink(resamples: bootstrap.Resamples) -> float:
    """The larger |t| of SS_a - SS_b and of SS_a + SS_b - 100, from the means of (a - b, b)."""
    ratios = []
    for of_b, null in ((0.0, 0.0), (2.0, 1.0)):
        found = resamples.interval(linear(np.array([[0.0, 1.0, 0.0, of_b]])), students=True)
        error = error_from_interval(found.low, found.high)
        ratios.append(abs(found.value - null) / error if error else math.inf)
    return max(ratios)


def _mean(read: Callable[[str, Any], Floats], a: Any, b: Any, references: Any, units: Ints | None) -> _Paired:
    """The mean of a score, in natural logarithms."""
    mean = linear(np.ones(1))
    return _Paired(np.column_stack([read("a", a), read("b", b)]), one_stratum(a), 1, (mean, mean))


# measure -> how its samples are paired, and the factor of the reported number
COMPARED: dict[str, tuple[Callable[[Any, Any, Any, Ints | None], _Paired], float]] = {
    "g_s": (_g_s, 1.0),
    "d": (_d, 1.0),
    "f_s": (_f_s, 1.0),
    "stereotype_rate": (_stereotype_rate, 1.0),
    "icat": (_icat, 100.0),
    "ss": (partial(_mean, lambda name, rows: wins(checks.finite_array(name, rows, width=3))[:, 1]), 100.0),
    "f_mu": (partial(_mean, lambda name, rows: control_scores(rows, None)["f"]), 1.0),
    "cs_mu_original": (partial(_mean, checks.finite_array), 1.0),
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

    `a` and `b` are the predictions that the measure's own function takes, sample by sample; for `g_s` and `d`
    also rows with a score in each template (then means over templates are compared), for `cs_mu_original` the
    cs of the original pairs. Differences of `g_s` are on the log scale. `f_s` uses the samples whose gender
    is known for both models, `stereotype_rate` the sentences (`units`) with readable answers of both.
    `references` are the stereotypes. Samples of a unit are resampled together.
    """
    checks.check_choice("measure", measure, COMPARED)
    inputs = {"a": a, "b": b} | ({} if references is None else {"references": references})
    unit_codes = checks.unit_codes(units, **inputs)
    pair_samples, factor = COMPARED[measure]
    paired = pair_samples(a, b, references, unit_codes)
    columns, strata = paired.columns, paired.strata
    width = columns.shape[1] // 2
    means = bootstrap.sample_moments(bootstrap.stratify(columns, strata, paired.n_strata)).mean
    value_a = factor * float(paired.functions[0].value(means[:, :width]))
    value_b = factor * float(paired.functions[1].value(means[:, width:]))
    if paired.is_ratio:
        value_a, value_b = exp(value_a), exp(value_b)
    resamples = resample(columns, strata, paired.n_strata, unit_codes, draws, seed, _differences)
    differing = np.flatnonzero((columns[:, :width] != columns[:, width:]).any(axis=1))
    n_differing = len(differing if unit_codes is None else np.unique(unit_codes[differing]))
    function = _difference_function(paired.functions, width)
    interval = resamples.interval(function, students=n_differing < bootstrap.MIN_DIFFERING)
    needed = None
    if measure == "icat" and (distance := _from_kink(resamples)) < MIN_FROM_KINK:
        interval = bootstrap.Interval(interval.value)
        needed = math.ceil(len(columns) * (MIN_FROM_KINK / max(distance, 0.01)) ** 2)
    limits = (factor * interval.value, factor * interval.low, factor * interval.high)
    return Comparison(measure, value_a, value_b, *limits, interval.p_value, paired.is_ratio, needed)


def compare_stereotypes(
    a: Sequence[Any],
    b: Sequence[Any],
    references: Sequence[Any],
    units: Sequence[Hashable] | None = None,
) -> list[StereotypeDifference]:
    """The paired differences of the 16 ln q_i, with simultaneous bounds; inputs as for `g_s`."""
    unit_codes = checks.unit_codes(units, a=a, b=b, references=references)
    columns = np.column_stack([side.mean(axis=1) for side in _log_ratios(a, b)])
    strata = checks.stereotype_codes("references", references)
    means = bootstrap.sample_moments(bootstrap.stratify(columns, strata, len(STEREOTYPES))).mean
    draws = bootstrap.DRAWS
    resamples = resample(columns, strata, len(STEREOTYPES), unit_codes, draws, SEED, _differences)
    functions = [linear(np.outer(row, [1.0, 0.0])) for row in np.eye(len(STEREOTYPES))]
    differences, _ = families(resamples, functions)
    limits = zip(differences.value, *bounds(differences), strict=True)
    return [
        StereotypeDifference(number, exp(float(mean[0])), exp(float(mean[1])), *map(float, interval))
        for number, mean, interval in zip(STEREOTYPES, means, limits, strict=True)
    ]


def _differences(rows: Floats) -> Floats:
    """The rows (a - b, b) of a stratum; a difference that varies only by rounding is made constant."""
    a, b = np.hsplit(rows, 2)
    difference = a - b
    if len(a):
        rounding = 4 * np.finfo(np.float64).eps * max(np.abs(a).max(), np.abs(b).max())
        constant = np.ptp(difference, axis=0) <= rounding
        difference[:, constant] = difference[0, constant]
    return np.hstack([difference, b])


def _difference_function(functions: tuple[SmoothFunction, SmoothFunction], width: int) -> SmoothFunction:
    """The difference of a's and b's function, of the means of (a - b, b); what is only rounding is 0.

    A linear function is computed from a - b alone.
    """
    first, second = functions

    def sides(mean: Floats) -> tuple[Floats, Floats]:
        b = np.zeros_like(mean[..., width:]) if first.is_linear else mean[..., width:]
        return mean[..., :width] + b, b

    def value(mean: Floats) -> Floats:
        a, b = sides(mean)
        size = np.maximum(np.abs(a), np.abs(b)).max(axis=(-2, -1))
        return _without_rounding(first.value(a) - second.value(b), size)

    def gradient(mean: Floats) -> Floats:
        by_a, by_b = (side.gradient(part) for side, part in zip(functions, sides(mean), strict=True))
        with np.errstate(invalid="ignore"):
            return np.concatenate([by_a, _without_rounding(by_a - by_b, np.abs(by_a))], axis=-1)

    return SmoothFunction(value, gradient)


def _without_rounding(difference: Floats, size: Floats) -> Floats:
    """A difference of numbers of this size, 0 where rounding explains it."""
    return np.where(np.abs(difference) <= 64 * np.finfo(np.float64).eps * size, 0.0, difference)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979) of p-values; nan, which stays nan, is no comparison."""
    adjusted: Floats = np.array(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(adjusted))
    order = known[np.argsort(adjusted[known], kind="stable")]
    steps = np.maximum.accumulate((len(order) - np.arange(len(order))) * adjusted[order])
    adjusted[order] = np.minimum(steps, 1)
    return list(map(float, adjusted))


def language_deviations(scores: Floats, stereotypes: Sequence[Any]) -> tuple[Floats, float]:
    """Deviations of sentences from their means over languages, and the size above which one stands out.

    `scores` (a row per sentence, a column per language) are centred within stereotypes and divided by the
    language's standard deviation within stereotypes, since a model is more extreme in some languages. Of two
    languages only the second has deviations; the first one's are the opposite.

    The null is Student's t distribution through the median of the absolute deviations and the largest one of
    the sentence after the first `LARGEST`. 0.2 % of sets from it have a deviation above the limit, so the
    fit may be inexact. With few sentences the limit is infinite.
    """
    strata = checks.stereotype_codes("stereotypes", stereotypes)
    means = bootstrap.sample_moments(bootstrap.stratify(scores, strata, len(STEREOTYPES))).mean
    centred = scores - means[strata]
    spread = np.sqrt((centred**2).sum(axis=0) / (len(scores) - len(np.unique(strata))))
    scaled = centred / np.where(spread > 0, spread, 1.0)
    deviations = scaled - scaled.mean(axis=1, keepdims=True)
    if deviations.shape[1] == 2:
        deviations = deviations[:, 1:]
    sizes = np.abs(deviations)
    n, middle = sizes.size, float(np.median(sizes))
    if len(scores) < MIN_SENTENCES or middle == 0:
        return deviations, math.inf
    edge = np.sort(sizes.max(axis=1))[-LARGEST - 1]
    freedom = 1 / np.linspace(0.001, 2, 2000)
    larger = np.array([0.5, (LARGEST + 0.5) / n, 0.002 / n])  # the shares of larger deviations
    at_middle, at_edge, at_limit = -special.stdtrit(freedom, larger[:, None] / 2)
    ratio = np.interp(edge / middle, at_edge / at_middle, at_limit / at_middle, right=math.inf)
    return deviations, middle * float(ratio)
