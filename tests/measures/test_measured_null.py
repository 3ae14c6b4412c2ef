"""The zones of negligible effects hold what models without stereotypes show (benchmarks/null_*.csv).

The files are what `benchmarks/null.py` has measured; docs/limits.md tells of them.
"""

from __future__ import annotations

import csv
import math
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


def test_so_are_functions_of_the_words_alone() -> None:
    for row in rows("null_lexical.csv"):
        name = {"g_s": "templates", "f_s": "masculine-rate"}[row["of"]]
        assert float(row["95%"]) < MEASURES[name].headlines[0].zone, row["kind"]


def test_the_models_differ_in_what_could_matter() -> None:
    measured = nulls("en")
    for column, least in (("model", 8), ("tokenizer", 4), ("size", 3), ("weights", 3)):
        assert len({row[column] for row in measured}) >= least
    largest = max(abs(float(row["value"])) for row in measured)
    assert largest > 1, "with larger weights ln g_s is anything but 0, and only d stays small"


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


def test_real_models_are_far_outside() -> None:
    """BERT's published scores: d of 1.03, mean over templates (docs/limits.md)."""
    zone = MEASURES["templates"].headlines[0].zone
    ln_g_s, spread = 0.351, 0.340
    assert verdict(ln_g_s - 0.024, ln_g_s + 0.024, (-zone * spread, zone * spread)) == "shown"
    assert math.exp(zone * spread) == pytest.approx(1.07, abs=0.005)
