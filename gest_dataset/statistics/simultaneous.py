"""Simultaneous intervals for several statistics, and the ranks that they leave open.

Bounds that all hold together in 95 % of cases are value -+ c * error, with c the 95 % quantile over the
bootstrap draws of the largest |t*| (max-t: Romano and Wolf, 2005, Econometrica 73). If a statistic has too
few degrees of freedom for the bootstrap, c is Student's t of each at Sidak's level, 0.95^(1/k), which is
exact for independent statistics and conservative otherwise.

Ranks are bounded by the pairwise differences that are significant simultaneously (Mogstad, Romano, Shaikh and
Wilhelm, 2024, Review of Economic Studies 91). In 95 % of cases no rank interval misses its true rank.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from gest_dataset.statistics import bootstrap
from gest_dataset.statistics.bootstrap import LEVEL, Moments, Resamples, SmoothFunction
from gest_dataset.statistics.checks import Floats


@dataclass(frozen=True)
class Statistics:
    """Statistics with standard errors and degrees of freedom [k], and their t* in the draws [draws, k]."""

    value: Floats
    error: Floats
    degrees_of_freedom: Floats
    ratios: Floats


def families(resamples: Resamples, functions: Sequence[SmoothFunction]) -> tuple[Statistics, Statistics]:
    """Functions of the strata's means, and the differences of all pairs of them."""
    adapted = [resamples.adapt(function) for function in functions]
    data, draws = resamples.data, resamples.draws
    size = data.size
    value, slopes = _values_and_gradients(adapted, data)
    used = (slopes != 0).any(axis=-1)
    value[(used & (size < 1)).any(axis=-1)] = np.nan
    too_few = (used & (size < 2)).any(axis=-1)
    drawn, drawn_slopes = _values_and_gradients(adapted, draws)
    rows = (*drawn_slopes.shape[:2], -1)  # summed over the strata at once
    limits = np.array([function.degrees_of_freedom for function in adapted])
    first, second = np.triu_indices(len(functions), 1)
    alone = np.arange(len(functions))
    with np.errstate(invalid="ignore"):
        covariances = _spreads(slopes, data) @ np.moveaxis(slopes, -3, -1)  # [strata, functions, functions]
        spreads = np.swapaxes(_spreads(drawn_slopes, draws), -3, -2).reshape(rows)
        drawn_covariances = spreads @ np.swapaxes(drawn_slopes.reshape(rows), -2, -1)
        drawn_differences = drawn[..., first] - drawn[..., second]
    variances, drawn_variances = (each[..., alone, alone] for each in (covariances, drawn_covariances))
    single = _family(value, variances, np.where(too_few, np.nan, limits), size, drawn, drawn_variances)
    limits = np.where(too_few[first] | too_few[second], np.nan, limits[first] + limits[second])
    variances, drawn_variances = (
        own[..., first] + own[..., second] - 2 * both[..., first, second]
        for own, both in ((variances, covariances), (drawn_variances, drawn_covariances))
    )
    difference = value[first] - value[second]
    return single, _family(difference, variances, limits, size, drawn_differences, drawn_variances)


def _values_and_gradients(functions: Sequence[SmoothFunction], moments: Moments) -> tuple[Floats, Floats]:
    """Values [..., functions] and gradients [..., functions, strata, k]."""
    values = np.stack([function.value(moments.mean) for function in functions], axis=-1)
    return values, np.stack([function.gradient(moments.mean) for function in functions], axis=-3)


def _spreads(slopes: Floats, moments: Moments) -> Floats:
    """The functions' slopes times the covariances of the means [..., strata, functions, k]."""
    return np.moveaxis(slopes, -3, -2) @ (moments.covariance / np.maximum(moments.size, 1)[:, None, None])


