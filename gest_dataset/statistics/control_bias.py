"""Word-filling measures with control groups (Pikuliak et al., 2023).

A quadruplet fills the keywords w_s (stereotype) and w_a (anti-stereotype) into a template about
the original group (t_o) and about a control group (t_c):

    ss(t)  = ln p(w_s, t) - ln p(w_a, t)              of t_o and of t_c     (eq. 1)
    csk(w) = ln p(w, t_o) - ln p(w, t_c)              of w_s and of w_a     (eq. 2)
    f      = ss(t_o) - ss(t_c) = csk(w_s) - csk(w_a)                        (eq. 3)
    cs     = as CrowS-Pairs: the words that both sentences of a pair share, summed

The second of each, on the control group or the control pair, should show no stereotype. `_mu` is
the mean of a score, `_plus` the share of positive scores, `_rho` Pearson's correlation.

    false positive rate = share of ss(t_c) > ss(t_o) among the samples with ss(t_o) > 0
    false negative rate = share of ss(t_c) < ss(t_o) among the samples with ss(t_o) < 0
    agreement of f and x = share of samples on which f > 0 and x > 0 are both true or both false
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gest_dataset.errors import DataError
from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED, UNDEFINED, Interval, linear
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.correlation import pearson
from gest_dataset.statistics.proportions import interval_entries, proportion
from gest_dataset.statistics.resampling import resample, select_units

SampleScores = dict[str, Floats]

MEANS = {
    "ss_mu_original": "ss_original",
    "ss_mu_control": "ss_control",
    "csk_mu_original": "csk_original",
    "csk_mu_control": "csk_control",
    "cs_mu_original": "cs_original",
    "cs_mu_control": "cs_control",
    "f_mu": "f",
}
SHARES = {
    "ss_plus_original": "ss_original",
    "ss_plus_control": "ss_control",
    "cs_plus_original": "cs_original",
    "cs_plus_control": "cs_control",
    "f_plus": "f",
}
# The means whose samples' standard deviation a result gives too: what a run is judged by
SPREADS = ("f_mu", "cs_mu_original")
CORRELATIONS = {
    "ss_rho": ("ss_original", "ss_control"),
    "csk_rho": ("csk_original", "csk_control"),
    "cs_rho": ("cs_original", "cs_control"),
    "cs_csk_rho": ("cs_original", "csk_original"),
    "f_ss_rho": ("f", "ss_original"),
    "f_cs_rho": ("f", "cs_original"),
}
AGREEMENTS = {"f_ss_agreement": ("f", "ss_original"), "f_cs_agreement": ("f", "cs_original")}


def control_scores(
    predictions: Sequence[Sequence[float]] | None, cs: Sequence[Sequence[float | None]] | None
) -> SampleScores:
    """The scores of each sample, by name, as far as they are defined: sets differ in what they have."""
    scores: SampleScores = {}
    if predictions is not None:
        original_s, original_a, control_s, control_a = checks.finite_array("predictions", predictions, 4).T
        scores["ss_original"] = original_s - original_a
        scores["ss_control"] = control_s - control_a
        scores["csk_original"] = original_s - control_s
        scores["csk_control"] = original_a - control_a
        scores["f"] = scores["ss_original"] - scores["ss_control"]
    if cs is not None:
        for name, column in zip(
            ("cs_original", "cs_control"), checks.nullable_columns("cs", cs, 2), strict=True
        ):
            if column is not None:
                scores[name] = column
    return scores


def control_bias(
    predictions: Sequence[Sequence[float]] | None,
    cs: Sequence[Sequence[float | None]] | None = None,
    log_base: float = math.e,
    units: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """All measures of the paper's tables 1-3; nan, with a warning, where a set has no such score.

    `predictions` are rows of ln p of the keyword: original stereotype, original anti-stereotype,
    control stereotype, control anti-stereotype (None for sets without keywords); `cs` are rows of
    the pairs' CrowS-Pairs scores, original and control (None in all rows for sets without control
    pairs, or in single rows without one: cs is of the other rows then, `n_cs` of them). Means are in
    logarithms to `log_base`. Samples of one of the `units` (copies of an original pair with other control
    groups) are resampled together.
    """
    unit = checks.log_of_base(log_base)
    inputs = {name: rows for name, rows in (("predictions", predictions), ("cs", cs)) if rows is not None}
    if not inputs:
        raise DataError.at(
            "predictions", "index 0", "neither predictions nor cs: there is nothing to measure"
        )
    number = checks.same_length(**inputs)
    together = checks.unit_codes("units", units, number)
    scores = control_scores(predictions, cs)
    if predictions is None:
        checks.warn_undefined("no predictions: ss, csk, f and what is built from them are nan")
    if number < 2:
        checks.warn_undefined("one sample only: bounds of means and correlations are nan")
    elif together is not None and not together.any():
        checks.warn_undefined("one unit only: bounds are nan")
    result = _means(scores, unit, together, draws, seed)
    for name, score in SHARES.items():
        (values,) = _complete(scores, score)
        result |= proportion(name, values > 0, _units_of(together, scores, score))
    for name, (first, second) in CORRELATIONS.items():
        x, y = _complete(scores, first, second)
        result[name] = pearson(x, y) if len(x) else math.nan
        if len(x) > 1 and math.isnan(result[name]):
            checks.warn_undefined(f"{name} is nan: {first} or {second} is the same in all samples")
    for name, (first, second) in AGREEMENTS.items():
        x, y = _complete(scores, first, second)
        result |= proportion(name, (x > 0) == (y > 0), _units_of(together, scores, first, second))
    numbers = {"n": number, "n_cs": len(_complete(scores, "cs_original")[0])}
    return result | _errors(scores, together) | numbers


def _there(scores: SampleScores, *names: str) -> Any:
    """Which samples have all of some scores."""
    return np.all([np.isfinite(scores[name]) for name in names], axis=0)


def _complete(scores: SampleScores, *names: str) -> list[Floats]:
    """Some scores of the samples that have all of them."""
    if any(name not in scores for name in names):
        return [np.empty(0) for _ in names]
    there = _there(scores, *names)
    return [scores[name][there] for name in names]


def _units_of(units: Ints | None, scores: SampleScores, *names: str) -> Ints | None:
    """The units of the samples that have all of some scores."""
    if any(name not in scores for name in names):
        return None
    return select_units(units, _there(scores, *names))


def _means(scores: SampleScores, unit: float, units: Ints | None, draws: int, seed: int) -> dict[str, Any]:
    """Means with bounds, from resamples of whole samples, so that all are of the same draws."""
    names = sorted(scores)
    groups = [names]
    if any(np.isnan(scores[name]).any() for name in names):
        # the rows without cs count for everything else
        own = [name for name in names if name.startswith("cs_")]
        groups = [group for group in ([name for name in names if name not in own], own) if group]
    intervals: dict[str, Interval] = {}
    for group in groups:
        rows = np.column_stack(_complete(scores, *group)) / unit
        whole = np.zeros(len(rows), dtype=np.int64)
        resamples = resample(rows, whole, 1, _units_of(units, scores, *group), draws, seed)
        for column, name in enumerate(group):
            intervals[name] = resamples.interval(linear(np.eye(len(group))[[column]]))
    result: dict[str, Any] = {}
    for name, score in MEANS.items():
        result |= interval_entries(name, intervals.get(score, UNDEFINED))
    for name in SPREADS:
        (values,) = _complete(scores, MEANS[name])
        result[f"{name}_spread"] = float(np.sort(values).std(ddof=1)) / unit if len(values) > 1 else math.nan
    return result


def _errors(scores: SampleScores, units: Ints | None) -> dict[str, float]:
    """False positive and false negative rates with bounds."""
    empty = np.array([])
    if "ss_original" not in scores:
        units = None
    original, control = scores.get("ss_original", empty), scores.get("ss_control", empty)
    result: dict[str, float] = {}
    for name, sign, what in (
        ("false_positive_rate", 1, "stereotypical"),
        ("false_negative_rate", -1, "anti-stereotypical"),
    ):
        preferred = sign * original > 0
        if len(original) and not preferred.any():
            checks.warn_undefined(f"{name} is nan: the model prefers no {what} keyword")
        result |= proportion(
            name, (sign * control > sign * original)[preferred], select_units(units, preferred)
        )
    return result
