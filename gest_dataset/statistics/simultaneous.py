"""Intervals that hold for several statistics at once, and the ranks that they leave open.

Bounds that all hold together in 95 % of cases are value -+ c * error, with c the 95 % quantile over
the bootstrap draws of the largest |t*| of all of them (max-t: Romano and Wolf, 2005, Econometrica 73).
Where one of them has too few degrees of freedom for the bootstrap, c is Student's t of each at Sidak's
level, 0.95^(1/k), which is exact for independent statistics and else wider.

A rank is bounded by the differences that are sure: with simultaneous intervals of all pairwise
differences, j ranks behind each k that is surely below it and before each k that is surely above it
(Mogstad, Romano, Shaikh and Wilhelm, 2024, Review of Economic Studies 91). As the intervals of all
pairs hold at once, so do all rank intervals: in 95 % of cases none of them misses its true rank, so
that in at most 5 % of cases anything is wrongly said to be at an end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from gest_dataset.statistics.bootstrap import LEAST_FREEDOM, LEVEL, Moments, SmoothFunction, freedom_of
from gest_dataset.statistics.checks import Bools, Floats, Ints
from gest_dataset.statistics.resampling import Resamples


@dataclass(frozen=True)
class Family:
    """Statistics with standard errors and degrees of freedom [k], and their t* in the draws [draws, k].

    The error is nan where there are too few samples for one.
    """

    value: Floats
    error: Floats
    freedom: Floats
    ratios: Floats


def pairs(number: int) -> tuple[Ints, Ints]:
    """The places of the first and the second of all pairs of so many."""
    first, second = np.triu_indices(number, 1)
    return first, second


def families(resamples: Resamples, functions: Sequence[SmoothFunction]) -> tuple[Family, Family]:
    """Some functions of the strata's means, and the differences of all pairs of them."""
    adapted = [resamples.adapted(function) for function in functions]
    size = resamples.data.size
    value, slopes = _values_and_slopes(adapted, _filled(resamples.data))
    used = (slopes != 0).any(axis=-1)
    value[(used & (size < 1)).any(axis=-1)] = np.nan
    few = (used & (size < 2)).any(axis=-1)
    each = _covariances(slopes, _filled(resamples.data))
    again, again_slopes = _values_and_slopes(adapted, _filled(resamples.draws))
    shared = _covariances(again_slopes, _filled(resamples.draws)).sum(axis=-3)
    most = np.array([function.freedom for function in adapted])
    first, second = pairs(len(functions))
    alone = np.arange(len(functions))
    with np.errstate(invalid="ignore"):
        between = again[..., first] - again[..., second]
    return (
        _family(
            value,
            each[..., alone, alone],
            np.where(few, np.nan, most),
            size,
            again,
            shared[..., alone, alone],
        ),
        _family(
            value[first] - value[second],
            _of_differences(each, first, second),
            np.where(few[first] | few[second], np.nan, most[first] + most[second]),
            size,
            between,
            _of_differences(shared, first, second),
        ),
    )


def _filled(moments: Moments) -> Moments:
    """The moments with zeros for strata that are too small for moments of their own."""
    small = moments.size < 2
    mean, covariance = moments.mean.copy(), moments.covariance.copy()
    mean[..., small, :] = np.nan_to_num(mean[..., small, :])
    covariance[..., small, :, :] = 0
    return Moments(mean, covariance, moments.size)


def _values_and_slopes(functions: Sequence[SmoothFunction], moments: Moments) -> tuple[Floats, Floats]:
    """Values [..., functions] and gradients [..., functions, strata, k]."""
    values = np.stack([function.value(moments.mean) for function in functions], axis=-1)
    return values, np.stack([function.gradient(moments.mean) for function in functions], axis=-3)


def _covariances(slopes: Floats, moments: Moments) -> Floats:
    """What each stratum adds to the functions' covariances [..., strata, functions, functions]."""
    with np.errstate(invalid="ignore"):
        spread = np.einsum("...fsi,...sij->...sfj", slopes, moments.covariance, optimize=True)
        spread /= np.maximum(moments.size, 1)[:, None, None]
        return np.asarray(spread @ np.moveaxis(slopes, -3, -1))


