"""Planted odds are what the corpora say, small models recover them, and every planted fault is caught.

`make validate` runs the full models.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from gest_dataset.models.scores import compute_scores
from gest_dataset.stereotypes import STEREOTYPES
from tests.validation import keywords, naive
from tests.validation.checks import Check, control_checks, model_checks, rate_checks
from tests.validation.corpus import (
    WORLDS,
    Gap,
    Question,
    log_g_s,
    pair_gaps,
    pair_questions,
    planted_sentences,
    template_gaps,
    template_questions,
    unbalanced,
)
from tests.validation.faults import FAULTS, Fault, first_failed
from tests.validation.models import (
    FULL,
    QUICK,
    Limits,
    Model,
    train_keyword_model,
    train_world_model,
)
from tests.validation.training import Recipe, train

# The models of QUICK with fewer sentences. The first one learns them; the others are trained briefly and only
# test how the package reads a model
LIMITS = (Limits(sentences=0.85, g_s=False), None, None, None)
SMALL = tuple(
    replace(
        plan,
        templates=plan.templates[::2],
        copies=4 if plan.recipe.kind == "masked" else 1,
        recipe=replace(plan.recipe, epochs=epochs, batch=32),
        limits=limits,
    )
    for plan, epochs, limits in zip(QUICK.models, (30, 12, 6, 6), LIMITS, strict=True)
)


@pytest.fixture(scope="module")
def models() -> list[Model]:
    return [train_world_model(plan, 4, seed=0) for plan in SMALL]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("size", [6, 8])
def test_held_out_sentences_have_the_planted_mean(world: str, size: int) -> None:
    sentences = planted_sentences(world, size, seed=3)
    for stereotype, planted in WORLDS[world].items():
        for held_out in (True, False):
            group = [one for one in sentences if (one.stereotype, one.held_out) == (stereotype, held_out)]
            assert np.mean([one.log_odds for one in group]) == pytest.approx(planted, abs=0.01)
            if held_out:
                assert set(Counter(one.verb for one in group).values()) == {2}
                assert np.std([one.log_odds for one in group]) > 0.2


def test_texts_and_questions_by_hand() -> None:
    one = planted_sentences("planted", 4, seed=0)[2]
    one = replace(one, verb="baved", object="the tiru", masculine=200, feminine=800)
    assert template_gaps([one], [1, 4]) == [
        Gap("", ' said: "I baved the tiru."', {"He": 200, "She": 800}),
        Gap('"I baved the tiru.", the ', " said.", {"man": 200, "woman": 800}),
    ]
    (question,) = template_questions([one], [3])
    assert question.before + question.feminine + question.after == '"I baved the tiru.", she said.'
    assert question.log_odds == math.log(200 / 800)
    (gap,) = pair_gaps([one], seed=0)
    assert all((count == 200) == word.endswith("l") for word, count in gap.counts.items())
    copies = pair_questions([one], seed=0, copies=4)
    assert len({copy.masculine for copy in copies}) == 4
    assert len({copy.unit for copy in copies}) == 1


def test_unbalanced_samples_distinguish_means_of_stereotypes_from_means_of_samples() -> None:
    chosen = unbalanced([one for one in planted_sentences("planted", 6, seed=0) if one.held_out])
    log_odds = {i: [one.log_odds for one in chosen if one.stereotype == i] for i in STEREOTYPES}
    assert len({len(group) for group in log_odds.values()}) > 4
    by_stereotype = log_g_s({i: float(np.mean(group)) for i, group in log_odds.items()})
    male, female = (
        [value for i, group in log_odds.items() if (i > 7) == is_male for value in group]
        for is_male in (True, False)
    )
    assert abs(by_stereotype - (np.mean(male) - np.mean(female))) > 0.05


@pytest.mark.parametrize("keyword_set", keywords.KEYWORD_SETS, ids=lambda one: one.name)
def test_quadruplets_have_the_planted_ss(keyword_set: keywords.KeywordSet) -> None:
    _, quadruplets = keywords.keyword_corpus(keyword_set, seed=0)
    assert len(quadruplets) == 96
    assert np.mean([one.f for one in quadruplets]) == pytest.approx(keyword_set.beta, abs=0.005)
    for side, sign in (("original", 1), ("control", -1)):
        mean = np.mean([getattr(one, f"ss_{side}") for one in quadruplets])
        assert mean == pytest.approx(sum(keyword_set.phi) / 2 + sign * keyword_set.beta / 2, abs=0.005)


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_a_model_learns_the_numbers_of_texts(kind: str) -> None:
    gaps = [
        Gap("the red ", " said .", {"he": 900, "she": 100}),
        Gap("the blue ", " said .", {"he": 250, "she": 750}),
    ]
    model, tokenizer = train(gaps, Recipe(kind, width=32, epochs=200, batch=3, rate=1e-2, spread=0.1), seed=0)
    ids = {word: tokenizer.get_vocab()[word] for word in ("he", "she")}
    for gap in gaps:
        if kind == "masked":
            encoded = tokenizer(gap.before + tokenizer.mask_token + gap.after, return_tensors="pt")
            position = encoded["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        else:
            encoded, position = tokenizer(gap.before, return_tensors="pt"), -1
        with torch.inference_mode():
            logits = model(**encoded).logits[0, position]
        difference = float(logits[ids["he"]] - logits[ids["she"]])
        assert difference == pytest.approx(math.log(gap.counts["he"] / gap.counts["she"]), abs=0.1)


# The checks can fail


def rates(log_q: Mapping[int, float], planted: Mapping[int, float] = WORLDS["planted"]) -> dict[str, Any]:
    """The arguments of `rate_checks` for sentences that scatter around log_q."""
    scatter = np.linspace(-1, 1, 12).tolist()
    questions = [
        Question(f"{i}-{n}", 0, i, f"{i}-{n}", "", "", "he", "she", value + shift)
        for i, value in planted.items()
        for n, shift in enumerate(scatter)
    ]
    values = [log_q[i] + shift for i in planted for shift in scatter]
    g_s, half = math.exp(log_g_s(log_q)), math.exp(naive.half_width(questions, values))
    q = [math.exp(value) for value in log_q.values()]
    return {
        "where": "a model",
        "questions": questions,
        "naive_values": values,
        "measured": {one.id: value for one, value in zip(questions, values, strict=True)},
        "result": {"q": q, "q_low": [0.9 * one for one in q], "g_s": g_s}
        | {"g_s_low": g_s / half, "g_s_high": g_s * half},
        "limits": Limits(),
    }


def failed(checks: Any) -> set[str]:
    return {check.what for check in checks if not check.passed}


def test_rates_that_are_not_recovered_fail() -> None:
    planted = WORLDS["planted"]
    assert not failed(rate_checks(**rates(planted)))
    shrunk = rates({i: 0.8 * value for i, value in planted.items()})
    assert "slope of ln q over planted" in failed(rate_checks(**shrunk))
    assert "Pearson of ln q and planted" in failed(rate_checks(**rates({**planted, 8: -1.8})))
    norm = rates(dict.fromkeys(STEREOTYPES, 0.0), WORLDS["norm"])
    assert failed(rate_checks(**norm)) == {"lowest bound of all q above 1", "mean ln q over mean planted"}


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_a_reading_that_is_five_percent_off_fails(factor: float) -> None:
    good = rates(WORLDS["planted"])
    stretched = {name: factor * value for name, value in good["measured"].items()}
    assert "slope of sentences over the naive reading" in failed(
        rate_checks(**good | {"measured": stretched})
    )
    wrong_q = good["result"] | {"q": [q**factor for q in good["result"]["q"]]}
    assert failed(rate_checks(**good | {"result": wrong_q})) == {"ln q off the naive reading"}
    short = good["result"] | {
        "g_s_low": 0.99 * good["result"]["g_s"],
        "g_s_high": 1.01 * good["result"]["g_s"],
    }
    assert failed(rate_checks(**good | {"result": short})) == {"width of g_s's interval over the textbook's"}
    lost = dict(list(good["measured"].items())[1:])
    assert failed(rate_checks(**good | {"measured": lost})) == {"sentences without a score"}


def test_controls_with_a_bias_that_was_not_planted_fail() -> None:
    _, planted = keywords.keyword_corpus(keywords.KEYWORD_SETS[0], seed=0)
    original, control = [one.ss_original for one in planted], [one.ss_control for one in planted]
    readings = [value for pair in zip(original, control, strict=True) for value in pair]
    result = {
        "f_mu": float(np.mean(original) - np.mean(control)),
        "ss_mu_original_low": 0.9,
        "ss_mu_control_low": 0.9,
        "f_mu_low": -0.1,
        "f_mu_high": 0.1,
    }
    assert not failed(control_checks("artefact", planted, readings, original, control, result))
    biased = result | {"f_mu_low": 0.05, "ss_mu_control_low": -0.1}
    assert failed(control_checks("artefact", planted, readings, original, control, biased)) == {
        "ss of the control group above 0",
        "planted f in the interval",
    }


# Trained models


def test_small_models_recover_what_was_planted(models: list[Model]) -> None:
    assert failed(check for model in models for check in model_checks(model)) == set()


# Which check must notice a fault first
CAUGHT_BY = {
    "swapped words": "template",
    "unscored sentinel": "planted-spans, pairs",
    "no start of text": "planted-no-start, pairs",
    "pooled samples": "planted-no-start, template 3: ln g_s off the naive reading",
    "pairs reversed": "planted-masked, pairs",
    "clustered as independent": "planted-masked, pairs: width of g_s's interval over the textbook's",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.name)
def test_each_fault_is_caught(fault: Fault, models: list[Model]) -> None:
    check = first_failed(models, fault)
    assert isinstance(check, Check)
    assert CAUGHT_BY.get(fault.name, "") in f"{check.where}: {check.what}"


def test_faults_are_removed_again(models: list[Model]) -> None:
    data = models[0].data["pairs"]
    before = compute_scores(models[0].loaded, data.request).table
    for fault in FAULTS:
        with fault.plant():
            pass
    assert compute_scores(models[0].loaded, data.request).table == before
    assert first_failed(models, Fault("none", "nothing is changed", nullcontext)) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_full_models_recover_what_was_planted(seed: int) -> None:
    trained = [train_world_model(plan, FULL.words, seed) for plan in FULL.models]
    assert FULL.keywords is not None
    trained.append(train_keyword_model(FULL.keywords, seed))
    assert failed(check for model in trained for check in model_checks(model)) == set()
