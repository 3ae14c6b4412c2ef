"""Simultaneous bounds, rank intervals and the permutation test."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from gest_dataset import statistics
from gest_dataset.statistics.weights import permutation_p

STEREOTYPES = np.repeat(np.arange(1, 17), 30)


def _ratios(seed: int, effect: np.ndarray) -> np.ndarray:
    return effect[STEREOTYPES - 1] + np.random.default_rng(seed).normal(size=len(STEREOTYPES))


def test_rank_intervals_hold_all_true_ranks() -> None:
    """Three are clearly apart: the rank of a lone one is known, those of the rest are open."""
    effect = np.r_[-3.0, np.zeros(13), 2.0, 5.0]
    wrong = 0
    for seed in range(60):
        found = statistics.stereotype_rate(_ratios(seed, effect), STEREOTYPES, draws=300, seed=seed)
        low, high = found["feminine_ranks_low"], found["feminine_ranks_high"]
        assert (low[0], high[0]) == (1, 1)
        assert (low[15], high[15]) == (16, 16)
        # the thirteen are equal, so nothing may be said of their order
        wrong += max(low[1:14]) > 2 or min(high[1:14]) < 14
    assert wrong <= 8


def test_a_translator_with_one_odd_stereotype_has_a_least_one() -> None:
    genders = ["female" if i == 4 else "male" for i in STEREOTYPES]
    found = statistics.masculine_rate(genders, STEREOTYPES.tolist())
    assert (found["feminine_ranks_low"][3], found["feminine_ranks_high"][3]) == (1, 1)
    assert found["feminine_ranks_low"][0] == 2
    assert found["p_simultaneous_low"][0] < found["p_low"][0] < 1


def test_small_samples_are_bounded_by_students_t() -> None:
    """Three a stereotype: wider than single bounds by Sidak's level, and nothing is named."""
    keep = np.tile(np.arange(30) < 3, 16)
    found = statistics.stereotype_rate(_ratios(1, np.zeros(16))[keep], STEREOTYPES[keep], draws=100)
    for i in range(16):
        assert found["q_simultaneous_low"][i] < found["q_low"][i] < found["q_simultaneous_high"][i]
    assert found["feminine_ranks_low"] == [1.0] * 16


def test_permutation_is_the_count_of_choices() -> None:
    values = np.random.default_rng(2).normal(size=16) + 0.4 * (np.arange(16) > 6)

    def difference(chosen: tuple[int, ...]) -> float:
        others = [i for i in range(16) if i not in chosen]
        return abs(values[others].mean() - values[list(chosen)].mean())

    own = difference(tuple(range(7)))
    every = [difference(chosen) for chosen in combinations(range(16), 7)]
    assert len(every) == 11_440
    assert permutation_p(values) == pytest.approx(np.mean([x >= own - 1e-12 for x in every]))
    assert permutation_p(-values) == permutation_p(values) == permutation_p(values + 3)


def test_permutation_at_its_ends() -> None:
    assert permutation_p(np.r_[np.zeros(7), np.ones(9)]) == pytest.approx(1 / 11_440)
    assert permutation_p(np.zeros(16)) == 1
    assert math.isnan(permutation_p([math.nan, *range(15)]))
