"""The records: each probe has one, each is complete, and what it promises is in its results."""

from __future__ import annotations

import importlib
import math
import pkgutil
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset

from gest_dataset import probes
from gest_dataset.errors import DataError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Measure
from gest_dataset.measures.result import compute_result, estimates, sample_units, with_verdict
from gest_dataset.probes.probe import Probe
from gest_dataset.statistics.comparison import COMPARED
from gest_dataset.statistics.verdict import Verdict

NUMBER = 160
RANDOM = np.random.default_rng(0)
COLUMNS: dict[str, list[Any]] = {
    "id": [str(i) for i in range(NUMBER)],
    "log_ratio": RANDOM.normal(size=NUMBER).tolist(),
    "occupation_gender": [("male", "female")[i % 2] for i in range(NUMBER)],
    "gender": [("male", "female", "unknown")[i % 3] for i in range(NUMBER)],
    "stated": [("male", "female", "female", "male", "neutral")[i % 5] for i in range(NUMBER)],
    "stereotypical": [("pro", "anti", "pro", "anti", None)[i % 5] for i in range(NUMBER)],
    "entity": [f"entity {i % 30}" for i in range(NUMBER)],
    "sentence_template": [f"template {i // 2}" for i in range(NUMBER)],
    "option": RANDOM.choice(["male", "female", "neither", "other"], size=NUMBER).tolist(),
    "position": RANDOM.integers(0, 3, size=NUMBER).tolist(),
    **{
        f"logp_{side}_{kind}": RANDOM.normal(size=NUMBER).tolist()
        for side in ("original", "control")
        for kind in ("stereotype", "antistereotype")
    },
    **{f"cs_{side}": RANDOM.normal(size=NUMBER).tolist() for side in ("original", "control")},
    "f_prefix": RANDOM.normal(size=NUMBER).tolist(),
    **{name: RANDOM.normal(size=NUMBER).tolist() for name in ("antistereotype", "unrelated")},
}
FACTS = {"config": "mine", "kind": "masked", "templates": [], "options": {}, "model": "m", "limit": None}
ROWS = Dataset.from_dict(
    {
        "id": COLUMNS["id"],
        "target_en": [str(i % 8) for i in range(NUMBER)],
        "bias_type": [("gender", "race")[i % 2] for i in range(NUMBER)],
    }
)


def scores(measure: Measure) -> pa.Table:
    """A table as this measure's runs have it; `stereotype` is a number or, of StereoSet, a score."""
    numbers = "unrelated" not in (measure.probe.scores if measure.probe else ())
    stereotype = [i % 16 + 1 for i in range(NUMBER)] if numbers else COLUMNS["log_ratio"]
    columns = {**COLUMNS, "stereotype": stereotype}
    columns["variant"] = [f"rather/{('original', 'control')[i % 2]}:a-b" for i in range(NUMBER)]
    if measure.name == "control-choice":
        columns["option"] = [("stereotype", "antistereotype", "other")[i % 3] for i in range(NUMBER)]
        columns["id"] = [str(i // 4) for i in range(NUMBER)]
    return pa.table(columns)


def every_probe() -> list[Probe]:
    """The probes that the modules of their room define."""
    modules = [
        importlib.import_module(f"gest_dataset.probes.{module.name}")
        for module in pkgutil.iter_modules(probes.__path__)
    ]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Probe)]


