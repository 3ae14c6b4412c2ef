"""Word-filling measures with control groups (Pikuliak et al., 2023; formulas in docs/metrics.md).

A quadruplet fills the keywords w_s (stereotype) and w_a (anti-stereotype) into a template about the original
group and about a control group, which gives ss, csk and f; cs is the CrowS-Pairs score. The second score of
each, for the control group or control pair, should show no stereotype. `_mu` is the mean of a score, `_plus`
the share of positive scores, `_rho` Pearson's correlation.
"""

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gest_dataset.errors import DataError
from gest_dataset.statistics import bootstrap, checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED, Interval, linear, resample, select_units
from gest_dataset.statistics.checks import Bools, Floats, Ints
from gest_dataset.statistics.correlation import pearson
from gest_dataset.statistics.proportions import proportion

SampleScores = dict[str, Floats]
_SIDES = ("original", "control")
MEANS = {f"{score}_mu_{side}": f"{score}_{side}" for score in ("ss", "csk", "cs") for side in _SIDES}
MEANS |= {"f_mu": "f", "f_prefix_mu": "f_prefix"}
SHARES = {f"{score}_plus_{side}": f"{score}_{side}" for score in ("ss", "cs") for side in _SIDES}
SHARES["f_plus"] = "f"
_SPREADS = ("f_mu", "cs_mu_original")  # headlines, whose samples' standard deviation a result has too
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
    predictions: Sequence[Sequence[float]] | None,
    cs: Sequence[Sequence[float | None]] | None,
    f_prefix: Sequence[Sequence[float | None]] | None = None,
) -> SampleScores:
    """The scores of each sample by name; nan where a sample has none."""
    scores: SampleScores = {}
    if predictions is not None:
        original_s, original_a, control_s, control_a = checks.finite_array("predictions", predictions, 4).T
        scores["ss_original"] = original_s - original_a
        scores["ss_control"] = control_s - control_a
        scores["csk_original"] = original_s - control_s
        scores["csk_control"] = original_a - control_a
        scores["f"] = scores["ss_original"] - scores["ss_control"]
    if cs is not None:
        scores["cs_original"], scores["cs_control"] = checks.nullable_columns("cs", cs, 2)
    if f_prefix is not None:
        (scores["f_prefix"],) = checks.nullable_columns("f_prefix", f_prefix, 1)
    return scores


def control_bias(
    predictions: Sequence[Sequence[float]] | None,
    cs: Sequence[Sequence[float | None]] | None = None,
    log_base: float = math.e,
    units: Sequence[Hashable] | None = None,
    *,
    f_prefix: Sequence[Sequence[float | None]] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """All measures of the paper's tables 1 to 3; nan, with a warning, if a set has no such score.

    `predictions` are rows of ln p of the keyword: original stereotype, original anti-stereotype, control
    stereotype, control anti-stereotype (None for sets without keywords). `cs` are rows of CrowS-Pairs scores,
    original and control; rows of None are left out, and `n_cs` counts the others. `f_prefix` has one number
    or None in each row. Means are logarithms to `log_base`. Samples of a unit (copies of an original pair)
    are resampled together.
    """
    unit_length = checks.log_of_base(log_base)
    inputs = {name: rows for name, rows in (("predictions", predictions), ("cs", cs)) if rows is not None}
    if not inputs:
        raise DataError("control_bias needs predictions or cs.")
    unit_codes = checks.unit_codes(units, **inputs)
    number = len(next(iter(inputs.values())))
    # Scores that the set does not have are nan, like those of samples without cs
    scores = {name: np.full(number, np.nan) for name in MEANS.values()} | control_scores(
        predictions, cs, f_prefix
    )
    result = _means(scores, unit_length, unit_codes, draws, seed)
    for name, score in SHARES.items():
        (values,), rows = _complete(scores, score)
        result |= proportion(name, values > 0, select_units(unit_codes, rows))
    for name, pair in CORRELATIONS.items():
        result[name] = pearson(*_complete(scores, *pair)[0])
    for name, pair in AGREEMENTS.items():
        (x, y), rows = _complete(scores, *pair)
        result |= proportion(name, (x > 0) == (y > 0), select_units(unit_codes, rows))
    for name, sign in (("false_positive_rate", 1), ("false_negative_rate", -1)):
        preferred = sign * scores["ss_original"] > 0
        hits = (sign * scores["ss_control"] > sign * scores["ss_original"])[preferred]
        result |= proportion(name, hits, select_units(unit_codes, preferred))
    return result | {"n": number, "n_cs": int(np.isfinite(scores["cs_original"]).sum())}


def _complete(scores: SampleScores, *names: str) -> tuple[list[Floats], Bools]:
    """Scores of the samples that have all of them, and which samples these are."""
    rows: Bools = np.all([np.isfinite(scores[name]) for name in names], axis=0)
    return [scores[name][rows] for name in names], rows


def _means(
    scores: SampleScores, unit_length: float, units: Ints | None, draws: int, seed: int
) -> dict[str, Any]:
    """Means with bounds, from resamples of whole samples."""
    intervals: dict[str, Interval] = {}
    groups: dict[bytes, list[str]] = {}  # scores that the same rows have
    for name, values in sorted(scores.items()):
        if np.isfinite(values).any():
            groups.setdefault(np.isfinite(values).tobytes(), []).append(name)
    for group in groups.values():
        columns, chosen = _complete(scores, *group)
        rows = np.column_stack(columns) / unit_length
        resamples = resample(rows, bootstrap.one_stratum(rows), 1, select_units(units, chosen), draws, seed)
        for column, name in enumerate(group):
            intervals[name] = resamples.interval(linear(np.eye(len(group))[[column]]))
    result: dict[str, Any] = {}
    for name, score in MEANS.items():
        result |= bootstrap.interval_entries(name, intervals.get(score, bootstrap.UNDEFINED))
    for name in _SPREADS:
        (values,), _ = _complete(scores, MEANS[name])
        spread = float(np.sort(values).std(ddof=1)) / unit_length if len(values) > 1 else math.nan
        result[f"{name}_spread"] = spread
    return result
