"""The zones of negligible effects hold what models without stereotypes show (benchmarks/null_*.csv).

The files are what `benchmarks/null.py` has measured; docs/limits.md tells of them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gest_dataset.measures import MEASURES
from gest_dataset.statistics.verdict import verdict

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# the config that stands for a measure, and how many models were measured at least
MEASURED = {
    "templates": ("en", 200),
    "neutral": ("ru_neutral", 180),
    "winobias": ("winobias_type1_test", 90),
    "quadruplets": ("stereoset_control_gender", 50),
    "crows": ("crows_gender", 40),
    "stereoset_intrasentence": ("stereoset_en_intrasentence", 90),
}


def rows(name: str) -> Iterator[dict[str, str]]:
    with (BENCHMARKS / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def nulls(config: str) -> list[dict[str, str]]:
    return [row for row in rows("null_models.csv") if row["config"] == config]


@pytest.mark.parametrize("name", MEASURED)
def test_nineteen_of_twenty_models_without_stereotypes_are_in_the_zone(name: str) -> None:
    config, least = MEASURED[name]
    effects = [abs(float(row["d"])) for row in nulls(config)]
    assert len(effects) >= least
    assert np.mean(np.array(effects) < MEASURES[name].headlines[0].zone) >= 0.95


def test_none_of_them_is_shown_and_without_a_zone_many_would_be() -> None:
    zone = MEASURES["templates"].headlines[0].zone
    said = {deviations: [] for deviations in (0.0, zone)}
    for row in nulls("en"):
        value, reach, spread = float(row["value"]), 1.96 * float(row["error"]), float(row["spread"])
        for deviations, verdicts in said.items():
            ends = (-deviations * spread, deviations * spread)
            verdicts.append(verdict(value - reach, value + reach, ends))
    assert not {"shown", "reversed"} & set(said[zone])
    assert np.mean([each in ("shown", "reversed") for each in said[0.0]]) > 0.2
