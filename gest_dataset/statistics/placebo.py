"""The placebo band: how large is the effect d = ln g_s / s of words that do not differ in gender?

A pair of words has the score ln P(first) - ln P(second) in each sample. The band holds 95 % of |d| over the
pairs (split conformal prediction; docs/limits.md). Over several templates limits are averaged: that is the
quantile of the mean effect if a pair's effects in the templates are as dependent as they can be.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE

COVERAGE = 0.95
_LEVELS = np.linspace(0, 1, 41)


def effects(values: npt.ArrayLike, stereotypes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Floats:
    """|d| of pairs of words from ln P (or logits) [samples, words]; empty if a stereotype has no sample.

    `pairs` are indices of words, `stereotypes` count from 1.
    """
    words = np.asarray(values, dtype=float)
    strata = np.asarray(stereotypes) - 1
    sizes = np.bincount(strata, minlength=len(MALE_MINUS_FEMALE))
    if not sizes.all() or not (sizes > 1).any():
        return np.empty(0)
    members = np.eye(len(sizes))[strata]
    means = members.T @ words / sizes[:, None]
    left, right = np.asarray(pairs).T
    centred = words - means[strata]
    squares = members.T @ (centred[:, left] - centred[:, right]) ** 2
    several = sizes > 1
    spreads = np.sqrt((squares[several] / (sizes[several, None] - 1)).mean(axis=0))
    ln_g_s = MALE_MINUS_FEMALE @ (means[:, left] - means[:, right])
    d = np.zeros_like(ln_g_s)
    np.divide(ln_g_s, spreads, out=d, where=spreads > 0)
    return np.asarray(np.abs(d))


def limit(sizes: npt.ArrayLike) -> float:
    """The limit that a further pair's |d| exceeds in at most 5 % of cases; infinite for fewer than 19."""
    ordered = np.sort(np.asarray(sizes, dtype=float))
    rank = math.ceil(COVERAGE * (len(ordered) + 1))
    return float(ordered[rank - 1]) if rank <= len(ordered) else math.inf


def summary(sizes: Floats) -> dict[str, Any]:
    """What a run stores of the |d| of a template's pairs."""
    quantiles = np.quantile(sizes, _LEVELS).round(5).tolist()
    return {"pairs": len(sizes), "limit": limit(sizes), "quantiles": quantiles}


def compare(d: float, templates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The band of one or several templates (`summary` of each), and the share of pairs with |d| below d's."""
    quantiles = np.mean([template["quantiles"] for template in templates], axis=0)
    return {
        "limit": math.fsum(template["limit"] for template in templates) / len(templates),
        "percentile": float(np.interp(abs(d), quantiles, _LEVELS)),
        "pairs": min(template["pairs"] for template in templates),
    }
