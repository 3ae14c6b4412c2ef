"""Planted odds are what the corpora say, small models recover them, and every planted fault is caught.

`make validate` runs the full models.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gest_dataset.stereotypes import STEREOTYPES
from tests.validation import naive
from tests.validation.checks import model_checks, rate_checks
from tests.validation.corpus import WORLDS, Question, log_g_s, planted_sentences
from tests.validation.faults import FAULTS, first_failed
from tests.validation.models import QUICK, Limits, Model, train_world_model
from tests.validation.verdicts import VERDICT_FAULTS, failed_verdict_check, verdict_checks

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


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_caught(fault: str, models: list[Model]) -> None:
    check = first_failed(models, FAULTS[fault])
    assert check is not None
    assert CAUGHT_BY.get(fault, "") in f"{check.where}: {check.what}"


# Verdicts, gates and early stops

CAUGHT_VERDICTS = {
    "mixed placebo table": "placebo words",
    "zone of a mean": "four templates",
    "gate without a least spread": "a gate",
    "stop rule that peeks": "an early stop",
}


def test_checks_of_verdicts_hold() -> None:
    assert failed(verdict_checks()) == set()


@pytest.mark.parametrize("fault", VERDICT_FAULTS)
def test_each_fault_of_verdicts_is_caught(fault: str) -> None:
    check = failed_verdict_check(fault)
    assert check is not None
    assert check.where == CAUGHT_VERDICTS[fault]
