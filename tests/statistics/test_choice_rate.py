"""The rate of choices: against a naive reading, planted odds, and models that follow the letter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from statistics import mean, variance
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gest_dataset.measures.gest import CHOICE
from gest_dataset.measures.result import compute_result, with_verdict
from gest_dataset.statistics import choice_rate
from gest_dataset.statistics.choice_rate import choice_rate_of_shares, repeat_variance
from gest_dataset.stereotypes import STEREOTYPES

OPTIONS = ("male", "female", "neither")
ORDERS = np.array(list(permutations(range(3))))  # of OPTIONS
FEMALE, MALE = range(1, 8), range(8, 17)
# What a stereotype's sentences are answered with: its own gender, the other one, neither; odds by stereotype
ODDS = [
    (0.3 + 0.04 * (i % 8), 0.05 + 0.02 * (i % 5), 0.65 - 0.04 * (i % 8) - 0.02 * (i % 5)) for i in range(16)
]
ALIKE = 4.0  # sentences of a stereotype: each has odds of its own, Dirichlet with this concentration
RUNS = 2000  # so that 93.5 to 96.5 % are three standard errors from 95 %


def named(gender: str) -> tuple[str, str, str]:
    """What the three odds of a stereotype are of."""
    return gender, "female" if gender == "male" else "male", "neither"


def answers(
    seed: int,
    sentences: int,
    follows: float = 0.0,
    refused: float = 0.0,
    odds: Sequence[tuple[float, float, float]] = ODDS,
) -> dict[str, list[Any]]:
    """It refuses, else takes the first letter with `follows`, else answers by the sentence's odds."""
    rng = np.random.default_rng(seed)
    chosen = []  # the places in OPTIONS, by sentence and order
    for stereotype, planted in zip(STEREOTYPES.values(), odds, strict=True):
        names = np.array([OPTIONS.index(name) for name in named(stereotype.gender)])
        up_to = rng.dirichlet(ALIKE * np.array(planted) + 1e-9, sentences).cumsum(axis=1)[:, None, :2]
        chosen.append(names[(rng.random((sentences, len(ORDERS), 1)) > up_to).sum(axis=-1)])
    options = np.concatenate(chosen)
    options = np.where(rng.random(options.shape) < follows, ORDERS[:, 0], options)
    letters = ORDERS.argsort(axis=1)[np.arange(len(ORDERS)), options]
    readable = rng.random(options.shape) >= refused
    return {
        "predictions": np.where(readable, np.array(OPTIONS)[options], "other").ravel().tolist(),
        "references": np.repeat(list(STEREOTYPES), sentences * len(ORDERS)).tolist(),
        "units": np.repeat(np.arange(len(options)), len(ORDERS)).tolist(),
        "letters": np.where(readable, letters, None).ravel().tolist(),
    }


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
    for_men = mean(means[i]["male"] - means[i]["female"] for i in MALE if i != left_out)
    return (for_men + mean(means[i]["female"] - means[i]["male"] for i in FEMALE)) / 2


def test_the_definition() -> None:
    columns = answers(0, 4, follows=0.2, refused=0.1)
    result = choice_rate(**columns)
    assert result["stereotype_rate"] == pytest.approx(naive_rate(columns))
    assert result["stereotype_rate_without_15"] == pytest.approx(naive_rate(columns, left_out=15))
    unreadable = columns["predictions"].count("other") / len(columns["predictions"])
    assert result["unreadable"] == pytest.approx(unreadable)
    assert result["n"] == [4] * 16


def test_every_answer_is_the_stereotype() -> None:
    result = choice_rate(**answers(0, 3, odds=[(1, 0, 0)] * 16))
    assert result["stereotype_rate"] == result["stereotype_rate_high"] == 1
    assert 0.8 < result["stereotype_rate_low"] < 1  # 48 equal sentences do not prove it
    assert result["same_option"] == 1
    # of two orders of three options the same one stands at the same letter in 3 of 15
    assert result["same_letter"] == pytest.approx(0.2)
    assert result["position_effect_high"] < 0


