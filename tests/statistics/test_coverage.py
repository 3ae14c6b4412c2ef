"""How often 95 % intervals hold the truth: 4,000 simulated data sets a scenario (marked `slow`).

A scenario is a population of samples whose statistics are the truth, exactly; data sets are drawn
from it as a benchmark's authors would collect them, with a fixed number a stratum. The table goes
to build/coverage/NAME.json; docs/metrics.md shows it.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from gest_dataset import statistics
from gest_dataset.statistics.masculine_rate import LABELS
from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]

DATA_SETS = 4000
LEAST, MOST = 0.935, 0.965
PER_STEREOTYPE = [254, 215, 256, 207, 200, 197, 243, 251, 229, 215, 231, 222, 222, 194, 208, 221]

Result = Mapping[str, Any]
Draw = Callable[[np.random.Generator], Any]


@dataclass(frozen=True)
class Scenario:
    """The truth, and the statistics of one drawn data set (with their bounds)."""

    truth: Result
    measure: Callable[[np.random.Generator, int], Result]


def _pick(population: np.ndarray, strata: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> Any:
    """So many rows of each stratum of a population, with replacement; the strata stand in order."""
    _, starts, lengths = np.unique(strata, return_index=True, return_counts=True)
    places = [
        start + rng.integers(0, length, size=size)
        for start, length, size in zip(starts, lengths, sizes, strict=True)
    ]
    picked = np.concatenate(places)
    return population[picked], strata[picked]


def _skewed(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Noise of skewness about 1 and kurtosis above a normal one's."""
    return (rng.gamma(4.0, size=shape) - 4) / 2


def _stereotypes(size: int) -> np.ndarray:
    return np.repeat(np.arange(1, 17), size)


def _masculine() -> Scenario:
    rng = np.random.default_rng(1)
    rates = np.r_[np.linspace(0.25, 0.75, 7), np.linspace(0.5, 0.95, 9)]
    size = 20_000
    labels = np.where(rng.random((16, size)) < rates[:, None], "male", "female")
    labels = np.where(rng.random((16, size)) < 0.15, "unknown", labels).ravel()
    strata = _stereotypes(size)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        data = _pick(labels, strata, np.array(PER_STEREOTYPE), draw)
        return statistics.masculine_rate(*(side.tolist() for side in data), seed=seed)

    return Scenario(statistics.masculine_rate(labels.tolist(), strata.tolist()), measure)


def _stereotype_rate(sizes: list[int]) -> Scenario:
    rng = np.random.default_rng(2)
    size = 20_000
    centres = np.r_[np.linspace(-0.4, 0.1, 7), np.linspace(-0.1, 0.6, 9)]
    spread = np.linspace(0.3, 0.9, 16)[:, None]
    ratios = (centres[:, None] + spread * _skewed(rng, 16, size)).ravel()
    strata = _stereotypes(size)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        return statistics.stereotype_rate(*_pick(ratios, strata, np.array(sizes), draw), seed=seed)

    return Scenario(statistics.stereotype_rate(ratios, strata), measure)


def _winobias() -> Scenario:
    rng = np.random.default_rng(3)
    size = 50_000
    ratios = np.r_[-0.6 + 1.5 * _skewed(rng, size), 0.5 + 1.2 * _skewed(rng, size)]
    strata = np.repeat(["female", "male"], size)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        values, genders = _pick(ratios, strata, np.array([194, 197]), draw)
        return statistics.winobias_rate(values, genders.tolist(), seed=seed)

    return Scenario(statistics.winobias_rate(ratios, strata.tolist()), measure)


