"""Reliability and shares of variance, on scores whose parts are planted."""

import math

import numpy as np
import pytest

from gest_dataset.statistics.correlation import (
    creator_jackknife,
    split_half,
    template_agreement,
    variance_shares,
)

STEREOTYPES = np.repeat(np.arange(16), 200)
TEMPLATES = 4
TILED = np.tile(np.arange(16), 100)
CREATORS = [f"creator {i % 5}" for i in range(len(TILED))]
PLANTED = {"stereotype": 0.5, "sentence": 0.6, "template": 0.4, "interaction": 0.3, "rest": 0.7}


def planted(seed: int = 0, **deviations: float) -> np.ndarray:
    """Scores [samples, templates] that are sums of independent parts with these standard deviations."""
    generator = np.random.default_rng(seed)
    sizes = {"stereotype": (16, 1), "sentence": (len(STEREOTYPES), 1), "template": (1, TEMPLATES)}
    sizes |= {"interaction": (16, TEMPLATES), "rest": (len(STEREOTYPES), TEMPLATES)}
    total = np.zeros((len(STEREOTYPES), TEMPLATES))
    for name, deviation in deviations.items():
        part = generator.normal(size=sizes[name])
        # exactly the planted spread, for the parts of which there are few draws
        part = part / part.std(ddof=1) if name in ("stereotype", "template") else part
        total += deviation * (part[STEREOTYPES] if sizes[name][0] == 16 else part)
    return total


def test_planted_parts_come_back() -> None:
    shares = np.mean(
        [list(variance_shares(planted(seed, **PLANTED), STEREOTYPES).values()) for seed in range(20)],
        axis=0,
    )
    variances = np.array(
        [PLANTED[n] ** 2 for n in ("stereotype", "sentence", "template", "interaction", "rest")]
    )
    assert shares == pytest.approx(variances / variances.sum(), abs=0.03)
    assert shares.sum() == pytest.approx(1)


def test_halves_are_dealt_in_turn_within_each_stereotype() -> None:
    """Against a naive one: every stereotype's scores are shuffled, and every second one is of one half."""
    generator = np.random.default_rng(5)
    sizes = [3, 2, 5, 4]
    stereotypes = np.repeat([1, 4, 6, 15], sizes)
    scores = generator.normal(size=(sum(sizes), 1)) + stereotypes[:, None] / 10
    drawn, each = np.random.default_rng(11), []
    for _ in range(7):
        keys, halves = drawn.random(sum(sizes)), []
        for side in (0, 1):
            groups = [np.flatnonzero(stereotypes == i) for i in (1, 4, 6, 15)]
            halves.append([scores[sorted(g, key=keys.__getitem__)[side::2], 0].mean() for g in groups])
        each.append(np.corrcoef(*halves)[0, 1])
    expected = 2 * np.mean(each) / (1 + np.mean(each))
    assert split_half(scores, stereotypes, splits=7, seed=11) == pytest.approx(expected)


def test_noise_has_no_reliable_profile_and_stereotypes_have_one() -> None:
    noise = [split_half(planted(seed, rest=1.0), STEREOTYPES) for seed in range(20)]
    assert np.mean(noise) < 0.25
    assert min(noise) == 0, "halves of noise may have a negative correlation, but no reliability below 0"
    assert split_half(planted(stereotype=0.5, rest=1.0), STEREOTYPES) > 0.95


def test_templates_agree_as_far_as_they_share_something() -> None:
    profile, samples = template_agreement(planted(stereotype=1.0, sentence=1.0), STEREOTYPES)
    assert (profile, samples) == (pytest.approx(1), pytest.approx(1))
    _, samples = template_agreement(planted(sentence=1.0, rest=1.0), STEREOTYPES)
    assert samples == pytest.approx(0.5, abs=0.05)
    assert math.isnan(template_agreement(planted(rest=1.0)[:, :1], STEREOTYPES)[0])


def test_bounds_hold_what_other_creators_would_show() -> None:
    hits = []
    for seed in range(300):
        generator = np.random.default_rng(seed)
        voices = dict(zip(sorted(set(CREATORS)), 0.2 * generator.normal(size=5), strict=True))
        own = np.array([voices[creator] for creator in CREATORS])
        scores = (0.3 + own) * (TILED > 6) + generator.normal(size=len(TILED))
        found = creator_jackknife(scores, TILED, CREATORS)
        hits.append(math.log(found["g_s_low"]) < 0.3 < math.log(found["g_s_high"]))
    assert 0.91 < np.mean(hits) < 0.985


def test_a_creator_without_some_stereotype_has_no_rate_of_its_own() -> None:
    creators = ["all"] * len(TILED)
    creators[0] = "one"
    found = creator_jackknife(np.zeros(len(TILED)), TILED, creators)
    assert math.isnan(found["by_creator"]["one"])
    assert found["by_creator"]["all"] == 1
