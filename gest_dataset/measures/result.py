"""From a score table to a result: the measure's statistic, per template where there are several.

`Scores.result()` and the `evaluate` modules use the same functions. `power_analysis` has the smallest effects
that the samples of a config can show, in standard deviations of the samples (`statistics.verdict`). It counts
units, not samples: the samples of a unit are assumed to agree completely, the most conservative assumption.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import datasets
import pandas as pd
import pyarrow as pa

from gest_dataset.errors import DataError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Inputs, Measure, Result, Unit
from gest_dataset.statistics import checks, placebo
from gest_dataset.statistics.bootstrap import deviation_of_squares, standardised
from gest_dataset.statistics.correlation import feminine_ranks
from gest_dataset.statistics.simultaneous import families, rank_bounds
from gest_dataset.statistics.stereotype_rate import LN_MEAN, LN_Q, exp, resample_templates, template_squares
from gest_dataset.statistics.verdict import smallest_detectable, standard_error_in_sds, verdict
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE, permutation_p
from gest_dataset.stereotypes import STEREOTYPES

# The ends of the names of a number with bounds, and of those of each bound
_BOUNDS = (("", "_low"), ("", "_high"), ("_lowest", "_lowest_low"), ("_highest", "_highest_high"))


def compute_result(
    measure: Measure,
    scores: pa.Table,
    rows: datasets.Dataset | None,
    bands: Mapping[str, Any] | None = None,
    stretch: float = 1.0,
    **options: Any,
) -> dict[str, Any]:
    """The result of a score table with its verdict; with several templates, one result for each as well.

    `bands` are the effects of placebo pairs by template, if they were measured. `stretch` widens the
    intervals of the headline and of d for runs that stop early (`statistics.sequential`).
    """
    results = {}
    for template, part in split_by_template(scores).items():
        result = measure.statistic(**statistic_inputs(measure, part, rows), **options)
        results[template] = with_verdict(
            measure, _widened(measure, _with_placebo(result, [template], bands), stretch)
        )
    combined = combine_templates(results)
    if len(results) == 1:
        return combined
    combined |= _template_mean(measure, scores, rows)
    return with_verdict(measure, _widened(measure, _with_placebo(combined, [*results], bands), stretch))


def _with_placebo(
    result: dict[str, Any], templates: Sequence[int], bands: Mapping[str, Any] | None
) -> dict[str, Any]:
    """A result with the band of placebo pairs, if there is one for each of its templates."""
    if not bands or not all(str(template) in bands for template in templates):
        return result
    band = placebo.compare(result["d"], [bands[str(template)] for template in templates])
    reach = band["limit"] * result["g_s_spread"]
    return result | {"placebo": {**band, "low": exp(-reach), "high": exp(reach)}}


def _widened(measure: Measure, result: dict[str, Any], stretch: float) -> dict[str, Any]:
    """A result whose bounds of the headline and of d are further from their values by a factor.

    A ratio is stretched on the log scale. The bounds over unreadable answers belong to their own values.
    """
    head = measure.headline(result)
    widened = dict(result)
    for name in (head.name, "d"):
        for value, bound in _BOUNDS:
            if name + bound in result and stretch != 1.0:
                at, end = result[name + value], result[name + bound]
                is_ratio = head.ratio and name == head.name
                widened[name + bound] = at * (end / at) ** stretch if is_ratio else at + (end - at) * stretch
    return widened


def is_decided(result: Result, gates: Sequence[tuple[str, float]]) -> bool:
    """Whether the interval of each number lies on one side of its gate; without gates, the verdict.

    With placebo words, an interval beyond the zone also has to lie on one side of each end of their band.
    """
    if not gates and "placebo" in result and result["verdict"] != "negligible":
        low, high, band = result["g_s_low"], result["g_s_high"], result["placebo"]
        beyond = low > result["zone_high"] or high < result["zone_low"]
        return bool(beyond and not any(low <= band[end] <= high for end in ("low", "high")))
    if not gates:
        return result["verdict"] in ("shown", "reversed", "negligible")
    bounds = [(one, limit) for name, limit in gates for one in estimates(result, name)]
    return all(one.high < limit or one.low > limit for one, limit in bounds)


def statistic_inputs(measure: Measure, scores: pa.Table, rows: datasets.Dataset | None) -> Inputs:
    """The arguments of the measure's statistic, with the unit of each sample."""
    units = sample_units(measure.unit, scores["id"].to_pylist(), rows)
    return {"units": units} | measure.inputs(scores, rows)


