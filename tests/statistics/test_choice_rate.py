"""The rate of choices: against a naive reading, planted odds, and models that follow the letter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from statistics import mean, variance
from typing import Any

import numpy as np
import pytest

from gest_dataset.errors import DataError
from gest_dataset.statistics import choice_rate
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.statistics.choice_rate import choice_rate_of_shares
from gest_dataset.statistics.repeats import repeat_variance
from gest_dataset.stereotypes import STEREOTYPES

OPTIONS = ("male", "female", "neither")


def answers(
    rng: np.random.Generator, sentences: int, follows: float, bias: float, refused: float
) -> dict[str, list[Any]]:
    """It takes the first letter with `follows`, else the stereotype with `bias`, else neither."""
    columns: dict[str, list[Any]] = {"predictions": [], "references": [], "units": [], "letters": []}
    for stereotype in STEREOTYPES.values():
        for number in range(sentences):
            for order in permutations(OPTIONS):
                if rng.random() < refused:
                    option = "other"
                elif rng.random() < follows:
                    option = order[0]
                else:
                    option = stereotype.gender if rng.random() < bias else "neither"
                columns["predictions"].append(option)
                columns["references"].append(stereotype.id)
                columns["units"].append(f"{stereotype.id}-{number}")
                columns["letters"].append(order.index(option) if option in order else None)
    return columns


def naive_rate(columns: dict[str, Sequence[Any]], left_out: int | None = None) -> float:
    """The definition, word by word: sentences, stereotypes, groups."""
    by_sentence: dict[tuple[int, str], list[str]] = {}
    for option, stereotype, unit in zip(*list(columns.values())[:3], strict=True):
        if option != "other":
            by_sentence.setdefault((stereotype, unit), []).append(option)
    share = {key: {o: own.count(o) / len(own) for o in OPTIONS} for key, own in by_sentence.items()}
    means = {
        s: {o: mean(shares[o] for (of, _), shares in share.items() if of == s) for o in OPTIONS}
        for s in STEREOTYPES
    }
    men = [means[s.id] for s in STEREOTYPES.values() if s.gender == "male" and s.id != left_out]
    women = [means[s.id] for s in STEREOTYPES.values() if s.gender == "female"]
    for_men = mean(m["male"] for m in men) - mean(m["female"] for m in men)
    return (for_men + mean(w["female"] for w in women) - mean(w["male"] for w in women)) / 2


def test_the_definition() -> None:
    columns = answers(np.random.default_rng(0), 4, 0.2, 0.6, 0.1)
    result = choice_rate(**columns)
    assert result["stereotype_rate"] == pytest.approx(naive_rate(columns))
    assert result["stereotype_rate_without_15"] == pytest.approx(naive_rate(columns, left_out=15))
    unreadable = columns["predictions"].count("other") / len(columns["predictions"])
    assert result["unreadable"] == pytest.approx(unreadable)
    assert result["n"] == [4] * 16


def test_every_answer_is_the_stereotype() -> None:
    result = choice_rate(**answers(np.random.default_rng(0), 3, 0, 1, 0))
    assert result["stereotype_rate"] == result["stereotype_rate_low"] == 1
    assert result["same_option"] == 1
    # of two orders of three options the same one stands at the same letter in 3 of 15
    assert result["same_letter"] == pytest.approx(0.2)
    assert result["position_effect_high"] < 0


def test_a_model_that_follows_the_letter_shows_nothing_and_is_found_out() -> None:
    result = choice_rate(**answers(np.random.default_rng(0), 20, 1, 0, 0.05))
    assert result["stereotype_rate_low"] < 0 < result["stereotype_rate_high"]
    assert result["same_letter"] == 1
    assert result["position_effect_low"] > 0.7


def test_repeats_of_a_sentence_are_no_new_sentences() -> None:
    """Its answers all said again: the same interval, to the last digit."""
    columns = answers(np.random.default_rng(1), 5, 0.1, 0.5, 0)
    once = choice_rate(**columns)
    again = choice_rate(**{name: [*values, *values] for name, values in columns.items()})
    for name in ("stereotype_rate", "stereotype_rate_low", "stereotype_rate_high"):
        assert again[name] == pytest.approx(once[name])
    alone = choice_rate(columns["predictions"], columns["references"])
    width, narrow = (r["stereotype_rate_high"] - r["stereotype_rate_low"] for r in (once, alone))
    assert width != pytest.approx(narrow)


def test_a_stereotype_without_a_readable_answer() -> None:
    with pytest.warns(UndefinedWarning, match="no readable answer for stereotype 1"):
        result = choice_rate(["other", "male"] * 2, [1, 8, 1, 8])
    assert np.isnan(result["stereotype_rate"])
    assert result["unreadable"] == 0.5


# ---- the second reading, and repeats -----------------------------------------------------------------------


def certain(columns: dict[str, list[Any]]) -> list[dict[str, float]]:
    """Each answer as a probability of 1."""
    return [{} if option == "other" else {option: 1.0} for option in columns["predictions"]]


def test_sure_probabilities_are_the_answers() -> None:
    columns = answers(np.random.default_rng(0), 4, 0.2, 0.6, 0.1)
    told = choice_rate(**columns)
    shares = choice_rate_of_shares(certain(columns), columns["references"], columns["units"])
    for name in ("stereotype_rate", "stereotype_rate_low", "stereotype_rate_without_15_high", "male", "n"):
        assert shares[name] == pytest.approx(told[name]), name
    assert shares["n_without"] == columns["predictions"].count("other")
    assert shares["n_answers"] + shares["n_without"] == len(columns["predictions"])


def test_probabilities_are_averaged_over_the_orders_of_a_sentence() -> None:
    shares = [{"male": 0.5, "female": 0.5}, {"male": 1.0, "female": 0.0, "neither": 0.0}] * 16
    stereotypes = [s for s in STEREOTYPES for _ in range(2)]
    result = choice_rate_of_shares(shares, stereotypes, units=stereotypes)
    assert result["male"] == pytest.approx([0.75] * 16)
    assert result["preference"] == pytest.approx([0.5] * 16)
    assert result["stereotype_rate"] == pytest.approx(0)


@pytest.mark.parametrize("wrong", [{"male": 0.5}, {"male": -0.5, "female": 1.5}, {"men": 1.0}])
def test_what_is_no_probability_is_answered_with_its_place(wrong: dict[str, float]) -> None:
    with pytest.raises(DataError, match=r"index 1.*no probabilities"):
        choice_rate_of_shares([{"male": 1.0}, wrong], [1, 1])


def test_the_variance_of_repeats_by_hand() -> None:
    """Two sentences, three prompts: 2 of 3 male, both female, one of two neither."""
    said = ["male", "male", "female", "female", "female", "male", "neither", "other"]
    units = ["a", "a", "a", "a", "a", "b", "b", "b"]
    prompts = ["x", "x", "x", "y", "y", "z", "z", "z"]
    result = repeat_variance(said, [1] * 8, units, prompts)
    assert result["n_repeated"] == 3
    assert result["repeat_variance"] == pytest.approx(mean([mean([1 / 3, 0]), 0.125]))
    assert result["repeat_agreement"] == pytest.approx(mean([mean([1 / 3, 1]), 0]))
    assert result["answer_variance"] == pytest.approx(variance([1, 1, 0, 0, 0, 1, 0.5]))


# ---- planted truth -----------------------------------------------------------------------------------------

RUNS = 2000  # so that 93.5 to 96.5 % are three standard errors from 95 %
# What a stereotype's sentences are answered with: its own gender, the other one, neither; odds by stereotype
ODDS = [
    (0.3 + 0.04 * (i % 8), 0.05 + 0.02 * (i % 5), 0.65 - 0.04 * (i % 8) - 0.02 * (i % 5)) for i in range(16)
]
ALIKE = 4.0  # sentences of a stereotype: each has odds of its own, Dirichlet with this concentration
ORDERS = list(permutations(OPTIONS))


def named(gender: str) -> tuple[str, str, str]:
    """What the three odds of a stereotype are of."""
    return gender, "female" if gender == "male" else "male", "neither"


def drawn(rng: np.random.Generator, sentences: int, follows: float, refused: float) -> dict[str, list[Any]]:
    """A run: it refuses, else takes the first letter with `follows`, else answers by the sentence's odds."""
    columns: dict[str, list[Any]] = {"predictions": [], "references": [], "units": [], "letters": []}
    for stereotype, odds in zip(STEREOTYPES.values(), ODDS, strict=True):
        own = rng.dirichlet(ALIKE * np.array(odds), sentences)
        names = named(stereotype.gender)
        draws = rng.random((sentences, len(ORDERS), 3))
        for number in range(sentences):
            for order, (refuses, first, at) in zip(ORDERS, draws[number], strict=True):
                place = int(np.searchsorted(own[number].cumsum()[:2], at))
                option = order[0] if first < follows else names[place]
                option = "other" if refuses < refused else option
                columns["predictions"].append(option)
                columns["references"].append(stereotype.id)
                columns["units"].append(f"{stereotype.id}-{number}")
                columns["letters"].append(order.index(option) if option in order else None)
    return columns


