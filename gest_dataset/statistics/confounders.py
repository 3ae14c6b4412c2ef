"""Other reasons for a difference than the stereotype: what sentences are about, and how they are made.

Sentences about women's and about men's stereotypes differ in more than the stereotype. For each property x
of a sentence: its correlation with the score within stereotypes, and g_s with sentences made equal in all of
them,

    ln r = a_i + b x      adjusted ln g_s = weighted sum of a_i, as in eq. 4

by least squares with an intercept for each stereotype. A large change says that g_s is about the property
too; no change does not say that nothing else could be behind it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import regex
from scipy import special

from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.ranks import pearson
from gest_dataset.statistics.topical import mentions
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import STEREOTYPES

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*")
_NEGATIONS = frozenset(
    ["not", "never", "no", "nobody", "nothing", "none", "neither", "nor", "nowhere", "cannot"]
)


@dataclass(frozen=True)
class Adjusted:
    """ln g_s as it is and with sentences made equal, with bounds, and each property's correlation."""

    ln_g_s: float
    adjusted: float
    low: float
    high: float
    correlations: dict[str, float]


def words_of(sentence: str) -> list[str]:
    """The words of an English sentence, in lower case."""
    return [word.lower() for word in _WORD.findall(sentence)]


def is_negated(sentence: str) -> bool:
    """Whether an English sentence holds a negation: a word such as *never*, or one in *n't*."""
    words = [word.replace("’", "'") for word in words_of(sentence)]
    return any(word in _NEGATIONS or word.endswith("n't") for word in words)


def properties(sentences: Sequence[str]) -> dict[str, Floats]:
    """Length in words, negation, mention of the family, and how often a sentence's words occur in the set.

    The last is the mean ln of the number of the set's sentences that hold a word: rare words, rare topics.
    """
    split = [words_of(sentence) for sentence in sentences]
    holding: dict[str, int] = {}
    for words in split:
        for word in set(words):
            holding[word] = holding.get(word, 0) + 1
    return {
        "length in words": np.array([float(len(words)) for words in split]),
        "negation": np.array([float(is_negated(sentence)) for sentence in sentences]),
        "mention of the family": np.array(mentions(sentences), dtype=float),
        "commonness of words": np.array(
            [float(np.mean([math.log(holding[w]) for w in words])) if words else 0.0 for words in split]
        ),
    }


def adjusted_g_s(scores: Floats, stereotypes: Ints, measured: Mapping[str, Floats]) -> Adjusted:
    """g_s beside properties of the sentences; `stereotypes` counts from 0.

    Bounds are of White's (1980) covariance in MacKinnon and White's (1985) form HC3. nan where a stereotype
    has fewer than two samples.
    """
    sizes = np.bincount(stereotypes, minlength=len(STEREOTYPES))
    names = [name for name, values in measured.items() if np.ptp(values) > 0]
    if (sizes < 2).any() or len(scores) <= len(STEREOTYPES) + len(names):
        return Adjusted(math.nan, math.nan, math.nan, math.nan, dict.fromkeys(measured, math.nan))

    def within(values: Floats) -> Floats:
        means = np.bincount(stereotypes, values, minlength=len(STEREOTYPES)) / sizes
        return np.asarray(values - means[stereotypes])

    columns = np.column_stack(
        [np.eye(len(STEREOTYPES))[stereotypes], *(measured[n] - measured[n].mean() for n in names)]
    )
    inverse = np.linalg.pinv(columns.T @ columns)
    coefficients = inverse @ columns.T @ scores
    leverage = np.einsum("ij,jk,ik->i", columns, inverse, columns)
    residual = (scores - columns @ coefficients) / np.maximum(1 - leverage, 1e-9)
    weights = np.r_[MALE_MINUS_FEMALE, np.zeros(len(names))]
    error = float(np.sqrt((((columns @ (inverse @ weights)) * residual) ** 2).sum()))
    adjusted = float(weights @ coefficients)
    reach = error * float(special.stdtrit(len(scores) - columns.shape[1], (1 + LEVEL) / 2))
    means = np.bincount(stereotypes, scores, minlength=len(STEREOTYPES)) / sizes
    correlations = {name: pearson(within(scores), within(values)) for name, values in measured.items()}
    return Adjusted(
        float(MALE_MINUS_FEMALE @ means), adjusted, adjusted - reach, adjusted + reach, correlations
    )
