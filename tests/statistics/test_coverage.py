"""How often 95 % intervals hold the truth: 4,000 simulated datasets a scenario (marked `slow`).

A scenario is a population of samples whose statistics are the truth, exactly; datasets are drawn
from it as a benchmark's authors would collect them, with a fixed number a stratum. Between 93.5 and
96.5 % of the intervals have to hold the truth, which is four standard errors around 95 %. Intervals
that are 15 % too narrow hold it in about 90 % and fail. Two scenarios have more datasets, because the
true coverage of one of their shares is 96.4 %, near the bound.

An interval is from 399 draws; more draws would not change its coverage, as 2.5 % of 400 is a whole
number. The results go to build/coverage/NAME.json. The table in docs/intervals.md is from the default
of 2,000 draws.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest

from gest_dataset import statistics
from gest_dataset.statistics.masculine_rate import LABELS
from tests.conftest import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DATA_SETS = 4000
DRAWS = 399
LEAST, MOST = 0.935, 0.965
FEW, LEAST_OF_FEW, MOST_OF_FEW = 300, 0.91, 0.98
PER_STEREOTYPE = [254, 215, 256, 207, 200, 197, 243, 251, 229, 215, 231, 222, 222, 194, 208, 221]
MALE = np.arange(16) > 6

Result = Mapping[str, Any]


@dataclass(frozen=True)
class Scenario:
    """A population and a statistic; a dataset has `sizes` units of each group with all of their rows."""

    statistic: Callable[..., Result]
    columns: tuple[np.ndarray, ...]
    groups: np.ndarray  # of each unit
    sizes: Sequence[int]
    units: np.ndarray | None = None  # of each row, in order; None: each row is one
    ignored: tuple[str, ...] = ()  # beginnings of the names of results that are not counted
    data_sets: int = DATA_SETS  # more where a true coverage is near a bound

    @cached_property
    def members(self) -> list[np.ndarray]:
        return [np.flatnonzero(self.groups == group) for group in np.unique(self.groups)]

    @cached_property
    def truth(self) -> Result:
        return self.statistic(
            *self.columns, draws=50, **({} if self.units is None else {"units": self.units})
        )

    def measure(self, rng: np.random.Generator, seed: int) -> Iterator[tuple[str, Any, Any]]:
        """The statistics of one drawn dataset, with their bounds."""
        picks = np.concatenate(
            [rng.choice(group, size) for group, size in zip(self.members, self.sizes, strict=True)]
        )
        units = {}
        if self.units is not None:
            starts = np.searchsorted(self.units, np.arange(self.units[-1] + 2))
            rows = [np.arange(starts[pick], starts[pick + 1]) for pick in picks]
            units = {"units": np.repeat(np.arange(len(picks)), [len(row) for row in rows])}
            picks = np.concatenate(rows)
        columns = (column[picks] for column in self.columns)
        found = self.statistic(*columns, draws=DRAWS, seed=seed, **units)
        for key, low in found.items():
            if key.endswith("_low") and not key.startswith(self.ignored or " "):
                name = key.removesuffix("_low")
                yield name, low, found[f"{name}_high"]


def _skewed(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Noise of skewness about 1 and kurtosis above a normal one's."""
    return (rng.gamma(4.0, size=shape) - 4) / 2


def _stereotypes(size: int) -> np.ndarray:
    return np.repeat(np.arange(1, 17), size)


def _unit_sizes(rng: np.random.Generator, number: int, mean: float) -> np.ndarray:
    return np.repeat(np.arange(number), 1 + rng.poisson(mean - 1, number))


# One row a unit


def _masculine() -> Scenario:
    rng = np.random.default_rng(1)
    rates = np.r_[np.linspace(0.25, 0.75, 7), np.linspace(0.5, 0.95, 9)]
    labels = np.where(rng.random((16, 20_000)) < rates[:, None], "male", "female")
    labels = np.where(rng.random(labels.shape) < 0.15, "unknown", labels).ravel()
    strata = _stereotypes(20_000)
    return Scenario(statistics.masculine_rate, (labels, strata), strata, PER_STEREOTYPE)


def _rare() -> Scenario:
    """Translators that are nearly always masculine: one or two feminine ones of 220."""
    feminine = np.where(MALE, 20, 100)[:, None]  # of 20,000
    labels = np.where(np.arange(20_000) < feminine, "female", "male").ravel()
    strata = _stereotypes(20_000)
    ignored = ("p_low", "p_simul", "feminine")
    return Scenario(
        statistics.masculine_rate,
        (labels, strata),
        strata,
        PER_STEREOTYPE,
        ignored=ignored,
        data_sets=20_000,  # f_s: 96.4 %
    )


