"""Ranks and correlations, and the reliability of the profile of stereotypes, the 16 means of ln r (ln q_i).

In the functions on reliability `scores` are ln ratios [samples, templates], nan where a score is missing,
with one column without templates. `stereotypes` counts from 0.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import LEVEL, SEED
from gest_dataset.statistics.checks import Bools, Floats, Ints
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import STEREOTYPES

MIN_ROWS = 4  # for the interval of a correlation
SPLITS = 200
LOW_RELIABILITY = 0.8  # below this the order of stereotypes is mostly due to the sample of sentences
# Between stereotypes and between sentences (equal in all templates), between templates, of stereotypes and
# templates, and of a sentence in one template only
_PARTS = ("stereotype", "sentence", "template", "interaction", "rest")


def feminine_ranks(rates: Sequence[float]) -> list[float]:
    """The rank of each stereotype by its masculine rate: 1 is the most feminine.

    Pikuliak et al. (2024), section 4.1.3. Equal rates share their mean rank; the rank of nan is nan.
    """
    return [float(rank) for rank in pd.Series(rates, dtype=float).rank()]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rho of the rates q_i (or p_i) of two runs; nan if one side does not vary."""
    checks.same_length(first=first, second=second)
    sides = (checks.finite_array("first", first), checks.finite_array("second", second))
    return pearson(*(pd.Series(side).rank().to_numpy() for side in sides))


def pearson(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Pearson's correlation; nan if one side does not vary."""
    a, b = (np.asarray(side, dtype=float) for side in (first, second))
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    order = np.lexsort((b, a))  # makes rounding independent of the order of samples
    a, b = a[order] - a[order].mean(), b[order] - b[order].mean()
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


def mean_correlation(values: Floats, pairs: Sequence[tuple[int, int]]) -> tuple[float, float, float]:
    """R, the mean of Pearson's r over pairs of columns, and its bounds; `values` [rows, columns].

    The interval is Tukey's jackknife of z = atanh R (Fisher, 1915) over rows. R is nan without a pair or if a
    column does not vary; bounds are nan where R is, with fewer than 4 rows, if a column varies by one row
    alone, and at R = 1 or -1.
    """
    number = len(values)
    if not pairs or number < 2:
        return math.nan, math.nan, math.nan
    sides = np.array(pairs).T

    def mean_of(rows: Floats) -> float:
        if (np.ptp(rows[:, np.unique(sides)], axis=0) == 0).any():
            return math.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.asarray(np.corrcoef(rows, rowvar=False))[tuple(sides)].mean())

    mean = mean_of(values)
    if math.isnan(mean) or number < MIN_ROWS or np.isclose(abs(mean), 1, rtol=0, atol=1e-12):
        return mean, math.nan, math.nan
    with np.errstate(divide="ignore"):
        z = np.arctanh([mean_of(np.delete(values, row, axis=0)) for row in range(number)])
    if not np.isfinite(z).all():
        return mean, math.nan, math.nan
    error = math.sqrt((number - 1) / number * float(((z - z.mean()) ** 2).sum()))
    reach = float(special.stdtrit(float(number - 1), (1 + LEVEL) / 2)) * error
    centre = math.atanh(mean)
    return mean, math.tanh(centre - reach), math.tanh(centre + reach)


