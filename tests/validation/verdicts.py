"""Checks of verdicts, gates and early stops on simulated scores, and faults that they must catch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from gest_dataset.commands import gates
from gest_dataset.measures import MEASURES
from gest_dataset.measures import result as results
from gest_dataset.probes import templates
from gest_dataset.statistics import placebo, sequential
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from tests.validation.checks import Check

_STEREOTYPES = np.repeat(np.arange(1, 17), 40)
_MALE = _STEREOTYPES > 7
RUNS = 200  # of the early stop


def verdict_checks() -> Iterator[Check]:
    """What must hold for scores whose effects are known."""
    rng = np.random.default_rng(0)
    yield Check("placebo words", "limit of |d| with a gender effect of 1 SD", _placebo_limit(rng), 0.0, 0.3)
    noise = rng.normal(size=(len(_STEREOTYPES), 4))
    one, four = (_result(noise[:, :number]) for number in (1, 4))
    ratio = math.log(four["zone_high"]) / math.log(one["zone_high"])
    yield Check("four templates", "zone over that of one template", ratio, 0.95, 1.05)
    facts = SimpleNamespace(metadata={"config": "en", "measure": "templates"})
    run = SimpleNamespace(result=_result(1e-4 * noise[:, :1]), scores=facts)
    limit = gates.Limit(gates.UNLESS_BELOW, "g_s", 1.05)
    failures, _ = gates.check_limits([limit], SimpleNamespace(runs=[run]))
    yield Check("a gate", "failures with words that share an output row", len(failures), 1, 1)
    yield Check("an early stop", "share of runs that are wrong at a look", _wrong_at_a_look(rng), 0.0, 0.05)


def _placebo_limit(rng: np.random.Generator) -> float:
    """The placebo limit of a model that prefers men's names in sentences about male stereotypes."""
    words = [*templates.PLACEBO_WORDS["male_names"], *templates.PLACEBO_WORDS["female_names"]]
    number = {word: index for index, word in enumerate(sorted(words), start=1)}
    found = templates.find_pairs("names", number.get)
    assert found is not None
    names = sorted(words)
    men = np.isin([names[token - 1] for token in found.ids], _MEN)
    values = rng.normal(size=(len(_STEREOTYPES), len(found.ids))) + np.outer(_MALE, men) * math.sqrt(2)
    return placebo.limit(placebo.effects(values, _STEREOTYPES.tolist(), found.pairs))


_MEN = list(templates.PLACEBO_WORDS["male_names"])  # also while a fault changes the lists


def _result(scores: np.ndarray) -> dict[str, Any]:
    """The result of scores [samples, templates]."""
    samples, number = scores.shape
    table = {
        "id": [f"s{sample}" for sample in range(samples)] * number,
        "template": np.repeat(np.arange(1, number + 1), samples),
        "stereotype": np.tile(_STEREOTYPES, number),
        "log_ratio": scores.T.ravel(),
    }
    return results.compute_result(MEASURES["templates"], pa.table(table), None)


def _wrong_at_a_look(rng: np.random.Generator) -> float:
    """The share of runs without an effect whose interval of ln g_s misses 0 at some look."""
    strata = np.repeat(np.arange(16), 100)
    order = np.array(sequential.stratified_order([f"s{n}" for n in range(len(strata))], strata.tolist()))
    wrong = 0
    for _ in range(RUNS):
        scores = rng.normal(size=len(strata))
        missed = False
        for size in sequential.looks(len(strata)):
            seen = order[:size]
            groups = [scores[seen][strata[seen] == stratum] for stratum in range(16)]
            error = math.sqrt(MALE_MINUS_FEMALE**2 @ [group.var(ddof=1) / len(group) for group in groups])
            estimate = MALE_MINUS_FEMALE @ [group.mean() for group in groups]
            missed |= abs(estimate) > 1.96 * error * sequential.stretch(size)
        wrong += missed
    return wrong / RUNS


def _mixed_names() -> AbstractContextManager[Any]:
    """Men's and women's names alternate in one list, so that neighbours differ in gender."""
    both = zip(*(templates.PLACEBO_WORDS[f"{gender}_names"] for gender in ("male", "female")), strict=False)
    mixed = [name for pair in both for name in pair]
    return patch.dict(templates.PLACEBO_WORDS, {"male_names": mixed, "female_names": []})


def _narrow_zone() -> AbstractContextManager[Any]:
    """The zone of a mean over templates in standard deviations of the mean."""
    real = results.template_squares

    def of_mean(log_ratios: np.ndarray, strata: np.ndarray) -> np.ndarray:
        return real(log_ratios, strata) / log_ratios.shape[1]

    return patch.object(results, "template_squares", of_mean)


VERDICT_FAULTS = {
    "mixed placebo table": _mixed_names,
    "zone of a mean": _narrow_zone,
    "gate without a least spread": partial(patch.object, gates, "LEAST_SPREAD", 0.0),
    "stop rule that peeks": partial(patch.object, sequential, "stretch", lambda samples: 1.0),
}


def failed_verdict_check(fault: str) -> Check | None:
    """The first check of verdicts that fails while a fault is planted."""
    with VERDICT_FAULTS[fault]():
        return next((check for check in verdict_checks() if not check.passed), None)