def test_every_probe_has_one_measure_of_its_name() -> None:
    found = {probe.name: probe for probe in every_probe()}
    assert found == {name: measure.probe for name, measure in MEASURES.items() if measure.probe is not None}
    assert {name for name, measure in MEASURES.items() if measure.probe is None} == {
        "masculine-rate",
        "entity-gender",
        "choice",
        "first-person",
        "story",
        "control-choice",
    }


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_what_a_record_promises_is_in_its_result(measure: Measure) -> None:
    result = compute_result(measure, scores(measure), ROWS)
    single = {name for name, value in result.items() if isinstance(value, float)}
    assert set(measure.numbers) == {
        name for name in single if not name.endswith(("_low", "_high", "_permutation_p", "_spread", "_ties"))
    }
    for head in measure.headlines:
        assert set(head.verdict_labels) == set(get_args(Verdict)) - {"undefined"}
        assert head.name in measure.numbers
        estimate = Estimate.of(result, head.name)
        assert estimate.low < estimate.value < estimate.high
        assert estimates(result, head.name) == [estimate]
    assert measure.headline(result) is measure.headlines[0]
    grid = measure.grid(result)
    assert any(Estimate.of(result, measure.headlines[0].name) in line.estimates for line in grid.lines)
    assert all(len(line.estimates) == len(grid.headings) for line in grid.lines)
    assert all(
        sentence.endswith(".") and "nan" not in sentence for sentence in measure.describe(result, FACTS)
    )
    assert measure.families
    assert measure.methods
    for pairing in measure.pairings:
        assert pairing.statistic in COMPARED
        assert {*pairing.columns} <= {*scores(measure).column_names}
    told = scores(measure)
    if measure.display.categorical:
        told = told.append_column("problem", pa.array(["unreadable", *[""] * (told.num_rows - 1)]))
    values = measure.display.value(told)
    assert np.isfinite(values[1:]).all()
    assert np.isnan(values[0]) == measure.display.categorical
    assert measure.display.topic(told.to_pylist()[0], ROWS[0])
    assert {*measure.display.number_columns.values()} <= {*told.column_names}
    assert {*measure.display.number_columns} <= {*measure.display.variants}


def test_controls_without_keywords_are_about_cs() -> None:
    measure = MEASURES["quadruplets"]
    empty = pa.nulls(NUMBER, pa.float64())
    table = scores(measure)
    for name in (name for name in table.column_names if name.startswith("logp_")):
        table = table.set_column(table.column_names.index(name), name, empty)
    result = compute_result(measure, table, ROWS)
    assert measure.headline(result).symbol == "cs"
    assert "is preferred in" in measure.describe(result, FACTS)[0]


def test_several_templates_have_their_own_numbers() -> None:
    measure = MEASURES["templates"]
    both = pa.concat_tables(
        [scores(measure).append_column("template", pa.array([n] * NUMBER)) for n in (1, 3)]
    )
    result = compute_result(measure, both, None)
    one = measure.statistic(**measure.inputs(scores(measure), None))
    assert result["by_template"][3]["g_s"] == one["g_s"]
    assert estimates(result, "q_m") == [Estimate.of(one, "q_m")] * 2
    assert estimates(result, "g_s") == [Estimate.of(result, "g_s")]


@pytest.mark.parametrize(
    "name", [name for name, one in MEASURES.items() if one.unit.column not in (None, "id")]
)
def test_results_are_of_the_units_that_the_rows_say(name: str) -> None:
    """In another order than the scores; without the column, each row is a unit."""
    measure = MEASURES[name]
    names = [f"unit {i // 4}" for i in range(NUMBER)]
    data = {column: ROWS[column][:] for column in ROWS.column_names} | {measure.unit.column: names}
    rows = Dataset.from_dict({column: values[::-1] for column, values in data.items()})
    found = compute_result(measure, scores(measure), rows)
    direct = measure.statistic(**measure.inputs(scores(measure), rows), units=names)
    head = measure.headlines[0].name
    assert Estimate.of(found, head) == Estimate.of(direct, head)
    apart = measure.statistic(**measure.inputs(scores(measure), rows))
    assert Estimate.of(found, head).low != Estimate.of(apart, head).low
    if name != "stereoset_intrasentence" and name != "stereoset_intersentence":
        assert Estimate.of(compute_result(measure, scores(measure), ROWS), head) == Estimate.of(apart, head)
        with pytest.raises(TypeError, match="pass the dataset's rows"):
            compute_result(measure, scores(measure), None)