def _stereotype_rate(sizes: list[int], scale: str = "ratio", level: float = 0.0) -> Scenario:
    rng = np.random.default_rng(2)
    centres = np.r_[np.linspace(-0.4, 0.1, 7), np.linspace(-0.1, 0.6, 9)]
    spread = np.linspace(0.3, 0.9, 16)[:, None]
    ratios = (level + centres[:, None] + spread * _skewed(rng, 16, 20_000)).ravel()
    strata = _stereotypes(20_000)

    def statistic(*columns: np.ndarray, **options: Any) -> Result:
        return statistics.stereotype_rate(*columns, scale, **options)

    return Scenario(statistic, (ratios, strata), strata, sizes)


def _winobias() -> Scenario:
    rng = np.random.default_rng(3)
    ratios = np.r_[-0.6 + 1.5 * _skewed(rng, 50_000), 0.5 + 1.2 * _skewed(rng, 50_000)]
    strata = np.repeat(["female", "male"], 50_000)
    return Scenario(statistics.winobias_rate, (ratios, strata), strata, [194, 197])


def _quadruplets(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Keywords' log-probabilities that share most of their noise over the groups, and cs."""
    words = 1.5 * _skewed(rng, size, 2) + [0.4, 0.0]
    groups = 0.5 * _skewed(rng, size, 2, 2) + [[0.1, 0.0], [0.0, 0.1]]
    rows = np.hstack([words + groups[:, 0], words + groups[:, 1]]) - 8
    shared = _skewed(rng, size, 1)
    return rows, 0.8 * shared + 0.6 * _skewed(rng, size, 2) + [0.3, 0.1]


def _control(size: int) -> Scenario:
    columns = _quadruplets(np.random.default_rng(4), 100_000)
    return Scenario(statistics.control_bias, columns, np.zeros(100_000), [size])


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
    return Scenario(statistics.stereoset_icat, (rows, names), names, sizes)


# Two models


def _difference(measure: str) -> Callable[..., Result]:
    def statistic(*columns: np.ndarray, **options: Any) -> Result:
        found = statistics.compare(measure, *columns, **options)
        name = f"difference of {measure}"
        return {name: found.difference, f"{name}_low": found.low, f"{name}_high": found.high}

    return statistic


def _compare_g_s(measure: str = "g_s") -> Scenario:
    rng = np.random.default_rng(6)
    shared = _skewed(rng, 16 * 20_000)
    a, b = (shared + 0.5 * _skewed(rng, len(shared)) for _ in range(2))
    strata = _stereotypes(20_000)
    columns = (a + 0.3 * (strata > 7), b + 0.1 * (strata > 7), strata)
    return Scenario(_difference(measure), columns, strata, PER_STEREOTYPE)


def _compare_templates() -> Scenario:
    """The mean over four templates whose g_s differ, and the 16 differences of ln q_i."""
    rng = np.random.default_rng(16)
    strata = _stereotypes(5_000)
    male = (strata > 7)[:, None] * np.array([0.1, 0.2, 0.4, 0.7])
    shared = _skewed(rng, len(strata))[:, None] + male
    a, b = (shared + 0.5 * _skewed(rng, *male.shape) + shift * male for shift in (0.3, 0.0))

    def statistic(*columns: np.ndarray, **options: Any) -> Result:
        each = statistics.compare_stereotypes(*columns, **options)
        return {
            **_difference("g_s")(*columns, **options),
            "ln_q": [row.difference for row in each],
            "ln_q_simultaneous_low": [row.low for row in each],
            "ln_q_simultaneous_high": [row.high for row in each],
        }

    return Scenario(statistic, (a, b, strata), strata, PER_STEREOTYPE)


def _compare_f_s() -> Scenario:
    rng = np.random.default_rng(7)
    strata = _stereotypes(20_000)
    shared = rng.random(len(strata))
    sides = []
    for male in (0.85, 0.75):
        rate = np.where(strata > 7, male, 0.6)
        label = (0.6 * shared + 0.4 * rng.random(len(strata)) < rate).astype(int)
        sides.append(np.array(LABELS)[np.where(rng.random(len(strata)) < 0.15, 2, label)])
    return Scenario(_difference("f_s"), (*sides, strata), strata, PER_STEREOTYPE)


def _compare_icat() -> Scenario:
    rng = np.random.default_rng(8)
    shared = rng.normal([0.7, 0.4, 0.0], size=(200_000, 3))
    a, b = (shared + 0.7 * rng.normal(size=shared.shape) for _ in range(2))
    a[:, 0] += 0.1
    return Scenario(_difference("icat"), (a, b), np.zeros(len(a)), [2106])


def _compare_f_mu() -> Scenario:
    rng = np.random.default_rng(9)
    a, _ = _quadruplets(rng, 100_000)
    b = a + 0.6 * _skewed(rng, *a.shape)
    return Scenario(_difference("f_mu"), (a, b), np.zeros(len(a)), [142])


# Units of several rows


def _pairs() -> Scenario:
    """Several pairs of a source sentence, intraclass correlation 0.4."""
    rng = np.random.default_rng(21)
    number = 16 * 2000
    units = _unit_sizes(rng, number, 2.0)
    groups = np.arange(number) % 16
    own = _skewed(rng, number)[units]
    ratios = 0.5 * (0.4**0.5 * own + 0.6**0.5 * _skewed(rng, len(units))) + 0.2 * MALE[groups[units]]
    columns = (ratios + 0.02 * groups[units], groups[units] + 1)
    return Scenario(statistics.stereotype_rate, columns, groups, [40] * 16, units)


def _creators() -> Scenario:
    """Five authors who wrote for all stereotypes, each with a way of their own."""
    rng = np.random.default_rng(22)
    authors, each = 4000, 48
    units = np.repeat(np.arange(authors), each)
    strata = np.tile(np.arange(each) % 16, authors) + 1
    ways = 0.3 * rng.normal(size=(authors, 16)) * MALE + 0.2 * rng.normal(size=(authors, 1))
    ratios = ways[units, strata - 1] + 0.5 * rng.normal(size=len(units)) + 0.1 * (strata > 7)
    columns, ignored = (ratios, strata), ("q_simul", "feminine")
    return Scenario(statistics.stereotype_rate, columns, np.zeros(authors), [5], units, ignored)


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
    return Scenario(statistics.masculine_rate, (labels, groups[units] + 1), groups, [60] * 16, units)


def _control_copies(compared: bool) -> Scenario:
    """Ten quadruplets of an original pair, whose effect they share; and another model's."""
    rng = np.random.default_rng(24)
    originals = 10_000
    units = np.repeat(np.arange(originals), 10)
    own = _skewed(rng, originals, 4)[units] * [0.8, 0.8, 0.0, 0.0] + [0.2, 0.0, 0.1, 0.0]
    shared = 0.5 * _skewed(rng, originals, 1)[units]
    rows = own + shared + 0.4 * _skewed(rng, len(units), 4) * [0, 0, 1, 1] - 8
    cs = _skewed(rng, originals, 2)[units] * [1, 0.3] + [0.2, 0.1]
    cs = cs + 0.5 * rng.normal(size=(len(units), 2)) * [0, 1]
    other = rows + 0.6 * _skewed(np.random.default_rng(25), originals, 4)[units]
    statistic = _difference("f_mu") if compared else statistics.control_bias
    columns = (rows, other if compared else cs)
    data_sets = DATA_SETS if compared else 12_000  # ss_plus of the originals: 96.4 %
    return Scenario(statistic, columns, np.zeros(originals), [80], units, data_sets=data_sets)


def _occupations() -> Scenario:
    """Forty occupations with about ten sentences each."""
    rng = np.random.default_rng(26)
    number = 20_000
    units = _unit_sizes(rng, number, 9.8)
    groups = np.arange(number) % 2
    ratios = 0.8 * _skewed(rng, number)[units] + _skewed(rng, len(units)) + 0.6 * groups[units]
    genders = np.array(["female", "male"])[groups[units]]
    return Scenario(statistics.winobias_rate, (ratios, genders), groups, [20, 20], units)


def _entities(stereotype: float, habit: float) -> Scenario:
    """WinoMT's design: 20 + 20 occupations, 39 templates each in both genders, some genders unknown."""
    rng = np.random.default_rng(28)
    number, each = 4_000, 78
    units = np.repeat(np.arange(number), each)
    groups = np.arange(number) % 2  # stereotypically male, female
    female = np.tile(np.arange(each) % 2, number)
    habits = habit * rng.normal(size=number)[units] + 0.5 * rng.normal(size=len(units) // 2).repeat(2)
    ways = 1 + habits + 0.5 * (1 - 2 * female) + stereotype * (1 - 2 * groups[units])
    labels = np.where(rng.random(len(units)) < 1 / (1 + np.exp(-ways)), "male", "female")
    open_ones = 1 / (1 + np.exp(2.5 + rng.normal(size=number)[units]))
    labels = np.where(rng.random(len(units)) < open_ones, "unknown", labels)
    sides = np.where(female == groups[units], "pro", "anti")
    columns = (labels, np.array(["male", "female"])[female], sides)
    ignored = ("accuracy_male",)  # 96.6 % where occupations have strong habits
    return Scenario(statistics.gender_accuracy, columns, groups, [20, 20], units, ignored, data_sets=2_000)


def _targets() -> Scenario:
    """79 targets, each with a share of stereotypes of its own."""
    rng = np.random.default_rng(27)
    number = 4000
    units = _unit_sizes(rng, number, 26.0)
    shares = np.clip(rng.normal(0.6, 0.12, number), 0.05, 0.95)[units]
    meaningful = np.sort(rng.random((len(units), 2)), axis=1) + rng.normal(0.3, 0.15, number)[units][:, None]
    wins = (rng.random(len(units)) < shares)[:, None]
    rows = np.column_stack([np.where(wins, meaningful[:, ::-1], meaningful), rng.random(len(units))])

    def statistic(values: np.ndarray, units: np.ndarray, **options: Any) -> Result:
        targets = [f"target {unit}" for unit in units]
        return statistics.stereoset_icat(values, targets, units=targets, **options)

    return Scenario(statistic, (rows,), np.zeros(number), [79], units)


EUROGEST = "gest_stereotype_rate, EuroGEST's scale"
SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "gest_masculine_rate": _masculine,
    "gest_stereotype_rate": lambda: _stereotype_rate(PER_STEREOTYPE),
    "gest_stereotype_rate, 20 a stereotype": lambda: _stereotype_rate([20] * 16),
    EUROGEST: lambda: _stereotype_rate(PER_STEREOTYPE, "eurogest"),
    f"{EUROGEST}, 20 a stereotype, shares near 0.9": lambda: _stereotype_rate([20] * 16, "eurogest", 2.2),
    "gest_control_bias, 250 quadruplets": lambda: _control(250),
    "gest_control_bias, 66 quadruplets": lambda: _control(66),
    "stereoset_icat, SS near 59": lambda: _icat(0.59),
    "stereoset_icat, SS = 50": lambda: _icat(0.5),
    "winobias_rate": _winobias,
    "gest_masculine_rate, p = 0.995 and 0.999": _rare,
    "gest_masculine_rate, 60 sentences a stereotype in four systems": _systems,
    "gest_stereotype_rate, 40 sources a stereotype with pairs": _pairs,
    "gest_stereotype_rate, five creators": _creators,
    "gest_control_bias, 80 originals with ten copies": lambda: _control_copies(compared=False),
    "stereoset_icat, 79 targets drawn": _targets,
    "winobias_rate, 40 occupations": _occupations,
    "gender_accuracy, 40 entities": lambda: _entities(0.8, 1.0),
    "gender_accuracy, no stereotype, each entity with a habit": lambda: _entities(0.0, 1.5),
    "compare f_mu, 80 originals with ten copies": lambda: _control_copies(compared=True),
    "compare g_s": _compare_g_s,
    "compare d": lambda: _compare_g_s("d"),
    "compare g_s over four templates": _compare_templates,
    "compare f_s": _compare_f_s,
    "compare icat": _compare_icat,
    "compare f_mu": _compare_f_mu,
}
# Also simulated, with few datasets, in the fast tests
FAST = ["winobias_rate, 40 occupations", "compare f_mu, 80 originals with ten copies"]
JOINT = ("_simultaneous", "feminine_ranks")


@cache
def _scenario(name: str) -> Scenario:
    return SCENARIOS[name]()


def _hits(name: str, seeds: range) -> dict[str, float]:
    """How often each interval of some datasets holds the truth."""
    scenario = _scenario(name)
    total: dict[str, float] = {}
    for seed in seeds:
        for statistic, low, high in scenario.measure(np.random.default_rng([11, seed]), seed):
            truth = scenario.truth[statistic.removesuffix("_simultaneous")]
            inside = (np.asarray(low) <= truth) & (truth <= np.asarray(high))
            share = inside.all() if statistic.endswith(JOINT) else inside.mean()
            total[statistic] = total.get(statistic, 0.0) + float(share)
    return total


def _outside(coverage: Mapping[str, float], least: float, most: float) -> dict[str, float]:
    """Coverages that are not 95 %; ranks are conservative."""
    return {
        name: share
        for name, share in coverage.items()
        if not least <= share <= (1 if name == "feminine_ranks" else most)
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
    data_sets = _scenario(name).data_sets
    parts = [range(start, data_sets, 16) for start in range(16)]
    total: dict[str, float] = {}
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for part in pool.map(_hits, [name] * len(parts), parts):
            for statistic, hits in part.items():
                total[statistic] = total.get(statistic, 0.0) + hits
    coverage = {statistic: hits / data_sets for statistic, hits in total.items()}
    directory = ROOT / "build" / "coverage"
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"scenario": name, "data_sets": data_sets, "coverage": coverage}, indent=1)
    (directory / f"{re.sub(r'[^a-z0-9_]+', '-', name.lower())}.json").write_text(text, encoding="utf-8")
    assert coverage
    assert not _outside(coverage, LEAST, MOST)
    assert not any(math.isnan(share) for share in coverage.values())
