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

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DATA_SETS = 4000
LEAST, MOST = 0.935, 0.965
FEW, LEAST_OF_FEW, MOST_OF_FEW = 300, 0.91, 0.98
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


def _stereotype_rate(sizes: list[int], scale: str = "ratio", level: float = 0.0) -> Scenario:
    rng = np.random.default_rng(2)
    size = 20_000
    centres = np.r_[np.linspace(-0.4, 0.1, 7), np.linspace(-0.1, 0.6, 9)]
    spread = np.linspace(0.3, 0.9, 16)[:, None]
    ratios = (level + centres[:, None] + spread * _skewed(rng, 16, size)).ravel()
    strata = _stereotypes(size)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        return statistics.stereotype_rate(*_pick(ratios, strata, np.array(sizes), draw), scale, seed=seed)

    return Scenario(statistics.stereotype_rate(ratios, strata, scale), measure)


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


def _compare_templates() -> Scenario:
    """The mean over four templates whose g_s differ, and the 16 differences of ln q_i."""
    rng = np.random.default_rng(16)
    strata = _stereotypes(5_000)
    male = (strata > 7)[:, None] * np.array([0.1, 0.2, 0.4, 0.7])
    shared = _skewed(rng, len(strata))[:, None] + male
    sides = [shared + 0.5 * _skewed(rng, *male.shape) + shift * male for shift in (0.3, 0.0)]
    both = np.hstack(sides)

    def one(values: np.ndarray, groups: np.ndarray, seed: int, draws: int) -> Result:
        a, b = np.hsplit(values, 2)
        references = groups.tolist()
        found = statistics.compare("g_s", a, b, references, seed=seed, draws=draws)
        each = statistics.compare_stereotypes(a, b, references, seed=seed, draws=draws)
        named = {"difference": found.difference, "difference_low": found.low, "difference_high": found.high}
        return named | {
            "ln_q": [row.difference for row in each],
            "ln_q_simultaneous_low": [row.low for row in each],
            "ln_q_simultaneous_high": [row.high for row in each],
        }

    def run(draw: np.random.Generator, seed: int) -> Result:
        return one(*_pick(both, strata, np.array(PER_STEREOTYPE), draw), seed, 999)

    return Scenario(one(both, strata, 0, 10), run)


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


def _rare() -> Scenario:
    """Translators that are nearly always masculine: one or two feminine ones of 220."""
    rates = np.r_[[0.995] * 7, [0.999] * 9]
    strata = np.repeat(np.arange(1, 17), PER_STEREOTYPE).tolist()
    sizes = np.array(PER_STEREOTYPE)
    means = {"p_f": 0.995, "p_m": 0.999, "f_s": 0.004, "f_m": 0.997}

    def measure(draw: np.random.Generator, seed: int) -> Result:
        labels = np.where(draw.random(len(strata)) < np.repeat(rates, sizes), "male", "female")
        found = statistics.masculine_rate(labels.tolist(), strata, seed=seed)
        return {key: found[key] for key in found if not key.startswith(("p_low", "p_simul", "feminine"))}

    return Scenario(means, measure)