def sample_units(unit: Unit, ids: Sequence[str], rows: datasets.Dataset | None) -> list[Any] | None:
    """The unit of each sample from the dataset rows; None where each sample is a unit.

    A user's dataset may lack the column. A row with an empty value is a unit of its own.
    """
    if unit.column is None:
        return None
    if unit.column == "id":
        return list(ids)
    if rows is None:
        raise TypeError(f"pass the dataset's rows: the units ({unit.column}) are read from them")
    if unit.column not in rows.column_names:
        return None
    columns = rows.select_columns(["id", unit.column])
    by_id = dict(zip(columns["id"][:], columns[unit.column][:], strict=True))
    for name in ids:
        if name not in by_id:
            raise DataError(
                f"The dataset has no sample {name}, so its {unit.column} is unknown. Score the model again."
            )
    return [("row", index) if by_id[name] is None else by_id[name] for index, name in enumerate(ids)]


def with_verdict(
    measure: Measure, result: dict[str, Any], zone: tuple[float, float] | None = None
) -> dict[str, Any]:
    """A result with the verdict on its headline and the zone of negligible effects.

    Nothing is shown or reversed that lies within the band of placebo pairs.
    """
    head = measure.headline(result)
    low, high = zone or head.zone_bounds(result)
    estimate = Estimate.of(result, head.name)
    least, most = (
        result.get(f"{head.name}_{end}", bound)  # if refusals were all of one kind
        for end, bound in (("lowest_low", estimate.low), ("highest_high", estimate.high))
    )
    # ties count as losses; counted as wins they would raise the upper bound
    most += result.get(f"{head.name}_ties", 0.0)
    decision = verdict(least, most, (low, high)) if not math.isnan(estimate.low) else "undefined"
    if decision in ("shown", "reversed") and within_placebo(result, estimate.value):
        decision = "not shown"
    return result | {"verdict": decision, "zone_low": low, "zone_high": high}


def within_placebo(result: Result, value: float) -> bool:
    """Whether placebo pairs show as much; False if none were measured."""
    return "placebo" in result and bool(result["placebo"]["low"] <= value <= result["placebo"]["high"])


def verdict_text(measure: Measure, result: Result) -> str:
    """The verdict of a result; an effect that is shown without placebo words says so."""
    shown = result["verdict"] in ("shown", "reversed")
    bare = shown and measure.texts["placebo"] and "placebo" not in result
    return f"{result['verdict']} (no placebo)" if bare else str(result["verdict"])


def split_by_template(scores: pa.Table) -> dict[int, pa.Table]:
    """The rows of each template; 0 without templates."""
    if "template" not in scores.column_names:
        return {0: scores}
    numbers = scores["template"].to_numpy()
    return {number: scores.filter(pa.array(numbers == number)) for number in dict.fromkeys(numbers.tolist())}