def split_half(scores: Floats, stereotypes: Ints, splits: int = SPLITS, seed: int = SEED) -> float:
    """Reliability of the profile: the mean correlation r of random halves, stepped up to full length.

    Spearman (1910) and Brown (1910): 2 r / (1 + r); 0 if r is negative, which it is by chance only. nan if a
    stereotype has fewer than two samples or a profile does not vary.
    """
    values = scores.mean(axis=1)  # nan where a template is missing
    known = np.isfinite(values)
    values, groups = values[known], stereotypes[known]
    present = np.unique(groups)
    sizes = np.bincount(groups, minlength=len(STEREOTYPES))[present]
    if len(present) < 3 or (sizes < 2).any():
        return math.nan
    generator = np.random.default_rng(seed)
    order = np.argsort(groups, kind="stable")
    values, starts = values[order], np.r_[0, np.cumsum(sizes)[:-1]]
    first = np.repeat(starts, sizes)
    is_odd = (np.arange(len(values)) - first) % 2 == 1
    correlations = []
    for _ in range(splits):
        shuffled = values[np.lexsort((generator.random(len(values)), first))]
        even, odd = (np.add.reduceat(np.where(side, shuffled, 0.0), starts) for side in (~is_odd, is_odd))
        correlations.append(pearson(even / ((sizes + 1) // 2), odd / (sizes // 2)))
    mean = float(np.mean(correlations))
    return 2 * mean / (1 + mean) if not mean < 0 else 0.0


def template_agreement(scores: Floats, stereotypes: Ints) -> tuple[float, float]:
    """Agreement of templates: the mean correlation of their profiles, and of their scores within stereotypes.

    Pikuliak et al. (2024), section 4.2.3: 0.87 for profiles, lower for samples. nan with one template.
    """
    number = scores.shape[1]
    complete = np.isfinite(scores).all(axis=1)
    values, groups = scores[complete], stereotypes[complete]
    if number < 2 or len(values) < 3:
        return math.nan, math.nan
    present = np.unique(groups)
    profile = np.array([values[groups == group].mean(axis=0) for group in present])
    within = values - profile[np.searchsorted(present, groups)]
    pairs = [(i, j) for i in range(number) for j in range(i)]
    means = [np.mean([pearson(side[:, i], side[:, j]) for i, j in pairs]) for side in (profile, within)]
    return float(means[0]), float(means[1])


def variance_shares(scores: Floats, stereotypes: Ints) -> dict[str, float]:
    """Shares of variance components by expected mean squares; negative estimates count as 0.

    Model: score = stereotype + sentence (within its stereotype) + template + stereotype x template + rest,
    all but the template random, on the samples with a score in every template. With one template the
    sentence and the rest cannot be separated and are both counted as `rest`.
    """
    complete = np.isfinite(scores).all(axis=1)
    values, groups = scores[complete], stereotypes[complete]
    present, index, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    templates, kinds, number = values.shape[1], len(present), len(values)
    if kinds < 2 or number <= kinds:
        return dict.fromkeys(_PARTS, math.nan)
    # n0 of an unbalanced one-way layout
    size = (number - (sizes**2).sum() / number) / (kinds - 1)
    cells = np.array([values[index == i].mean(axis=0) for i in range(kinds)])
    profile, sentence = cells.mean(axis=1), values.mean(axis=1)
    columns = (sizes[:, None] * cells).sum(axis=0) / number
    whole = columns.mean()
    between = templates * (sizes * (profile - whole) ** 2).sum() / (kinds - 1)
    within = templates * ((sentence - profile[index]) ** 2).sum() / (number - kinds)
    if templates == 1:
        return _shares([max((between - within) / size, 0.0), 0.0, 0.0, 0.0, within])
    crossed = cells - profile[:, None] - columns + whole
    interaction = (sizes[:, None] * crossed**2).sum() / ((kinds - 1) * (templates - 1))
    left = values - cells[index] - sentence[:, None] + profile[index][:, None]
    rest = (left**2).sum() / ((number - kinds) * (templates - 1))
    estimates = [
        max((between - within - interaction + rest) / (templates * size), 0.0),
        max((within - rest) / templates, 0.0),
        max(float(columns.var(ddof=1)) - interaction / number, 0.0),
        max((interaction - rest) / size, 0.0),
        rest,
    ]
    return _shares(estimates)


def _shares(parts: list[float]) -> dict[str, float]:
    total = sum(parts) or math.nan
    return {name: float(part / total) for name, part in zip(_PARTS, parts, strict=True)}


def creator_jackknife(scores: Floats, stereotypes: Ints, creators: Sequence[str]) -> dict[str, Any]:
    """What g_s would be for sentences of other people: the jackknife over creators, with g_s `by_creator`.

    Bounds are nan with fewer than two creators, and so is g_s of a creator without a sentence of some
    stereotype. With k creators Student's t has k - 1 degrees of freedom (Efron and Tibshirani, 1993, chapter
    11).
    """
    names, index = np.unique(np.asarray(creators, dtype=str), return_inverse=True)

    def ln_g_s(rows: Bools) -> float:
        sums = np.bincount(stereotypes[rows], scores[rows], minlength=len(STEREOTYPES))
        sizes = np.bincount(stereotypes[rows], minlength=len(STEREOTYPES))
        return float(MALE_MINUS_FEMALE @ (sums / sizes)) if sizes.all() else math.nan

    value, reach, number = ln_g_s(np.ones(len(scores), dtype=bool)), math.nan, len(names)
    if number > 1:
        without = np.array([ln_g_s(index != i) for i in range(number)])
        error = math.sqrt((number - 1) / number * float(((without - without.mean()) ** 2).sum()))
        reach = error * float(special.stdtrit(number - 1, (1 + LEVEL) / 2))
    return {
        "g_s": math.exp(value),
        "g_s_low": math.exp(value - reach),
        "g_s_high": math.exp(value + reach),
        "by_creator": {str(name): math.exp(ln_g_s(index == i)) for i, name in enumerate(names)},
    }