def _of_differences(covariances: Floats, first: Ints, second: Ints) -> Floats:
    """Variances of differences from covariances [..., functions, functions]."""
    own = np.diagonal(covariances, axis1=-2, axis2=-1)
    return np.asarray(own[..., first] + own[..., second] - 2 * covariances[..., first, second])


def _family(
    value: Floats, parts: Floats, most: Floats, size: Floats, again: Floats, variances: Floats
) -> Family:
    """From values and variances [strata, k], in the draws [draws, k]; `most` is nan without an error."""
    parts = np.maximum(parts, 0)
    total = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = [min(freedom_of(part, size), limit) for part, limit in zip(parts.T, most, strict=True)]
        ratios = (again - value) / np.sqrt(np.maximum(variances, 0))
    error = np.where(np.isnan(most), np.nan, np.sqrt(total))
    return Family(value, error, np.array(freedom), ratios)


def sidak(number: int) -> float:
    """The normal quantile at which so many independent intervals hold together."""
    return float(special.ndtri((1 + LEVEL ** (1 / max(number, 1))) / 2))


def differences_of_shares(positive: Floats, number: Floats, worth: Floats, draws: int, seed: int) -> Family:
    """The differences of all pairs of independent proportions, each of `worth` * `number` samples.

    One success and one failure are added to each (Agresti and Caffo, 2000, The American Statistician 54);
    the draws are binomial, from the rates that this gives.
    """
    size = np.floor(np.nan_to_num(worth * number))
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(positive / number)

    def adjusted(successes: Floats) -> tuple[Floats, Floats]:
        rates = (successes + 1) / (size + 2)
        return rates, rates * (1 - rates) / (size + 2)

    rates, variances = adjusted(shares * size)
    generator = np.random.default_rng(seed)
    again, spread = adjusted(
        generator.binomial(size.astype(np.int64), rates, (draws, len(size))).astype(float)
    )
    again -= adjusted(size * rates)[0]  # shrunk twice: what the draws are on average
    first, second = pairs(len(size))
    value, error = np.where(number > 0, rates, np.nan), np.where(size > 0, variances, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = (again[:, first] - again[:, second]) / np.sqrt(spread[:, first] + spread[:, second])
    return Family(
        value[first] - value[second],
        np.sqrt(error[first] + error[second]),
        np.full(len(first), math.inf),
        ratios,
    )


def bounds(family: Family) -> tuple[Floats, Floats]:
    """Bounds that hold together; nan where there are too few samples for an error."""
    spread = family.error > 0
    reach = np.where(spread, _critical(family, spread), 0.0) * family.error
    return family.value - reach, family.value + reach


def _critical(family: Family, spread: Bools) -> Floats:
    """How many standard errors the bounds are away."""
    number = int(spread.sum())
    students = np.asarray(special.stdtrit(family.freedom, (1 + LEVEL ** (1 / max(number, 1))) / 2))
    if not number or family.freedom[spread].min() < LEAST_FREEDOM:
        return students
    sizes = np.abs(family.ratios[:, spread])
    largest = np.sort(np.where(np.isfinite(sizes), sizes, np.inf).max(axis=1))
    place = min(len(largest), math.ceil((len(largest) + 1) * LEVEL)) - 1
    return np.full(len(spread), largest[place]) if np.isfinite(largest[place]) else students


def rank_bounds(differences: Family, number: int) -> tuple[list[float], list[float]]:
    """The least and the largest rank of each of `number` values, from the differences of all `pairs`."""
    low, high = bounds(differences)
    first, second = pairs(number)
    behind = np.zeros((number, number), dtype=bool)  # [j, k]: j is surely above k
    behind[first, second], behind[second, first] = low > 0, high < 0
    known = np.zeros(number, dtype=bool)
    there = np.isfinite(differences.value)
    known[first[there]] = known[second[there]] = True
    least = np.where(known, 1.0 + behind.sum(axis=1), np.nan)
    most = np.where(known, float(known.sum()) - behind.sum(axis=0), np.nan)
    return least.tolist(), most.tolist()