def combine_templates(results: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    """A single result unchanged; several with the mean g_s over them (figure 4 of the paper)."""
    if len(results) == 1:
        return next(iter(results.values()))
    mean = sum(result["g_s"] for result in results.values()) / len(results)
    return {"g_s": mean, "by_template": results}


def template_results(result: Result) -> dict[int, Result]:
    """The result of each template; 0 without templates."""
    return {int(number): part for number, part in result.get("by_template", {0: result}).items()}


def score_frame(scores: pa.Table) -> pd.DataFrame:
    """The scores with their template (0 without any) and the number of each among those with its id."""
    frame = scores.to_pandas()
    if "template" not in frame:
        frame["template"] = 0
    frame["occurrence"] = frame.groupby(["template", "id"]).cumcount()
    return frame


def wide_scores(scores: pa.Table) -> pd.DataFrame:
    """ln ratios with a row per sample and a column per template.

    The index is id, the number of the sample among those with this id, and stereotype.
    """
    index = ["id", "occurrence", "stereotype"]
    return score_frame(scores).pivot(index=index, columns="template", values="log_ratio")


def _template_mean(measure: Measure, scores: pa.Table, rows: datasets.Dataset | None) -> dict[str, Any]:
    """The bounds of the mean g_s over templates, its d, and ranks and permutation test of the mean ln q_i."""
    wide = wide_scores(scores)
    stereotypes = wide.index.get_level_values("stereotype").to_numpy() - 1
    ids = wide.index.get_level_values("id").tolist()
    unit_codes = checks.unit_codes(sample_units(measure.unit, ids, rows), ids=ids)
    resamples = resample_templates(wide.to_numpy(), stereotypes, unit_codes)
    bounds = resamples.entries("g_s", LN_MEAN, exp)
    del bounds["g_s"]
    bounds |= resamples.entries("d", standardised(LN_MEAN, stereotypes, len(LN_Q)))
    rates, differences = families(resamples, LN_Q)
    bounds |= {
        "g_s_spread": deviation_of_squares(template_squares(wide.to_numpy(), stereotypes), stereotypes),
        "g_s_permutation_p": permutation_p(rates.value),
        "feminine_ranks": feminine_ranks(rates.value.tolist()),
    }
    return bounds | rank_bounds(differences, len(LN_Q))


def estimates(result: Result, name: str) -> list[Estimate]:
    """A number of a result, or of each of its templates; without an interval it is its own bound."""
    parts = [result] if name in result else result.get("by_template", {}).values()
    return [
        Estimate.of(part, name) if f"{name}_low" in part else Estimate.exact(part[name])
        for part in parts
        if name in part
    ]


# --- power analysis

# The standard deviation of ln r within a stereotype, in one template, in the authors' scores of
# bert-base-uncased (0.40) and gpt2 (0.34)
TYPICAL_SPREAD = 0.37
CORRELATION = 0.5  # between the scores of two compared models


@dataclass(frozen=True)
class PowerAnalysis:
    """Samples and units of a config, and the smallest effects shown with a power of 80 %."""

    measure: str
    samples: int
    units: int
    error: float  # the standard error of the headline, of its logarithm for a ratio
    single: float  # the effect for one model, beyond the zone of negligible effects
    paired: float  # for the difference of two models whose scores correlate by `CORRELATION`
    typical: float  # `single` in a model whose scores vary like BERT's; nan unless a ratio


def power_analysis(measure: Measure, rows: datasets.Dataset) -> PowerAnalysis:
    """The power analysis of a dataset."""
    ids = rows["id"] if "id" in rows.column_names else list(map(str, range(len(rows))))
    units = sample_units(measure.unit, ids, rows) or list(range(len(rows)))
    groups = [None] * len(rows)
    weights: dict[Any, float] = {None: 1.0}
    if measure.contrast is not None:
        column = measure.contrast["column"]
        feature, values = rows.features[column], rows[column]
        groups = feature.int2str(values) if isinstance(feature, datasets.ClassLabel) else list(values)
        weights = {"male": 1.0, "female": -1.0}
        if column == "stereotype":
            scaled = MALE_MINUS_FEMALE * measure.contrast.get("factor", 1.0)
            weights = dict(zip(STEREOTYPES, scaled.tolist(), strict=True))
    sizes = Counter(group for group, _ in set(zip(groups, units, strict=True)))
    error = standard_error_in_sds(list(weights.values()), [sizes[group] for group in weights])
    head = measure.headlines[0]
    single = smallest_detectable(error, head.zone)
    typical = head.null * math.exp(single * TYPICAL_SPREAD) if head.ratio else math.nan
    paired = smallest_detectable(error * math.sqrt(2 * (1 - CORRELATION)))
    return PowerAnalysis(measure.name, len(rows), len(set(units)), error, single, paired, typical)