def _family(
    value: Floats, variances: Floats, limits: Floats, size: Floats, drawn: Floats, drawn_variances: Floats
) -> Statistics:
    """A family from values, variances [strata, k] and draws; `limits` is nan without an error."""
    variances = np.maximum(variances, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = [
            min(bootstrap.welch_satterthwaite(column, size), limit)
            for column, limit in zip(variances.T, limits, strict=True)
        ]
        ratios = (drawn - value) / np.sqrt(np.maximum(drawn_variances, 0))
    error = np.where(np.isnan(limits), np.nan, np.sqrt(variances.sum(axis=0)))
    return Statistics(value, error, np.array(freedom), ratios)


def sidak_quantile(number: int) -> float:
    """The normal quantile at which `number` independent intervals hold together."""
    return float(special.ndtri((1 + LEVEL ** (1 / max(number, 1))) / 2))


def rate_differences(positive: Floats, number: Floats, ratio: Floats, draws: int, seed: int) -> Statistics:
    """The differences of all pairs of independent proportions, each of `ratio` * `number` samples.

    One success and one failure are added to each (Agresti and Caffo, 2000, The American Statistician 54);
    the draws are binomial with the resulting rates.
    """
    size = np.floor(np.nan_to_num(ratio * number))
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(positive / number)

    def adjusted(successes: Floats) -> tuple[Floats, Floats]:
        rates = (successes + 1) / (size + 2)
        return rates, rates * (1 - rates) / (size + 2)

    rates, variances = adjusted(shares * size)
    successes = np.random.default_rng(seed).binomial(size.astype(np.int64), rates, (draws, len(size)))
    drawn, drawn_variances = adjusted(successes.astype(float))
    drawn -= adjusted(size * rates)[0]  # the mean of the draws, which are shrunk twice
    first, second = np.triu_indices(len(size), 1)
    value, error = np.where(number > 0, rates, np.nan), np.where(size > 0, variances, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn_errors = np.sqrt(drawn_variances[:, first] + drawn_variances[:, second])
        ratios = (drawn[:, first] - drawn[:, second]) / drawn_errors
    freedom = np.full(len(first), math.inf)
    return Statistics(value[first] - value[second], np.sqrt(error[first] + error[second]), freedom, ratios)


def bounds(family: Statistics) -> tuple[Floats, Floats]:
    """Bounds that hold together; nan where there are too few samples."""
    varies = family.error > 0
    number = int(varies.sum())
    level = (1 + LEVEL ** (1 / max(number, 1))) / 2
    critical = np.asarray(special.stdtrit(family.degrees_of_freedom, level))
    if number and family.degrees_of_freedom[varies].min() >= bootstrap.MIN_DEGREES_OF_FREEDOM:
        sizes = np.abs(family.ratios[:, varies])
        largest = np.sort(np.where(np.isfinite(sizes), sizes, np.inf).max(axis=1))
        quantile = largest[min(len(largest), math.ceil((len(largest) + 1) * LEVEL)) - 1]
        if np.isfinite(quantile):
            critical = np.full(len(varies), quantile)
    reach = np.where(varies, critical, 0.0) * family.error
    return family.value - reach, family.value + reach


def rank_bounds(differences: Statistics, number: int) -> dict[str, list[float]]:
    """The bounds of `number` ranks as entries of a result, from the differences of all pairs."""
    low, high = bounds(differences)
    first, second = np.triu_indices(number, 1)
    above = np.zeros((number, number), dtype=bool)  # [j, k]: j is significantly above k
    above[first, second], above[second, first] = low > 0, high < 0
    ranked = np.zeros(number, dtype=bool)
    defined = np.isfinite(differences.value)
    ranked[first[defined]] = ranked[second[defined]] = True
    lowest = np.where(ranked, 1.0 + above.sum(axis=1), np.nan)
    highest = np.where(ranked, float(ranked.sum()) - above.sum(axis=0), np.nan)
    return {"feminine_ranks_low": lowest.tolist(), "feminine_ranks_high": highest.tolist()}
