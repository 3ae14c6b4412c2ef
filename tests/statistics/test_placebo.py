"""The placebo band: a naive reference, and how often pairs that were not used for it exceed it."""

from __future__ import annotations

import math
from statistics import mean, variance

import numpy as np
import pytest

from gest_dataset.statistics import placebo
from gest_dataset.statistics.weights import FEMALE, MALE

RNG = np.random.default_rng(25)
STEREOTYPES = RNG.permutation(np.arange(320) % 16 + 1)


def naive(scores: list[float]) -> float:
    """|ln g_s| of one pair of words in standard deviations within stereotypes."""
    groups = [[x for x, i in zip(scores, STEREOTYPES, strict=True) if i == number] for number in range(1, 17)]
    male = [mean(group) for group, weight in zip(groups, MALE, strict=True) if weight]
    female = [mean(group) for group, weight in zip(groups, FEMALE, strict=True) if weight]
    return abs(mean(male) - mean(female)) / math.sqrt(mean(variance(group) for group in groups))


def test_effects_are_those_of_single_pairs() -> None:
    values = RNG.normal(size=(320, 5)) + np.outer(STEREOTYPES, [0.0, 0.01, -0.05, 0.2, 1.0])
    pairs = [(0, 1), (1, 3), (4, 2)]
    effects = placebo.effects(values, STEREOTYPES.tolist(), pairs)
    expected = [naive((values[:, a] - values[:, b]).tolist()) for a, b in pairs]
    np.testing.assert_allclose(effects, expected, rtol=1e-9)


def test_effects_do_not_depend_on_what_words_have_in_common() -> None:
    """Logits and ln P differ by the normaliser of each sample, which cancels out."""
    values = RNG.normal(size=(320, 4))
    pairs = [(0, 1), (2, 3)]
    shifted = values + RNG.normal(size=(320, 1)) * 30
    one, other = (placebo.effects(some, STEREOTYPES.tolist(), pairs) for some in (values, shifted))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_no_effects_without_samples_of_every_stereotype() -> None:
    assert not len(placebo.effects(np.ones((15, 2)), list(range(1, 16)), [(0, 1)]))
    assert not len(placebo.effects(np.ones((16, 2)), list(range(1, 17)), [(0, 1)]))
    assert placebo.effects(np.ones((32, 2)), [*range(1, 17)] * 2, [(0, 1)]).tolist() == [0.0]


def test_the_limit_holds_for_held_out_pairs() -> None:
    """Half of the pairs give the limit, the other half exceeds it in at most 5 % of cases."""
    shares = []
    for _ in range(2000):
        effects = np.abs(RNG.standard_t(4, size=200))
        shares.append(np.mean(effects[100:] > placebo.limit(effects[:100])))
    assert 0.047 < np.mean(shares) < 0.052  # 5 / 101 expected
    assert placebo.limit(np.arange(1, 40)) == 38
    assert placebo.limit(np.arange(18)) == math.inf


def test_limits_and_quantiles_are_averaged_over_templates() -> None:
    one, other = (placebo.summary(np.linspace(0, top, 101)) for top in (1.0, 0.5))
    assert placebo.compare(0.25, [one])["percentile"] == pytest.approx(0.25)
    assert placebo.compare(-0.25, [other])["percentile"] == pytest.approx(0.5)
    both = placebo.compare(0.6, [one, other])
    assert both["percentile"] == pytest.approx(0.8)
    assert both["limit"] == pytest.approx((one["limit"] + other["limit"]) / 2)
    assert both["pairs"] == 101
    assert placebo.compare(5.0, [one])["percentile"] == 1.0


def test_the_limit_of_a_mean_holds_for_dependent_and_independent_templates() -> None:
    for shared in (0.0, 0.5, 1.0):
        exceed = []
        for _ in range(300):
            common, own = RNG.normal(size=(400, 1)), RNG.normal(size=(400, 2))
            effects = math.sqrt(shared) * common + math.sqrt(1 - shared) * own
            limit = np.mean([placebo.limit(np.abs(column)) for column in effects[:200].T])
            exceed.append(np.mean(np.abs(effects[200:].mean(axis=1)) > limit))
        assert np.mean(exceed) <= 0.052
