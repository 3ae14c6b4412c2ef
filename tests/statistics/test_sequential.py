"""Stopping early: stratified order, looks, and intervals that hold at every look."""

import math
from collections import Counter

import numpy as np
import pytest

from gest_dataset.statistics.sequential import FIRST_LOOK, first_of_each, looks, stratified_order, stretch
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from tests.statistics.test_coverage import PER_STEREOTYPE

STRATA = np.repeat(np.arange(16), PER_STEREOTYPE)
IDS = [f"{stratum}-{number}" for number, stratum in enumerate(STRATA)]


def test_every_beginning_of_the_order_is_stratified() -> None:
    order = stratified_order(IDS, STRATA.tolist())
    assert sorted(order) == list(range(len(IDS)))
    for size in looks(len(IDS)):
        counts = Counter(STRATA[order[:size]].tolist())
        for stratum, total in enumerate(PER_STEREOTYPE):
            assert abs(counts[stratum] - size * total / len(IDS)) <= 1


def test_the_order_depends_on_ids_only() -> None:
    reverse = stratified_order(IDS[::-1], STRATA[::-1].tolist())
    names = [IDS[::-1][index] for index in reverse]
    assert set(names[:500]) == {IDS[index] for index in stratified_order(IDS, STRATA.tolist())[:500]}
    assert names != IDS


def test_first_of_each_takes_the_same_number_of_each_stratum() -> None:
    chosen = first_of_each(IDS, STRATA.tolist(), 40)
    assert Counter(STRATA[chosen].tolist()) == dict.fromkeys(range(16), 40)
    assert chosen == sorted(chosen)
    assert first_of_each(["a", "b", "c"], [0, 0, 1], 40) == [0, 1, 2]


def test_looks_end_with_all_samples() -> None:
    assert looks(3565)[0] == FIRST_LOOK
    assert looks(3565)[-1] == 3565
    assert looks(FIRST_LOOK) == [FIRST_LOOK]
    assert looks(100) == [100]


def test_stretch_is_that_of_an_asymptotic_confidence_sequence() -> None:
    """The mixture boundary of Robbins for t steps of variance 1, with its tuning parameter."""
    r = (math.log(1 - 2 * math.log(0.05)) - 2 * math.log(0.05)) / 320
    for t in (320, 1000, 3565):
        boundary = math.sqrt((t * r + 1) / r * math.log((t * r + 1) / 0.05**2))  # of a sum
        assert stretch(t) == pytest.approx(boundary / math.sqrt(t) / 1.959964, rel=1e-6)


def _wrong_at_a_look(scores: np.ndarray, factor: bool, runs: int = 300) -> float:
    """The share of simulated runs in which the interval of ln g_s misses the truth 0 at some look."""
    rng = np.random.default_rng(0)
    order = np.array(stratified_order(IDS, STRATA.tolist()))
    strata = STRATA[order]
    wrong = 0
    for _ in range(runs):
        drawn = rng.choice(scores, len(order))
        missed = False
        for size in looks(len(order)):
            variance = estimate = 0.0
            for stratum, weight in enumerate(MALE_MINUS_FEMALE):
                values = drawn[:size][strata[:size] == stratum]
                estimate += weight * values.mean()
                variance += weight**2 * values.var(ddof=1) / len(values)
            missed |= abs(estimate) > 1.959964 * math.sqrt(variance) * (stretch(size) if factor else 1.0)
        wrong += missed
    return wrong / runs


@pytest.mark.parametrize("name", ["normal", "skewed", "heavy tails"])
def test_intervals_hold_at_every_look_and_ordinary_ones_do_not(name: str) -> None:
    rng = np.random.default_rng(1)
    scores = {
        "normal": rng.normal(size=20_000),
        "skewed": rng.exponential(size=20_000),
        "heavy tails": rng.standard_t(3, size=20_000),
    }[name]
    scores -= scores.mean()
    assert _wrong_at_a_look(scores, factor=True) <= 0.05
    assert _wrong_at_a_look(scores, factor=False) > 0.10