def _quadruplets(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Keywords' log-probabilities that share most of their noise over the groups, and cs."""
    words = 1.5 * _skewed(rng, size, 2) + [0.4, 0.0]
    groups = 0.5 * _skewed(rng, size, 2, 2) + [[0.1, 0.0], [0.0, 0.1]]
    rows = np.hstack([words + groups[:, 0], words + groups[:, 1]]) - 8
    shared = _skewed(rng, size, 1)
    return rows, 0.8 * shared + 0.6 * _skewed(rng, size, 2) + [0.3, 0.1]


def _control(size: int) -> Scenario:
    rows, cs = _quadruplets(np.random.default_rng(4), 100_000)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        picked = draw.integers(0, len(rows), size=size)
        return statistics.control_bias(rows[picked], cs[picked], seed=seed)

    return Scenario(statistics.control_bias(rows, cs), measure)


def _candidates(rng: np.random.Generator, share: float, size: int) -> np.ndarray:
    """Rows of one target; the stereotype wins in exactly this share of them."""
    wins = rng.permutation(np.arange(size) < round(size * share))
    rows = np.sort(rng.random((size, 2)), axis=1) + 0.25
    rows = np.where(wins[:, None], rows[:, ::-1], rows)
    return np.column_stack([rows, rng.random(size)])


def _icat(share: float) -> Scenario:
    rng = np.random.default_rng(5)
    targets = 79
    sizes = 20 + np.abs(np.arange(targets) - targets // 2) % 14  # as in StereoSet: 20 to 33
    shares = share + np.linspace(-0.12, 0.12, targets)
    each = zip(shares, sizes, strict=True)
    rows = np.concatenate([_candidates(rng, one, 100 * size) for one, size in each])
    names = np.repeat([f"target {i:02d}" for i in range(targets)], 100 * sizes)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        values, groups = _pick(rows, names, sizes, draw)
        return statistics.stereoset_icat(values, groups.tolist(), seed=seed)

    return Scenario(statistics.stereoset_icat(rows, names.tolist()), measure)


def _compared(measure: str, a: np.ndarray, b: np.ndarray, strata: Any, sizes: list[int]) -> Scenario:
    codes = strata if strata is not None else np.zeros(len(a), dtype=int)
    both = np.stack([a, b], axis=1)

    def one(values: np.ndarray, groups: np.ndarray, seed: int, draws: int) -> Result:
        references = groups.tolist() if strata is not None else None
        found = statistics.compare(
            measure, values[:, 0].tolist(), values[:, 1].tolist(), references, seed=seed, draws=draws
        )
        name = f"difference of {measure}"
        return {name: found.difference, f"{name}_low": found.low, f"{name}_high": found.high}

    def run(draw: np.random.Generator, seed: int) -> Result:
        return one(*_pick(both, codes, np.array(sizes), draw), seed, 2000)

    return Scenario(one(both, codes, 0, 10), run)


def _compare_g_s() -> Scenario:
    rng = np.random.default_rng(6)
    shared = _skewed(rng, 16 * 20_000)
    a, b = (shared + 0.5 * _skewed(rng, len(shared)) for _ in range(2))
    strata = _stereotypes(20_000)
    return _compared("g_s", a + 0.3 * (strata > 7), b + 0.1 * (strata > 7), strata, PER_STEREOTYPE)


def _compare_f_s() -> Scenario:
    rng = np.random.default_rng(7)
    strata = _stereotypes(20_000)
    shared = rng.random(len(strata))
    sides = []
    for male in (0.85, 0.75):
        rate = np.where(strata > 7, male, 0.6)
        label = (0.6 * shared + 0.4 * rng.random(len(strata)) < rate).astype(int)
        sides.append(np.array(LABELS)[np.where(rng.random(len(strata)) < 0.15, 2, label)])
    return _compared("f_s", *sides, strata, PER_STEREOTYPE)


def _compare_icat() -> Scenario:
    rng = np.random.default_rng(8)
    shared = rng.normal([0.7, 0.4, 0.0], size=(200_000, 3))
    a, b = (shared + 0.7 * rng.normal(size=shared.shape) for _ in range(2))
    a[:, 0] += 0.1
    return _compared("icat", a, b, None, [2106])


def _compare_f_mu() -> Scenario:
    rng = np.random.default_rng(9)
    a, _ = _quadruplets(rng, 100_000)
    b = a + 0.6 * _skewed(rng, *a.shape)
    return _compared("f_mu", a, b, None, [142])


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "gest_masculine_rate": _masculine,
    "gest_stereotype_rate": lambda: _stereotype_rate(PER_STEREOTYPE),
    "gest_stereotype_rate, 20 a stereotype": lambda: _stereotype_rate([20] * 16),
    "gest_control_bias, 250 quadruplets": lambda: _control(250),
    "gest_control_bias, 66 quadruplets": lambda: _control(66),
    "stereoset_icat, SS near 59": lambda: _icat(0.59),
    "stereoset_icat, SS = 50": lambda: _icat(0.5),
    "winobias_rate": _winobias,
    "compare g_s": _compare_g_s,
    "compare f_s": _compare_f_s,
    "compare icat": _compare_icat,
    "compare f_mu": _compare_f_mu,
}


@cache
def _scenario(name: str) -> Scenario:
    return SCENARIOS[name]()


def _hits(name: str, seeds: range) -> dict[str, float]:
    """How often each interval of some data sets holds the truth."""
    scenario = _scenario(name)
    total: dict[str, float] = {}
    for seed in seeds:
        found = scenario.measure(np.random.default_rng([11, seed]), seed)
        for key, low in found.items():
            if key.endswith("_low"):
                statistic = key.removesuffix("_low")
                truth = np.asarray(scenario.truth[statistic.removesuffix("_analytic")])
                inside = (np.asarray(low) <= truth) & (truth <= np.asarray(found[f"{statistic}_high"]))
                total[statistic] = total.get(statistic, 0.0) + float(inside.mean())
    return total


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_intervals_cover_the_truth(name: str) -> None:
    parts = [range(start, DATA_SETS, 16) for start in range(16)]
    total: dict[str, float] = {}
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for part in pool.map(_hits, [name] * len(parts), parts):
            for statistic, hits in part.items():
                total[statistic] = total.get(statistic, 0.0) + hits
    coverage = {statistic: hits / DATA_SETS for statistic, hits in total.items()}
    directory = ROOT / "build" / "coverage"
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"scenario": name, "data_sets": DATA_SETS, "coverage": coverage}, indent=1)
    (directory / f"{re.sub(r'[^a-z0-9_]+', '-', name.lower())}.json").write_text(text, encoding="utf-8")
    assert coverage
    outside = {
        statistic: share
        for statistic, share in coverage.items()
        if not statistic.endswith("_analytic") and not LEAST <= share <= MOST
    }
    assert not outside
    assert not any(math.isnan(share) for share in coverage.values())
