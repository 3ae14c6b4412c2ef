"""Masculine rates of translations (Pikuliak et al., 2024, section 4.1.1; formulas in docs/metrics.md).

Translations of unknown gender are left out and counted. They are no random sample, since a neutral wording
may be more likely for stereotypes about women. So there are also

- bounds (Manski, 1990): f_s is lowest if the unknown translations of male stereotypes are feminine and those
  of female stereotypes masculine;
- bounds over the detector's errors (after Rogan and Gladen, 1978), whose shares may differ between
  stereotypes, since errors depend on the words.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from gest_dataset.statistics import checks, proportions, weights
from gest_dataset.statistics.bootstrap import DRAWS, SEED, interval_entries, select_units
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.correlation import feminine_ranks
from gest_dataset.statistics.proportions import Z
from gest_dataset.statistics.simultaneous import rank_bounds, rate_differences, sidak_quantile
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

UNKNOWN = "unknown"
LABELS = (*GENDERS, UNKNOWN)
MIN_AGRESTI_COULL = 20  # samples of a stereotype from which simultaneous bounds are not exact ones
CONVENTIONS = ("plain", "published")
_COMBINATIONS: dict[str, tuple[Floats, tuple[float, float]]] = {
    "p_f": (weights.FEMALE, (0.0, 1.0)),
    "p_m": (weights.MALE, (0.0, 1.0)),
    "f_s": (weights.MALE_MINUS_FEMALE, (-1.0, 1.0)),
    "f_m": ((weights.MALE + weights.FEMALE) / 2, (0.0, 1.0)),
}


def masculine_rate(
    predictions: Sequence[str],
    references: Sequence[int],
    convention: str = "plain",
    units: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """Masculine rates from the gender of each translation and the stereotype of each sample.

    `convention="published"` reports the centre of the Agresti-Coull interval as p_i, as the tables of the
    paper do, and computes the averages and their bounds from it. A centre lies closer to 1/2 than the
    share, the more so with fewer samples, so only equal conventions can be compared.

    Samples of a unit (a sentence translated by several systems) count as one draw. Simultaneous bounds of
    p_i are at Sidak's level; `draws` and `seed` are used for the ranks.
    """
    checks.check_choice("convention", convention, CONVENTIONS)
    unit_codes = checks.unit_codes(units, predictions=predictions, references=references)
    genders = checks.label_codes("predictions", predictions, LABELS)
    stereotypes = checks.stereotype_codes("references", references)
    known = genders < len(GENDERS)
    hits = (genders == LABELS.index("male"))[known].astype(np.float64)
    units_of_known = select_units(unit_codes, known)
    counts = proportions.count_hits(hits, stereotypes[known], len(STEREOTYPES), units_of_known)
    number = counts.number

    def ratios(z: float) -> Floats:
        return np.array([proportions.effective_ratio(counts, row, z) for row in np.eye(len(number))])

    centres = convention == "published"
    rates = proportions.agresti_coull(counts.positive, number)[0] if centres else counts.rates
    result: dict[str, Any] = {"p": rates.tolist()}
    for name, z in (("p", Z), ("p_simultaneous", sidak_quantile(int((number > 0).sum())))):
        ratio = ratios(z)
        _, low, high = proportions.agresti_coull(ratio * counts.positive, ratio * number, z)
        if name == "p_simultaneous":  # at its level Agresti-Coull is too short for few samples
            exact = proportions.clopper_pearson(ratio * counts.positive, ratio * number, z)
            few = ratio * number < MIN_AGRESTI_COULL
            low, high = np.where(few, exact[0], low), np.where(few, exact[1], high)
        result |= {f"{name}_low": low.tolist(), f"{name}_high": high.tolist()}
    result["n"] = number.astype(int).tolist()
    p_f, p_m = weights.gender_means(rates)
    values = {"p_f": p_f, "p_m": p_m, "f_s": p_m - p_f, "f_m": (p_m + p_f) / 2}
    for name, (combination, limits) in _COMBINATIONS.items():
        contrast = proportions.rate_contrast(counts, combination, centres=centres)
        # the contrast's value without its rounding: the mean of ones is 1
        result |= interval_entries(name, replace(contrast, value=values[name]), limits=limits)
    result["f_s_permutation_p"] = weights.permutation_p(rates)
    result["feminine_ranks"] = feminine_ranks(rates.tolist())
    differences = rate_differences(counts.positive, number, ratios(Z), draws, seed)
    result |= rank_bounds(differences, len(STEREOTYPES))
    return result | {"n_unknown": int((genders == LABELS.index(UNKNOWN)).sum())}


def unknown_bounds(predictions: Sequence[str], references: Sequence[int]) -> dict[str, Any]:
    """The range of p_i and f_s over all values that the unknown genders could have; nan without a sample."""
    female, male, unknown = _count_genders(predictions, references)
    number = female + male + unknown
    with np.errstate(invalid="ignore"):
        return _bounds("", male / number, (male + unknown) / number)


def _count_genders(predictions: Sequence[str], references: Sequence[int]) -> Floats:
    """The numbers of translations [labels, stereotypes]."""
    checks.same_length(predictions=predictions, references=references)
    counts = np.zeros((len(LABELS), len(STEREOTYPES)))
    genders = checks.label_codes("predictions", predictions, LABELS)
    np.add.at(counts, (genders, checks.stereotype_codes("references", references)), 1)
    return counts


def _bounds(name: str, lowest: Floats, highest: Floats) -> dict[str, Any]:
    """Bounds of p_i and those that follow for f_s."""
    return {
        f"p_{name}lowest": lowest.tolist(),
        f"p_{name}highest": highest.tolist(),
        f"f_s_{name}lowest": float(weights.MALE_MINUS_FEMALE @ np.where(weights.IS_FEMALE, highest, lowest)),
        f"f_s_{name}highest": float(weights.MALE_MINUS_FEMALE @ np.where(weights.IS_FEMALE, lowest, highest)),
    }


def detector_bounds(
    predictions: Sequence[str],
    references: Sequence[int],
    male_as_female: float,
    female_as_male: float,
    neutral_as_gendered: float,
) -> dict[str, Any]:
    """The range of p_i and f_s over all errors of the detector up to these shares; nan without a sample."""
    female, male, unknown = _count_genders(predictions, references)
    neutral = unknown * neutral_as_gendered / (1 - neutral_as_gendered)
    with np.errstate(invalid="ignore", divide="ignore"):
        fewest, most = np.maximum(male - neutral, 0), np.maximum(female - neutral, 0)
        lowest = (fewest / (fewest + female) - female_as_male) / (1 - female_as_male)
        highest = male / (male + most) / (1 - male_as_female)
    # without a feminine (masculine) translation, all masculine (feminine) ones may be neutral
    lowest = np.clip(np.where(male + female > 0, np.nan_to_num(lowest), np.nan), 0, 1)
    highest = np.clip(np.where(male + female > 0, np.nan_to_num(highest, nan=1.0), np.nan), 0, 1)
    return _bounds("detector_", lowest, highest)


def detector_validity(labels: Sequence[str], answers: Sequence[str]) -> dict[str, Any]:
    """Precision and recall of each label with bounds, and `counts` like those of `gender/accuracy.yaml`."""
    pairs = list(zip(labels, answers, strict=True))
    result: dict[str, Any] = {}
    for label in LABELS:
        precision = [gold == label for gold, answer in pairs if answer == label]
        recall = [answer == label for gold, answer in pairs if gold == label]
        shares = proportions.proportion("precision", precision) | proportions.proportion("recall", recall)
        result[label] = {"n": len(recall), **shares}
    gendered = {label: sum(pairs.count((label, one)) for one in GENDERS) for label in LABELS}
    counts = {"neutral": labels.count(UNKNOWN), "neutral_as_gendered": gendered.pop(UNKNOWN)}
    counts |= {f"{one}_as_{other}": pairs.count((one, other)) for one, other in (GENDERS, GENDERS[::-1])}
    return result | {"counts": counts | gendered}


def max_error_rate(errors: int, number: int) -> float:
    """The highest error rate compatible with so many errors in `number` sentences (95 % confidence).

    >>> round(max_error_rate(0, 25), 3), max_error_rate(0, 0)
    (0.113, 1.0)
    """
    return float(special.betaincinv(errors + 1, number - errors, 0.95)) if errors < number else 1.0