def test_rows_without_a_name_of_their_unit_are_units() -> None:
    rows = Dataset.from_dict({"id": ["a", "b", "c", "d"], "source": ["x", None, None, "x"]})
    found = sample_units(MEASURES["pairs"].unit, ["d", "c", "b", "a"], rows)
    assert found is not None
    assert found[0] == found[3] == "x"
    assert len(set(found)) == 3
    with pytest.raises(DataError, match="dataset has no sample e"):
        sample_units(MEASURES["pairs"].unit, ["e"], rows)


@pytest.mark.parametrize(("shift", "said"), [(1.0, "shown"), (-1.0, "reversed"), (0.0, "negligible")])
def test_verdicts_over_templates(shift: float, said: str) -> None:
    """Of the mean g_s, and of each template; ranks and permutations are of the mean over templates."""
    stereotypes = np.tile(np.arange(1, 17), 40)
    steps = np.linspace(-0.002, 0.002, 40).repeat(16)
    parts = []
    for template in (1, 2):
        odd = -0.5 * (stereotypes == (4 if shift > 0 else 10)) * (shift != 0)
        ratios = shift * (stereotypes > 7) + steps * template + odd
        ids = [f"s{i}" for i in range(640)]
        parts.append(
            pa.table(
                {"id": ids, "template": [template] * 640, "stereotype": stereotypes, "log_ratio": ratios}
            )
        )
    result = compute_result(MEASURES["templates"], pa.concat_tables(parts), ROWS)
    assert result["verdict"] == said
    assert {part["verdict"] for part in result["by_template"].values()} == {result["verdict"]}
    if shift:
        place = 3 if shift > 0 else 9
        assert (result["feminine_ranks_low"][place], result["feminine_ranks_high"][place]) == (1, 1)
        spoken = MEASURES["templates"].describe(result, FACTS)
        assert any(line.startswith("Most feminine: “") for line in spoken)
        assert result["g_s_permutation_p"] == 1 / 11_440
    else:
        spoken = MEASURES["templates"].describe(result, FACTS)
        assert not any(line.startswith("Most") for line in spoken)


@pytest.mark.parametrize(("limit", "said"), [(0.3, "shown"), (3.0, "not shown"), (None, "shown")])
@pytest.mark.parametrize("sign", [1, -1])
def test_nothing_is_shown_that_placebo_pairs_show_as_well(limit: float | None, said: str, sign: int) -> None:
    """In each template and in the mean over templates, with d in deviations of a single template."""
    stereotypes = np.tile(np.arange(1, 17), 40)
    noise = np.random.default_rng(0).normal(size=(2, 640))
    parts = [
        pa.table(
            {
                "id": [f"s{i}" for i in range(640)],
                "template": [template] * 640,
                "stereotype": stereotypes,
                "log_ratio": sign * (stereotypes > 7) + noise[template - 1],
            }
        )
        for template in (1, 2)
    ]
    band = {"pairs": 200, "limit": limit, "quantiles": np.linspace(0, 4, 41).tolist()}
    bands = {"1": band, "2": band} if limit else None
    measure = MEASURES["templates"]
    result = compute_result(measure, pa.concat_tables(parts), ROWS, bands)
    expected = said.replace("shown", "reversed") if sign < 0 and said == "shown" else said
    for one in (result, *result["by_template"].values()):
        assert one["verdict"] == expected
        if limit:
            assert one["d"] == pytest.approx(sign, abs=0.15)
            assert one["placebo"]["percentile"] == pytest.approx(0.25, abs=0.05)
            assert one["placebo"]["high"] == pytest.approx(math.exp(limit), rel=0.2)
    (sentence,) = measure.sentences("placebo", result)
    assert ("shows no stereotype" in sentence) == (said == "not shown")
    assert ("No placebo was measured" in sentence) == (limit is None)
    only_one = compute_result(measure, pa.concat_tables(parts), ROWS, {"1": band} if limit else None)
    assert "placebo" not in only_one


