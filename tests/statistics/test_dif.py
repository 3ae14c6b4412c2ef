"""Sentences that differ between languages: none is found in sets without any, planted ones are."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from gest_dataset.statistics.comparison import LARGEST, language_deviations

SETS = 200
SENTENCES = 1_008
STEREOTYPES = np.arange(SENTENCES) % 16 + 1
PLANTED = np.arange(3)
TAILS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda generator, shape: generator.normal(size=shape),
    "t5": lambda generator, shape: generator.standard_t(5, size=shape) / np.sqrt(5 / 3),
}


def scores(tails: str, languages: int, seed: int, noise: float = 0.4) -> np.ndarray:
    """Scores with a correlation of 1 - noise^2 between languages, whose stereotypes have other means."""
    generator = np.random.default_rng(seed)
    common = np.sqrt(1 - noise**2) * TAILS[tails](generator, (SENTENCES, 1))
    own = noise * TAILS[tails](generator, (SENTENCES, languages))
    return common + own + generator.normal(size=(16, languages))[STEREOTYPES - 1]


def standing_out(values: np.ndarray) -> np.ndarray:
    deviations, limit = language_deviations(values, STEREOTYPES)
    return (np.abs(deviations) > limit).any(axis=1)


@pytest.mark.parametrize("languages", [2, 4])
@pytest.mark.parametrize("tails", TAILS)
def test_at_most_one_set_in_twenty_without_such_sentences_has_any(tails: str, languages: int) -> None:
    flagged = sum(standing_out(scores(tails, languages, seed)).any() for seed in range(SETS))
    assert flagged <= stats.binom.ppf(0.99, SETS, 0.05)


def planted(tails: str, seed: int, noise: float) -> np.ndarray:
    """Sentences moved by four standard deviations in the last of four languages."""
    values = scores(tails, 4, seed, noise)
    values[PLANTED, -1] += 4
    return values


@pytest.mark.parametrize(("tails", "noise"), [("normal", 0.4), ("t5", 0.1)])
def test_planted_sentences_stand_out(tails: str, noise: float) -> None:
    found = [standing_out(planted(tails, seed, noise))[PLANTED].mean() for seed in range(40)]
    assert np.mean(found) >= 0.9


@pytest.mark.parametrize("tails", TAILS)
def test_planted_sentences_are_among_the_largest(tails: str) -> None:
    """Also where heavy tails hide them from the limit."""
    listed = []
    for seed in range(40):
        sizes = np.abs(language_deviations(planted(tails, seed, 0.3), STEREOTYPES)[0])
        largest = np.argsort(sizes.max(axis=1))[-LARGEST:]
        listed.append(np.isin(PLANTED, largest).mean())
        assert (sizes[PLANTED].argmax(axis=1) == 3).all()
    assert np.mean(listed) >= 0.9


def test_loudness_changes_nothing() -> None:
    """So all of the above holds for a model that is more extreme in some languages."""
    values = scores("normal", 4, 0)
    deviations, limit = language_deviations(values, STEREOTYPES)
    loud, limit_of_loud = language_deviations(values * [5, 1, 0.2, 1] + [0, 1, 2, 3], STEREOTYPES)
    assert loud == pytest.approx(deviations)
    assert limit_of_loud == pytest.approx(limit)


def test_in_few_sentences_none_stands_out() -> None:
    values = scores("normal", 4, 0, noise=0.1)
    values[0, 3] += 9
    deviations, limit = language_deviations(values[:500], STEREOTYPES[:500])
    assert np.abs(deviations[0]).max() > limit
    assert language_deviations(values[:499], STEREOTYPES[:499])[1] == np.inf
