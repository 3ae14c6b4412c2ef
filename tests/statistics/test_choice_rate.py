"""The rate of choices: against a naive reading, planted odds, and models that follow the letter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from statistics import mean
from typing import Any

import numpy as np
import pytest

from gest_dataset.errors import DataError
from gest_dataset.statistics import choice_rate
from gest_dataset.statistics.checks import UndefinedWarning
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


def test_the_order_of_answers_does_not_matter() -> None:
    columns = answers(np.random.default_rng(2), 3, 0.3, 0.5, 0.1)
    order = np.random.default_rng(3).permutation(len(columns["predictions"]))
    mixed = {name: [values[i] for i in order] for name, values in columns.items()}
    straight, shuffled = choice_rate(**columns), choice_rate(**mixed)
    for name, value in straight.items():
        assert shuffled[name] == pytest.approx(value, nan_ok=True), name


def test_without_letters_nothing_is_said_of_positions() -> None:
    columns = answers(np.random.default_rng(0), 3, 0, 1, 0)
    del columns["letters"]
    assert np.isnan(choice_rate(**columns)["position_effect"])


def test_a_stereotype_without_a_readable_answer() -> None:
    with pytest.warns(UndefinedWarning, match="no readable answer for stereotype 1"):
        result = choice_rate(["other", "male"] * 2, [1, 8, 1, 8])
    assert np.isnan(result["stereotype_rate"])
    assert result["unreadable"] == 0.5


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"predictions": ["he"], "references": [1]}, "'he' is not one of"),
        ({"predictions": ["male"], "references": [17]}, "17 is not one of"),
        ({"predictions": ["male"], "references": [1], "letters": ["a"]}, "'a' is not the place"),
        ({"predictions": ["male"], "references": [1], "letters": [0, 1]}, "no partner"),
    ],
)
def test_bad_input_is_answered_with_its_place(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        choice_rate(**columns)


@pytest.mark.slow
@pytest.mark.parametrize(("follows", "bias", "refused"), [(0.0, 0.3, 0.0), (0.3, 0.5, 0.1), (0.6, 0.2, 0.3)])
def test_planted_values_are_in_their_intervals(follows: float, bias: float, refused: float) -> None:
    """400 simulated runs: 93.5 to 96.5 % of the intervals hold the truth."""
    expected = {
        "stereotype_rate": (1 - follows) * bias,
        "unreadable": refused,
    }
    rng = np.random.default_rng(7)
    results = [choice_rate(**answers(rng, 10, follows, bias, refused), draws=1000) for _ in range(400)]
    for name, truth in expected.items():
        if truth:
            held = mean(r[f"{name}_low"] <= truth <= r[f"{name}_high"] for r in results)
            assert 0.935 <= held <= 0.965, (name, held)