def test_averaging_over_templates_does_not_shrink_the_zone() -> None:
    """A run that is negligible in each template is so in their mean: s belongs to a score in one template."""
    random = np.random.default_rng(0)
    strata = np.repeat(np.arange(1, 17), 223)
    columns = []
    for loudness in (1.0, 0.5):  # noise without correlation between the templates, d = 0.12 in each
        noise = random.normal(size=len(strata))
        noise -= np.array([noise[strata == number].mean() for number in range(1, 17)])[strata - 1]
        columns.append(loudness * (noise + 0.12 * (strata > 7)))
    ids = [str(number) for number in range(len(strata))]
    table = pa.table(
        {
            "id": ids * 2,
            "template": np.repeat([1, 2], len(strata)),
            "stereotype": np.tile(strata, 2),
            "log_ratio": np.concatenate(columns),
        }
    )
    result = compute_result(MEASURES["templates"], table, None)
    parts = result["by_template"].values()
    assert [part["verdict"] for part in parts] == ["negligible"] * 2
    assert result["verdict"] == "negligible"
    assert result["g_s_spread"] == pytest.approx(
        np.sqrt(np.mean([part["g_s_spread"] ** 2 for part in parts]))
    )
    assert result["d"] == pytest.approx(np.log(result["g_s"]) / result["g_s_spread"])
    assert result["d_low"] < result["d"] < result["d_high"]


def verdict_of_labels(name: str, **columns: Any) -> str:
    """The verdict on labels of all stereotypes."""
    measure = MEASURES[name]
    result = measure.statistic(**columns)
    return str(with_verdict(measure, result)["verdict"])


def test_a_model_that_answers_neither_has_no_stereotype() -> None:
    """In 99.5 % of the answers; the others are stereotypes, but hardly any difference to anybody."""
    stereotypes = np.repeat(np.arange(1, 17), 200)
    answers = np.where(np.arange(3200) % 200, "neither", np.where(stereotypes > 7, "male", "female"))
    units = np.arange(3200).tolist()
    assert (
        verdict_of_labels("choice", predictions=answers, references=stereotypes, units=units) == "negligible"
    )
    always = np.where(stereotypes > 7, "male", "female")
    assert verdict_of_labels("choice", predictions=always[::2], references=stereotypes[::2]) == "shown"
    half = np.where(np.arange(3200) % 2, "neither", always)
    assert verdict_of_labels("choice", predictions=half, references=stereotypes, units=units) == "shown"


def test_an_always_masculine_translator_is_negligible() -> None:
    stereotypes = np.repeat(np.arange(1, 17), 223)
    for labels in (["male"] * len(stereotypes), ["male"] * (len(stereotypes) - 9) + ["female"] * 9):
        columns = {"predictions": labels, "references": stereotypes}
        assert verdict_of_labels("masculine-rate", **columns) == "negligible"


def test_asking_more_often_does_not_turn_the_verdict_of_choices() -> None:
    """A rate of 0.03 is in the zone: more answers narrow the interval, and did narrow the zone."""
    random = np.random.default_rng(0)
    stereotypes = np.repeat(np.arange(1, 17), 40)
    found = []
    for repeats in (6, 12, 48):
        references = np.repeat(stereotypes, repeats)
        units = np.repeat(np.arange(640), repeats)
        said = random.random(len(units)) < 0.5 + 0.015 * np.where(references > 7, 1, -1)
        answers = np.where(said, "male", "female")
        found.append(verdict_of_labels("choice", predictions=answers, references=references, units=units))
    assert "shown" not in found
    assert found[-1] == "negligible"


@pytest.mark.parametrize("d", [math.nan, None])
def test_words_that_share_an_output_row_have_no_sentence_about_the_placebo(d: float | None) -> None:
    """All scores are 0, so d is undefined."""
    result = {"g_s": 1.0, "d": d, "placebo": {"low": 0.9, "high": 1.1, "percentile": d}}
    assert MEASURES["templates"].sentences("placebo", result) == []


def test_the_sentence_about_a_run_that_stopped() -> None:
    stopped = {"stopped": {"samples": 1529, "of": 3565, "stretch": 1.61}}
    assert "clear: 1,529 of 3,565 samples" in MEASURES["templates"].sentences("placebo", stopped)[-1]