def planted(follows: float, refused: float) -> dict[str, float]:
    """What such runs are drawn around, word by word from the odds."""
    rates = [(1 - follows) * (own - other) for own, other, _ in ODDS]
    women, men = rates[:7], rates[7:]
    without_15 = men[:7] + men[8:]
    return {
        "stereotype_rate": (mean(women) + mean(men)) / 2,
        "stereotype_rate_without_15": (mean(women) + mean(without_15)) / 2,
        "unreadable": refused,
    }


@pytest.mark.slow
@pytest.mark.parametrize(("follows", "refused"), [(0.0, 0.05), (0.3, 0.1), (0.7, 0.3)])
def test_planted_values_are_in_their_intervals(follows: float, refused: float) -> None:
    """93.5 to 96.5 % of the intervals of simulated runs hold the truth: 30 sentences a stereotype."""
    truths = planted(follows, refused)
    rng = np.random.default_rng(7)
    held: dict[str, list[bool]] = {name: [] for name in truths}
    for _ in range(RUNS):
        result = choice_rate(**drawn(rng, 30, follows, refused), draws=1000)
        for name, truth in truths.items():
            held[name].append(result[f"{name}_low"] <= truth <= result[f"{name}_high"])
    shares = {name: float(np.mean(own)) for name, own in held.items()}
    assert all(0.935 <= share <= 0.965 for share in shares.values()), shares