def test_a_model_that_follows_the_letter_shows_nothing_and_is_found_out() -> None:
    result = choice_rate(**answers(0, 20, follows=1, refused=0.05))
    assert result["stereotype_rate_low"] < 0 < result["stereotype_rate_high"]
    assert result["same_letter"] == 1
    assert result["position_effect_low"] > 0.7


def test_refusals_do_not_turn_the_verdict_round() -> None:
    """60 % of the stereotyped answers are refused: the rate is below 0, the truth above, the verdict open."""
    rng = np.random.default_rng(0)
    truth = answers(0, 60, odds=[(0.5, 0.3, 0.2)] * 16)
    genders = [STEREOTYPES[number].gender for number in truth["references"]]
    refused = [
        "other" if option == gender and rng.random() < 0.6 else option
        for option, gender in zip(truth["predictions"], genders, strict=True)
    ]
    columns = {"predictions": refused, "references": truth["references"], "units": truth["units"]}
    table = pa.table(
        {"option": refused, "stereotype": truth["references"], "id": truth["units"]}
        | {"position": [None] * len(refused)}
    )
    result = with_verdict(CHOICE, choice_rate(**columns))
    assert result["verdict"] == compute_result(CHOICE, table, None)["verdict"] == "not shown"
    assert result["stereotype_rate_high"] < 0 < naive_rate(truth)
    # all refused answers were the stereotype
    assert result["stereotype_rate_highest"] == pytest.approx(naive_rate(truth))
    for name, sign in (("lowest", -1), ("highest", 1)):
        genders_of = {-1: {"male": "female", "female": "male"}, 1: {"male": "male", "female": "female"}}[sign]
        filled = [
            genders_of[gender] if option == "other" else option
            for option, gender in zip(refused, genders, strict=True)
        ]
        assert result[f"stereotype_rate_{name}"] == pytest.approx(
            naive_rate(columns | {"predictions": filled})
        )
        end = "low" if sign < 0 else "high"
        assert sign * result[f"stereotype_rate_{name}_{end}"] > sign * result[f"stereotype_rate_{name}"]
    readable = choice_rate(**answers(0, 2))
    assert readable["stereotype_rate_lowest_low"] == pytest.approx(readable["stereotype_rate_low"])
    assert readable["stereotype_rate_highest"] == pytest.approx(readable["stereotype_rate"])


@pytest.mark.parametrize("share", [0.0, 0.2, 0.45, 0.8])
def test_letter_following_is_estimated_and_corrected(share: float) -> None:
    """The rate of the answers that follow the options is in its interval, in 18 of 20 runs or more."""
    content = mean((own - other) for own, other, _ in (ODDS[i - 1] for i in FEMALE)) / 2
    content += mean((own - other) for own, other, _ in (ODDS[i - 1] for i in MALE)) / 2
    held = {"letter_following": 0, "stereotype_rate_corrected": 0}
    for seed in range(20):
        result = choice_rate(**answers(seed, 20, follows=share), draws=500)
        assert result["letter_following"] == pytest.approx(share, abs=0.04)
        for name, truth in (("letter_following", share), ("stereotype_rate_corrected", content)):
            held[name] += result[f"{name}_low"] <= truth <= result[f"{name}_high"]
    assert held["stereotype_rate_corrected"] >= 18
    assert held["letter_following"] >= 18 or share == 0
    warnings = [line for line in CHOICE.describe(result, {}) if "follow the letter" in line]
    assert bool(warnings) == (share >= 0.1)
    corrected = f"Corrected for these answers, the rate is {result['stereotype_rate_corrected']:.3f}"
    assert share not in (0.2, 0.45) or corrected in warnings[0]


