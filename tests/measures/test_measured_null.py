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


def test_the_page_on_limits_has_these_figures() -> None:
    """Its table of |d|, row by row: how many models, and what half, 95 %, 99 % and all of them are below."""
    told = {}
    for line in (BENCHMARKS.parent / "docs" / "limits.md").read_text(encoding="utf-8").splitlines():
        config = line.removeprefix("| `").partition("`")[0]
        if line.startswith("| `") and len(cells := line.strip("| ").split(" | ")) == 7:
            told[config] = [float(cell) for cell in cells[1:]]
    assert told.keys() == {config for config, _ in MEASURED.values()}
    for name, (config, _) in MEASURED.items():
        effects = np.array([abs(float(row["d"])) for row in nulls(config)])
        figures = [len(effects), *np.quantile(effects, [0.5, 0.95, 0.99]), effects.max()]
        assert told[config][:-1] == pytest.approx(figures, rel=0.02, abs=0.0005), config
        assert told[config][-1] == MEASURES[name].headlines[0].zone
