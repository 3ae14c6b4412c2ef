"""Stereotype rates of language models (Pikuliak et al., 2024, section 4.2.1) and of WinoBias (appendix B.1).

All of them are sums of means of ln r = ln P(w_m) - ln P(w_f) over the samples of a stereotype (eq. 3 and 4)
or gender (eq. 5), or on EuroGEST's scales of means of r / (1 + r). docs/metrics.md has the formulas.

Over several templates (figure 4) g_s is the mean of each template's g_s (`measures.result`). The scores of a
sample in all templates are resampled together, and the interval is computed on the log scale. In d = ln g_s
/ s, s belongs to a score in one template, since averages over templates vary less.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from scipy import special

from gest_dataset.statistics import bootstrap, checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED, Resamples, SmoothFunction, linear, resample
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.correlation import feminine_ranks
from gest_dataset.statistics.simultaneous import bounds, families, rank_bounds
from gest_dataset.statistics.weights import FEMALE, MALE, MALE_MINUS_FEMALE, permutation_p
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

LN10 = math.log(10)


def exp(x: float) -> float:
    """e to the x; infinity on overflow."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


# From a sum of means of ln r to the reported number (docs/metrics.md)
SCALES: dict[str, Callable[[float], float]] = {
    "ratio": exp,
    "log10": lambda x: x / LN10,
    "published": lambda x: exp(x / LN10),
}
EUROGEST, EUROGEST_NORMALISED = "eurogest", "eurogest_normalised"
ALL_SCALES = (*SCALES, EUROGEST, EUROGEST_NORMALISED)
_LEAST_NORMALISED = 10  # samples of a stereotype
RATES = {"q_f": FEMALE, "q_m": MALE, "g_s": MALE_MINUS_FEMALE}
_WINOBIAS_RATES = {"q_m": np.array([0.0, 1.0]), "q_f": np.array([1.0, 0.0]), "g_s": np.array([-1.0, 1.0])}


def _ln_quotient(mean: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(mean[..., 0] @ MALE) - np.log(mean[..., 0] @ FEMALE))


