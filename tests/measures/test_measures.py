"""The records: each probe has one, each is complete, and what it promises is in its results."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset

from gest_dataset import probes
from gest_dataset.builders import CONFIGS
from gest_dataset.errors import ScoringError
from gest_dataset.measures import MEASURES, measure_of
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Measure
from gest_dataset.measures.result import estimates, result_of
from gest_dataset.probes.probe import Probe
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.statistics.comparison import MEASURES as COMPARED

NUMBER = 160
RANDOM = np.random.default_rng(0)
COLUMNS: dict[str, list[Any]] = {
    "id": [str(i) for i in range(NUMBER)],
    "log_ratio": RANDOM.normal(size=NUMBER).tolist(),
    "occupation_gender": [("male", "female")[i % 2] for i in range(NUMBER)],
    "gender": [("male", "female", "unknown")[i % 3] for i in range(NUMBER)],
    **{
        f"logp_{side}_{kind}": RANDOM.normal(size=NUMBER).tolist()
        for side in ("original", "control")
        for kind in ("stereotype", "antistereotype")
    },
    **{f"cs_{side}": RANDOM.normal(size=NUMBER).tolist() for side in ("original", "control")},
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
    return pa.table({**COLUMNS, "stereotype": stereotype})


def every_probe() -> list[Probe]:
    """The probes that the modules of their room define."""
    modules = [
        importlib.import_module(f"gest_dataset.probes.{module.name}")
        for module in pkgutil.iter_modules(probes.__path__)
    ]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Probe)]


def test_every_probe_has_one_measure_of_its_name() -> None:
    found = every_probe()
    assert len(found) == 7
    for probe in found:
        assert MEASURES[probe.name].probe is probe
    assert {name for name, measure in MEASURES.items() if measure.probe is None} == {"masculine-rate"}


def test_a_record_that_lacks_something_fails_where_it_is_made() -> None:
    known = {field.name: getattr(MEASURES["templates"], field.name) for field in fields(Measure)}
    for name in known:
        with pytest.raises(TypeError, match=name):
            Measure(**{other: value for other, value in known.items() if other != name})


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_what_a_record_promises_is_in_its_result(measure: Measure) -> None:
    result = result_of(measure, scores(measure), ROWS)
    single = {name for name, value in result.items() if isinstance(value, float)}
    assert set(measure.numbers) == {
        name for name in single if not name.endswith(("_low", "_high", "_analytic", "_permutation_p"))
    }
    for head in measure.headlines:
        assert head.name in measure.numbers
        estimate = Estimate.of(result, head.name)
        assert estimate.low < estimate.value < estimate.high
        assert estimates(result, head.name) == [estimate]
    assert measure.headline(result) is measure.headlines[0]
    grid = measure.grid(result)
    assert any(Estimate.of(result, measure.headlines[0].name) in line.estimates for line in grid.lines)
    assert all(len(line.estimates) == len(grid.headings) for line in grid.lines)
    assert all(
        sentence.endswith(".") and "nan" not in sentence for sentence in measure.sentences(result, FACTS)
    )
    assert measure.families
    assert measure.methods
    for pairing in measure.pairings:
        assert pairing.measure in COMPARED
        assert {*pairing.columns} <= {*scores(measure).column_names}
    if measure.samples is not None:
        assert np.isfinite(measure.samples.value(scores(measure))).all()
        assert measure.samples.topic(scores(measure).to_pylist()[0], ROWS[0])


def test_controls_without_keywords_are_about_cs() -> None:
    measure = MEASURES["quadruplets"]
    empty = pa.nulls(NUMBER, pa.float64())
    table = scores(measure)
    for name in (name for name in table.column_names if name.startswith("logp_")):
        table = table.set_column(table.column_names.index(name), name, empty)
    with pytest.warns(UndefinedWarning):
        result = result_of(measure, table, ROWS)
    assert measure.headline(result).symbol == "cs"
    assert "wins in" in measure.sentences(result, FACTS)[0]


def test_every_config_is_of_one_measure_or_is_data_only() -> None:
    for config in CONFIGS.values():
        family = config.family.name
        if family == "translations" or config.name == "annotations":
            continue
        measure, probe = measure_of(list(config.features), config.name)
        assert measure.probe is probe
    with pytest.raises(ScoringError, match="No probe reads mine: its fields are id, text"):
        measure_of(["id", "text"], "mine")


def test_several_templates_have_their_own_numbers() -> None:
    measure = MEASURES["templates"]
    both = pa.concat_tables(
        [scores(measure).append_column("template", pa.array([n] * NUMBER)) for n in (1, 3)]
    )
    result = result_of(measure, both, None)
    one = measure.statistic(**measure.inputs(scores(measure), None))
    assert result["by_template"][3]["g_s"] == one["g_s"]
    assert estimates(result, "q_m") == [Estimate.of(one, "q_m")] * 2
    assert estimates(result, "g_s") == [Estimate.of(result, "g_s")]