@dataclass(frozen=True)
class Population:
    """Rows by unit; a data set has some units, each with all of its rows."""

    columns: tuple[np.ndarray, ...]
    units: np.ndarray
    groups: np.ndarray  # of each unit, so many of which are drawn

    def draw(self, sizes: np.ndarray, rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
        """Columns, and which drawn unit a row is of."""
        starts = np.searchsorted(self.units, np.arange(self.units[-1] + 2))
        picks = np.concatenate(
            [rng.choice(np.flatnonzero(self.groups == g), size) for g, size in enumerate(sizes)]
        )
        rows = [np.arange(starts[pick], starts[pick + 1]) for pick in picks]
        places = np.concatenate(rows)
        names = np.repeat(np.arange(len(picks)), [len(row) for row in rows])
        return [column[places] for column in self.columns], names


def _unit_sizes(rng: np.random.Generator, number: int, mean: float) -> np.ndarray:
    return np.repeat(np.arange(number), 1 + rng.poisson(mean - 1, number))


def _pairs() -> Scenario:
    """Several pairs of a source sentence, intraclass correlation 0.4."""
    rng = np.random.default_rng(21)
    number = 16 * 2000
    units = _unit_sizes(rng, number, 2.0)
    groups = np.arange(number) % 16
    own = _skewed(rng, number)[units]
    ratios = 0.5 * (0.4**0.5 * own + 0.6**0.5 * _skewed(rng, len(units))) + 0.2 * (groups[units] > 6)
    ratios += 0.02 * groups[units]
    population = Population((ratios, groups[units] + 1), units, groups)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        (values, strata), names = population.draw(np.full(16, 40), draw)
        return statistics.stereotype_rate(values, strata, units=names, seed=seed)

    return Scenario(statistics.stereotype_rate(ratios, groups[units] + 1, draws=50), measure)


def _creators() -> Scenario:
    """Authors who wrote for all stereotypes, each with a way of their own."""
    rng = np.random.default_rng(22)
    authors, each = 4000, 48
    units = np.repeat(np.arange(authors), each)
    strata = np.tile(np.arange(each) % 16, authors) + 1
    ways = 0.3 * rng.normal(size=(authors, 16)) * (np.arange(16) > 6) + 0.2 * rng.normal(size=(authors, 1))
    ratios = ways[units, strata - 1] + 0.5 * rng.normal(size=len(units)) + 0.1 * (strata > 7)
    population = Population((ratios, strata), units, np.zeros(authors, dtype=int))

    def measure(draw: np.random.Generator, seed: int) -> Result:
        (values, kinds), names = population.draw(np.array([5]), draw)
        found = statistics.stereotype_rate(values, kinds, units=names, seed=seed)
        return {key: found[key] for key in found if not key.startswith(("q_simul", "feminine"))}

    return Scenario(statistics.stereotype_rate(ratios, strata, draws=50), measure)


def _systems() -> Scenario:
    """Four systems that translate the same sentences, mostly into the same gender."""
    rng = np.random.default_rng(23)
    number = 16 * 2000
    units = np.repeat(np.arange(number), 4)
    groups = np.arange(number) % 16
    rates = np.r_[np.linspace(0.3, 0.8, 7), np.linspace(0.6, 0.97, 9)][groups]
    sentence = (rng.random(number) < rates)[units]
    alone = rng.random(len(units)) < rates[units]
    masculine = np.where(rng.random(len(units)) < 0.7, sentence, alone)
    labels = np.where(rng.random(len(units)) < 0.15, "unknown", np.where(masculine, "male", "female"))
    population = Population((labels, groups[units] + 1), units, groups)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        (values, strata), names = population.draw(np.full(16, 60), draw)
        return statistics.masculine_rate(values.tolist(), strata.tolist(), units=names, seed=seed)

    truth = statistics.masculine_rate(labels.tolist(), (groups[units] + 1).tolist(), draws=50)
    return Scenario(truth, measure)


def _copies(originals: int) -> tuple[Population, np.ndarray, np.ndarray]:
    """Ten quadruplets of an original pair, whose effect they share."""
    rng = np.random.default_rng(24)
    units = np.repeat(np.arange(originals), 10)
    own = _skewed(rng, originals, 4)[units] * [0.8, 0.8, 0.0, 0.0] + [0.2, 0.0, 0.1, 0.0]
    rows = (
        own + 0.5 * _skewed(rng, originals, 1)[units] + 0.4 * _skewed(rng, len(units), 4) * [0, 0, 1, 1] - 8
    )
    cs = (
        _skewed(rng, originals, 2)[units] * [1, 0.3]
        + [0.2, 0.1]
        + 0.5 * rng.normal(size=(len(units), 2)) * [0, 1]
    )
    return Population((rows, cs), units, np.zeros(originals, dtype=int)), rows, cs


def _control_copies() -> Scenario:
    population, rows, cs = _copies(10_000)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        (values, pairs), names = population.draw(np.array([80]), draw)
        return statistics.control_bias(values, pairs, units=names, seed=seed)

    return Scenario(statistics.control_bias(rows, cs, draws=50), measure)


def _compare_copies() -> Scenario:
    population, rows, _ = _copies(10_000)
    rng = np.random.default_rng(25)
    other = rows + 0.6 * _skewed(rng, 10_000, 4)[population.units]
    both = Population((rows, other), population.units, population.groups)
    name = "difference of f_mu"
    truth = statistics.compare("f_mu", rows, other, draws=10).difference

    def measure(draw: np.random.Generator, seed: int) -> Result:
        (a, b), names = both.draw(np.array([80]), draw)
        found = statistics.compare("f_mu", a, b, units=names, seed=seed, draws=2000)
        return {name: found.difference, f"{name}_low": found.low, f"{name}_high": found.high}

    return Scenario({name: truth}, measure)


def _occupations() -> Scenario:
    """Forty occupations with about ten sentences each."""
    rng = np.random.default_rng(26)
    number = 20_000
    units = _unit_sizes(rng, number, 9.8)
    groups = np.arange(number) % 2
    own = 0.8 * _skewed(rng, number)[units]
    ratios = own + _skewed(rng, len(units)) + 0.6 * groups[units]
    names = np.array(["female", "male"])
    population = Population((ratios, names[groups[units]]), units, groups)

    def measure(draw: np.random.Generator, seed: int) -> Result:
        (values, genders), drawn = population.draw(np.array([20, 20]), draw)
        return statistics.winobias_rate(values, genders.tolist(), units=drawn, seed=seed)

    return Scenario(statistics.winobias_rate(ratios, names[groups[units]].tolist(), draws=50), measure)


def _targets() -> Scenario:
    """79 targets, each with a share of stereotypes of its own."""
    rng = np.random.default_rng(27)
    number = 4000
    units = _unit_sizes(rng, number, 26.0)
    shares = np.clip(rng.normal(0.6, 0.12, number), 0.05, 0.95)[units]
    meaningful = np.sort(rng.random((len(units), 2)), axis=1) + rng.normal(0.3, 0.15, number)[units][:, None]
    wins = (rng.random(len(units)) < shares)[:, None]
    rows = np.column_stack([np.where(wins, meaningful[:, ::-1], meaningful), rng.random(len(units))])
    population = Population((rows,), units, np.zeros(number, dtype=int))
    every = [f"target {unit}" for unit in units]

    def measure(draw: np.random.Generator, seed: int) -> Result:
        (values,), names = population.draw(np.array([79]), draw)
        targets = [f"target {name}" for name in names]
        return statistics.stereoset_icat(values, targets, units=targets, seed=seed)

    return Scenario(statistics.stereoset_icat(rows, every, draws=50), measure)


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "gest_masculine_rate": _masculine,
    "gest_stereotype_rate": lambda: _stereotype_rate(PER_STEREOTYPE),
    "gest_stereotype_rate, 20 a stereotype": lambda: _stereotype_rate([20] * 16),
    "gest_stereotype_rate, EuroGEST's scale": lambda: _stereotype_rate(PER_STEREOTYPE, "eurogest"),
    "gest_stereotype_rate, EuroGEST's scale, 20 a stereotype, shares near 0.9": lambda: _stereotype_rate(
        [20] * 16, "eurogest", level=2.2
    ),
    "gest_control_bias, 250 quadruplets": lambda: _control(250),
    "gest_control_bias, 66 quadruplets": lambda: _control(66),
    "stereoset_icat, SS near 59": lambda: _icat(0.59),
    "stereoset_icat, SS = 50": lambda: _icat(0.5),
    "winobias_rate": _winobias,
    "gest_masculine_rate, p = 0.995 and 0.999": _rare,
    "gest_masculine_rate, 60 sentences a stereotype in four systems": _systems,
    "gest_stereotype_rate, 40 sources a stereotype with pairs": _pairs,
    "gest_stereotype_rate, five creators": _creators,
    "gest_control_bias, 80 originals with ten copies": _control_copies,
    "stereoset_icat, 79 targets drawn": _targets,
    "winobias_rate, 40 occupations": _occupations,
    "compare f_mu, 80 originals with ten copies": _compare_copies,
    "compare g_s": _compare_g_s,
    "compare g_s over four templates": _compare_templates,
    "compare f_s": _compare_f_s,
    "compare icat": _compare_icat,
    "compare f_mu": _compare_f_mu,
}


