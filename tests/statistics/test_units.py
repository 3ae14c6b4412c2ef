"""Samples that come in units: the bootstrap draws units, proportions are worth fewer samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gest_dataset import statistics
from gest_dataset.statistics import bootstrap, proportions
from gest_dataset.statistics.bootstrap import linear
from tests.statistics.test_statistics import gest, quadruplets, stereoset, translated


def calls(seed: int) -> dict[str, tuple[Any, list[list[Any]], str]]:
    """Each statistic with inputs of one row a sample, and the name of its headline."""
    ratios, references = gest(seed, each=12)
    sides = np.random.default_rng(seed).choice(["male", "female"], len(ratios)).tolist()
    return {
        "stereotype_rate": (statistics.stereotype_rate, [ratios, references], "g_s_"),
        "masculine_rate": (statistics.masculine_rate, [*translated(seed, each=12)], "f_s_"),
        "control_bias": (statistics.control_bias, [*quadruplets(seed)], "f_mu_"),
        "stereoset_icat": (statistics.stereoset_icat, [*stereoset(seed, each=20)], "lms_"),
        "winobias_rate": (statistics.winobias_rate, [ratios, sides], "g_s_"),
        "compare": (
            lambda *sides, **options: vars(statistics.compare("g_s", *sides, **options)),
            [ratios, ratios[::-1], references],
            "",
        ),
    }


NAMES = list(calls(1))


@pytest.mark.parametrize("name", NAMES)
def test_units_of_one_sample_change_nothing(name: str) -> None:
    function, inputs, _ = calls(1)[name]
    own = [f"sample {i}" for i in range(len(inputs[0]))]
    assert repr(function(*inputs, units=own, draws=200)) == repr(function(*inputs, draws=200))


@pytest.mark.parametrize("name", NAMES)
def test_copies_of_samples_say_nothing_new(name: str) -> None:
    """Each sample three times: as units, about the bounds of the samples alone; else far shorter ones."""
    function, inputs, headline = calls(2)[name]
    copies = [[value for value in column for _ in range(3)] for column in inputs]
    units = [i for i in range(len(inputs[0])) for _ in range(3)]
    results = function(*inputs), function(*copies, units=units), function(*copies)
    alone, together, apart = (result[f"{headline}high"] - result[f"{headline}low"] for result in results)
    assert together == pytest.approx(alone, rel=0.1)
    assert apart < 0.75 * alone


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("units", ["none", "nested", "crossed"])
def test_the_order_of_samples_and_names_of_units_do_not_matter(name: str, units: str) -> None:
    """Not for the values and, to the last bit, not for the bounds of the bootstrap."""
    function, inputs, _ = calls(3)[name]
    number = len(inputs[0])
    strata = inputs[1] if name in ("stereotype_rate", "masculine_rate", "winobias_rate") else [0] * number
    names = [(i % 4, stratum if units == "nested" else None) for i, stratum in enumerate(strata)]
    order = np.random.default_rng(1).permutation(number)
    shuffled = [[column[i] for i in order] for column in inputs]
    first, second = (
        ({}, {}) if units == "none" else ({"units": names}, {"units": [repr(names[i]) for i in order]})
    )
    assert repr(function(*shuffled, draws=200, **second)) == repr(function(*inputs, draws=200, **first))


@pytest.mark.parametrize("crossed", [False, True])
def test_bounds_are_those_of_a_bootstrap_of_units(crossed: bool) -> None:
    """A plain loop: draw units, all of their rows, and studentise with the spread over units."""
    rng = np.random.default_rng(5)
    number = 60
    owner = np.repeat(np.arange(number), rng.integers(1, 6, number))
    strata = rng.integers(0, 2, len(owner)) if crossed else owner % 2
    values = rng.exponential(1, number)[owner] + 0.3 * rng.normal(size=len(owner)) + strata
    resamples = bootstrap.resample(values[:, None], strata, 2, owner, 8000, 1)
    difference = linear(np.array([[-1.0], [1.0]]))
    found, students = resamples.interval(difference), resamples.interval(difference, students=True)

    def measure(picks: np.ndarray) -> tuple[float, float]:
        total, size = (
            np.array([[w[(owner == unit) & (strata == s)].sum() for s in (0, 1)] for unit in picks])
            for w in (values, np.ones(len(owner)))
        )
        means = total.sum(axis=0) / size.sum(axis=0)
        moved = (total - means * size) / size.sum(axis=0)
        m = (size > 0).sum(axis=0)
        moved = moved * np.sqrt(m / (m - 1)) * [-1, 1]
        return float(means[1] - means[0]), math.sqrt(float((moved.sum(axis=1) ** 2).sum()))

    kinds = [np.arange(number)] if crossed else [np.arange(0, number, 2), np.arange(1, number, 2)]
    value, error = measure(np.arange(number))
    ratios = []
    for _ in range(400):
        again = measure(np.concatenate([rng.choice(kind, len(kind)) for kind in kinds]))
        ratios.append((again[0] - value) / again[1])
    low, high = np.quantile(ratios, [0.025, 0.975])
    assert found.value == pytest.approx(value)
    assert (students.high - students.low) / 2 / error == pytest.approx(2.0, abs=0.03)
    assert found.low == pytest.approx(value - high * error, abs=0.35 * error)
    assert found.high == pytest.approx(value - low * error, abs=0.35 * error)


def test_a_stratum_with_one_unit_has_no_bounds() -> None:
    ratios, references = gest(1, each=4)
    names = [0 if i == 3 else j for j, i in enumerate(references)]
    found = statistics.stereotype_rate(ratios, references, units=names, draws=100)
    assert [math.isnan(low) for low in found["q_low"]] == [i == 3 for i in range(1, 17)]
    assert math.isnan(found["g_s_low"])
    assert not math.isnan(found["g_s"])
    # also where units cross the stereotypes
    names = [0 if i == 3 else j // 2 for j, i in enumerate(references)]
    found = statistics.stereotype_rate(ratios, references, units=names, draws=100)
    assert math.isnan(found["q_low"][2])
    assert math.isnan(found["g_s_high"])


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_draws_without_a_small_stratum_give_no_warning() -> None:
    """Two samples per stereotype, one unit in two stereotypes: some draws have no sample of a stereotype."""
    ratios, references = gest(1, each=2)
    names = [0 if row in (2, 4) else row for row in range(len(ratios))]
    found = statistics.stereotype_rate(ratios, references, units=names)
    assert not math.isnan(found["g_s"])


def test_worth_is_the_design_effect() -> None:
    """Units of one mind are worth one sample each, but for Student's t; independent ones a sample a row."""
    rng = np.random.default_rng(9)
    agreed = np.repeat(rng.random(200) < 0.4, 5).astype(float)
    own = np.repeat(np.arange(200), 5)
    strata = np.zeros(1000, dtype=np.int64)
    students = (proportions.Z / stats.t.ppf(0.975, 199)) ** 2
    found = proportions.effective_ratio(proportions.count_hits(agreed, strata, 1, own), np.ones(1))
    assert found == pytest.approx(students / 5, rel=0.01)
    same = proportions.effective_ratio(proportions.count_hits(np.ones(1000), strata, 1, own), np.ones(1))
    assert same == pytest.approx(students / 5)
    mixed = proportions.effective_ratio(
        proportions.count_hits((rng.random(1000) < 0.4) * 1.0, strata, 1, own), np.ones(1)
    )
    assert 0.8 * students < mixed <= students