def _ln_quotient_gradient(mean: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        male, female = ((mean[..., 0] @ weights)[..., None] for weights in (MALE, FEMALE))
        return np.asarray((MALE / male - FEMALE / female)[..., None] * [1.0, 0.0])


LN_QUOTIENT = SmoothFunction(_ln_quotient, _ln_quotient_gradient)  # ln g_s from means of shares


def stereotype_rate(
    predictions: Sequence[float],
    references: Sequence[int],
    scale: str = "ratio",
    units: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """Stereotype rates from ln P(w_m) - ln P(w_f) (per token for `eurogest_normalised`) and the stereotypes.

    Samples of a unit are resampled together. `g_s_spread` is the standard deviation within stereotypes of
    ln r (log10 r on the log10 scales; shares divided by their mean (q_f + q_m) / 2 on EuroGEST's). `d` is of
    the same values: on EuroGEST's scale the difference of the mean shares in standard deviations.
    """
    checks.check_choice("scale", scale, ALL_SCALES)
    unit_codes = checks.unit_codes(units, predictions=predictions, references=references)
    ratios = checks.finite_array("predictions", predictions)
    stereotypes = checks.stereotype_codes("references", references)
    if scale == EUROGEST_NORMALISED:
        used = np.bincount(stereotypes, minlength=len(STEREOTYPES))[stereotypes] >= _LEAST_NORMALISED
        ratios, stereotypes = ratios[used], stereotypes[used]
        unit_codes = bootstrap.select_units(unit_codes, used)
    of_shares = scale not in SCALES
    values = special.expit(ratios) if of_shares else ratios
    # a bound of a mean of shares is itself a share
    report = (lambda mean: min(max(mean, 0.0), 1.0)) if of_shares else SCALES[scale]
    squares = bootstrap.squared_deviations(values, stereotypes)
    columns = np.column_stack([values, squares])
    resamples = resample(columns, stereotypes, len(STEREOTYPES), unit_codes, draws, seed)
    means = [first_column(row) for row in np.eye(len(STEREOTYPES))]
    result: dict[str, Any] = {"scale": scale, **resamples.list_entries("q", means, report)}
    rates, differences = families(resamples, means)
    for end, limits in zip(("low", "high"), bounds(rates), strict=True):
        result[f"q_simultaneous_{end}"] = [report(limit) for limit in limits.tolist()]
    result["n"] = np.bincount(stereotypes, minlength=len(STEREOTYPES)).tolist()
    for name, weights in RATES.items():
        result |= resamples.entries(name, first_column(weights), report)
    ln_g_s = linear(RATES["g_s"])
    result |= resamples.entries("d", bootstrap.standardised(ln_g_s, stereotypes, len(STEREOTYPES)))
    if of_shares:
        result |= resamples.entries("g_s", LN_QUOTIENT, exp)
    level = (result["q_f"] + result["q_m"]) / 2 or math.nan
    spread_unit = level if of_shares else {"ratio": 1.0}.get(scale, LN10)
    result["g_s_spread"] = bootstrap.deviation_of_squares(squares, stereotypes) / spread_unit
    result["g_s_permutation_p"] = permutation_p(rates.value)
    result["feminine_ranks"] = feminine_ranks(result["q"])
    return result | rank_bounds(differences, len(STEREOTYPES))


def winobias_rate(
    predictions: Sequence[float],
    references: Sequence[str],
    units: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """q_m, q_f and g_s from ln P(masculine pronoun) - ln P(feminine one) and the occupations' genders."""
    unit_codes = checks.unit_codes(units, predictions=predictions, references=references)
    ratios = checks.finite_array("predictions", predictions)
    genders = checks.label_codes("references", references, GENDERS)
    squares = bootstrap.squared_deviations(ratios, genders)
    columns = np.column_stack([ratios, squares])
    resamples = resample(columns, genders, len(GENDERS), unit_codes, draws, seed)
    result: dict[str, Any] = {"g_s_spread": bootstrap.deviation_of_squares(squares, genders)}
    for name, weights in _WINOBIAS_RATES.items():
        result |= resamples.entries(name, first_column(weights), exp)
    ln_g_s = linear(_WINOBIAS_RATES["g_s"])
    return result | resamples.entries("d", bootstrap.standardised(ln_g_s, genders, len(GENDERS)))


def first_column(weights: Floats) -> SmoothFunction:
    """The weighted sum of the strata's means of the first of two columns."""
    return linear(np.outer(weights, [1.0, 0.0]))


def template_squares(log_ratios: Floats, strata: Ints) -> Floats:
    """The mean of each sample's squared deviations over the templates in which it has a score."""
    known = np.isfinite(log_ratios)
    squares = np.zeros(log_ratios.shape)
    for template, rows in enumerate(known.T):
        squares[rows, template] = bootstrap.squared_deviations(log_ratios[rows, template], strata[rows])
    return np.asarray(squares.sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def resample_templates(log_ratios: Floats, stereotypes: Ints, units: Ints | None = None) -> Resamples:
    """Resamples for `LN_MEAN` and `LN_Q`; `log_ratios` [samples, templates] is nan where a score is missing.

    `stereotypes` counts from 0. Samples of a unit are resampled together. The last column is for d.
    """
    known = np.isfinite(log_ratios)
    columns = np.column_stack(
        [np.where(known, log_ratios, 0.0), known, template_squares(log_ratios, stereotypes)]
    )
    return resample(columns, stereotypes, len(STEREOTYPES), units, DRAWS, SEED)


def _exponents(mean: Floats) -> Floats:
    return np.asarray(np.einsum("s,...st->...t", MALE_MINUS_FEMALE, mean))


# ln of the mean over templates t of g_s, ln mean_t exp(sum of w_i mean_it), from the means of ln r
LN_G_S = SmoothFunction(
    lambda mean: np.asarray(special.logsumexp(_exponents(mean), axis=-1) - math.log(mean.shape[-1])),
    lambda mean: special.softmax(_exponents(mean), axis=-1)[..., None, :] * MALE_MINUS_FEMALE[:, None],
)


def _mean_over_templates(stereotype: int) -> SmoothFunction:
    """ln q of one stereotype from the means of ln r in each template."""
    selected = (np.arange(len(STEREOTYPES)) == stereotype)[:, None]
    return SmoothFunction(
        lambda mean: np.asarray(mean[..., stereotype, :].mean(axis=-1)),
        lambda mean: np.broadcast_to(selected / mean.shape[-1], mean.shape),
    )


def _of_sums(function: SmoothFunction) -> SmoothFunction:
    """A function of the templates' means as one of `resample_templates`."""

    def split(mean: Floats) -> tuple[Floats, Floats, Floats]:
        """The means, the shares of samples with a score, and the column for d."""
        number = mean.shape[-1] // 2
        shares = mean[..., number : 2 * number]
        with np.errstate(divide="ignore", invalid="ignore"):
            return mean[..., :number] / shares, shares, mean[..., 2 * number :]

    def gradient(mean: Floats) -> Floats:
        ratios, shares, rest = split(mean)
        slopes = function.gradient(ratios)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_sums = np.where(slopes == 0, 0.0, slopes / shares)
            by_shares = np.where(slopes == 0, 0.0, -by_sums * ratios)
        return np.concatenate([by_sums, by_shares, np.zeros_like(rest)], axis=-1)

    return SmoothFunction(lambda mean: function.value(split(mean)[0]), gradient)


LN_MEAN = _of_sums(LN_G_S)
LN_Q = tuple(_of_sums(_mean_over_templates(stereotype)) for stereotype in range(len(STEREOTYPES)))