# Also simulated, with few data sets, in the fast tests
FAST = ["winobias_rate, 40 occupations", "compare f_mu, 80 originals with ten copies"]
JOINT = ("_simultaneous", "feminine_ranks")


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
                name = statistic.removesuffix("_analytic").removesuffix("_simultaneous")
                truth = np.asarray(scenario.truth[name])
                inside = (np.asarray(low) <= truth) & (truth <= np.asarray(found[f"{statistic}_high"]))
                share = inside.all() if statistic.endswith(JOINT) else inside.mean()
                total[statistic] = total.get(statistic, 0.0) + float(share)
    return total


def _outside(coverage: Mapping[str, float], least: float, most: float) -> dict[str, float]:
    """Coverages that are not 95 %; the analytic ones stand beside, and ranks are conservative."""
    return {
        name: share
        for name, share in coverage.items()
        if not name.endswith("_analytic") and not least <= share <= (1 if name == "feminine_ranks" else most)
    }


@pytest.mark.parametrize("name", FAST)
def test_intervals_of_units_cover_the_truth_in_a_few_data_sets(name: str) -> None:
    """If rows were resampled independently, coverage would be 45 to 90 %."""
    coverage = {key: hits / FEW for key, hits in _hits(name, range(FEW)).items()}
    assert coverage
    assert not _outside(coverage, LEAST_OF_FEW, MOST_OF_FEW)


@pytest.mark.slow
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
    assert not _outside(coverage, LEAST, MOST)
    assert not any(math.isnan(share) for share in coverage.values())
