"""The jackknife over creators knows a spread between creators that the items' error does not."""

import math

import numpy as np

from gest_dataset.statistics.reliability import creator_jackknife

STEREOTYPES = np.tile(np.arange(16), 100)
CREATORS = [f"creator {place % 5}" for place in range(len(STEREOTYPES))]


def test_bounds_hold_what_other_creators_would_show() -> None:
    hits = []
    for seed in range(300):
        generator = np.random.default_rng(seed)
        voices = dict(zip(sorted(set(CREATORS)), 0.2 * generator.normal(size=5), strict=True))
        own = np.array([voices[creator] for creator in CREATORS])
        scores = (0.3 + own) * (STEREOTYPES > 6) + generator.normal(size=len(STEREOTYPES))
        found = creator_jackknife(scores, STEREOTYPES, CREATORS)
        hits.append(found.low < 0.3 < found.high)
    assert 0.91 < np.mean(hits) < 0.985


def test_a_creator_without_some_stereotype_has_no_rate_of_its_own() -> None:
    creators = ["all"] * len(STEREOTYPES)
    creators[0] = "one"
    found = creator_jackknife(np.zeros(len(STEREOTYPES)), STEREOTYPES, creators)
    assert math.isnan(found.by_creator["one"])
    assert found.by_creator["all"] == 0


def test_one_creator_bounds_nothing() -> None:
    assert math.isnan(creator_jackknife(np.ones(16), np.arange(16), ["A"] * 16).low)