def test_letters_leave_the_other_numbers_as_they_are() -> None:
    """Also the bounds that are drawn: 40 sentences a stereotype are enough for the bootstrap."""
    columns = answers(3, 40, follows=0.2)
    told = choice_rate(**columns, draws=200)
    untold = choice_rate(**(columns | {"letters": None}), draws=200)
    assert told["letter_following_low"] < told["letter_following"]
    with_letters = ("same_option", "same_letter", "position_effect")
    others = [name for name in untold if not name.startswith(with_letters)]
    assert {"stereotype_rate_low", "preference_high", "male_f_low", "neither_low"} <= set(others)
    for name in others:
        assert told[name] == untold[name], name


def test_pairs_have_two_options() -> None:
    columns = {"predictions": ["male", "female"] * 16, "references": [n for n in STEREOTYPES for _ in "ab"]}
    assert choice_rate(**columns, letters=[0, 0] * 16)["letter_following"] == 1
    assert choice_rate(**columns, letters=[0, 1] * 16)["letter_following"] == 0


def test_repeats_of_a_sentence_are_no_new_sentences() -> None:
    """Its answers all said again: the same interval, to the last digit."""
    columns = answers(1, 5, follows=0.1)
    once = choice_rate(**columns)
    again = choice_rate(**{name: [*values, *values] for name, values in columns.items()})
    for name in ("stereotype_rate", "stereotype_rate_low", "stereotype_rate_high"):
        assert again[name] == pytest.approx(once[name])
    alone = choice_rate(columns["predictions"], columns["references"])
    width, narrow = (r["stereotype_rate_high"] - r["stereotype_rate_low"] for r in (once, alone))
    assert width != pytest.approx(narrow)


def test_a_stereotype_without_a_readable_answer() -> None:
    result = choice_rate(["other", "male"] * 2, [1, 8, 1, 8])
    assert np.isnan(result["stereotype_rate"])
    assert result["unreadable"] == 0.5


def test_sure_probabilities_are_the_answers() -> None:
    columns = answers(0, 4, follows=0.2, refused=0.1)
    told = choice_rate(**columns)
    certain = [{} if option == "other" else {option: 1.0} for option in columns["predictions"]]
    shares = choice_rate_of_shares(certain, columns["references"], columns["units"])
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


def planted(follows: float, refused: float) -> dict[str, float]:
    """What such runs are drawn around, word by word from the odds."""
    rates = {i: (1 - follows) * (own - other) for i, (own, other, _) in enumerate(ODDS, start=1)}
    women, men = mean(rates[i] for i in FEMALE), mean(rates[i] for i in MALE)
    # The odds of two answers about one sentence to be the same option, if none follows the letter
    same = [(ALIKE * sum(share**2 for share in odds) + 1) / (ALIKE + 1) for odds in ODDS]
    # The means over all pairs of different orders: two orders share their first letter in 1 of 5 pairs
    effects = [0.4 * (2 * follows**2 + (1 - follows) ** 2 * (1 - 3 * s)) for s in same]
    return {
        "stereotype_rate": (women + men) / 2,
        "stereotype_rate_without_15": (women + mean(rates[i] for i in MALE if i != 15)) / 2,
        "unreadable": refused,
        "position_effect": mean(effects),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("follows", "refused"), [(0.0, 0.05), (0.3, 0.1), (0.7, 0.3)])
def test_planted_values_are_in_their_intervals(follows: float, refused: float) -> None:
    """93.5 to 96.5 % of the intervals of 2,000 simulated runs hold the truth: 30 sentences a stereotype.

    Each interval is from 399 draws. Intervals that are 15 % too narrow hold the truth in about 90 %.
    """
    truths = planted(follows, refused)
    held: dict[str, list[bool]] = {name: [] for name in truths}
    for seed in range(RUNS):
        result = choice_rate(**answers(seed, 30, follows, refused), draws=399)
        for name, truth in truths.items():
            held[name].append(result[f"{name}_low"] <= truth <= result[f"{name}_high"])
    shares = {name: float(np.mean(own)) for name, own in held.items()}
    assert all(0.935 <= share <= 0.965 for share in shares.values()), shares
