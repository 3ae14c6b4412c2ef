"""A naive reading of a model: the definitions, one text at a time, without the package's scoring.

Texts are put together from the corpus' strings, and `tests/support/naive.py` runs the whole model on one of
them: ln P is a log-softmax over the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

from gest_dataset.stereotypes import STEREOTYPES
from tests.support.naive import Reader, likelihoods, slot_logps, tokenize
from tests.validation.corpus import Question, log_g_s

_NORMAL = 1.96


def read(reader: Reader, questions: Sequence[Question]) -> list[float]:
    """ln P(masculine) - ln P(feminine) of each question."""
    values = []
    for one in questions:
        words = (one.masculine, one.feminine)
        texts = [tokenize(reader, one.before + word + one.after) for word in words]
        if reader.family == "causal" and not one.template:
            values.append(likelihoods(reader, *texts))
            continue
        sides = []
        for text, word in zip(texts, words, strict=True):
            slot = text.tokens(len(one.before), len(one.before) + len(word))
            sides.append(sum(slot_logps(reader, text, [slot])[0]))
        values.append(sides[0] - sides[1])
    return values


def means(questions: Iterable[Question], values: Sequence[float]) -> dict[int, float]:
    """ln q_i: the mean of the values of each stereotype (eq. 3)."""
    by_stereotype: dict[int, list[float]] = {i: [] for i in STEREOTYPES}
    for question, value in zip(questions, values, strict=True):
        by_stereotype[question.stereotype].append(value)
    return {i: fmean(group) for i, group in by_stereotype.items()}


def half_width(questions: Sequence[Question], values: Sequence[float]) -> float:
    """Half of a textbook interval of ln g_s: 1.96 sqrt(sum_i w_i^2 s_i^2 / n_i).

    w_i is the weight of stereotype i in ln g_s, s_i the standard deviation between its n_i units, each
    represented by the mean of its copies.
    """
    copies: dict[tuple[int, str], list[float]] = {}
    for question, value in zip(questions, values, strict=True):
        copies.setdefault((question.stereotype, question.unit), []).append(value)
    total = 0.0
    for i in STEREOTYPES:
        units = [fmean(group) for (stereotype, _), group in copies.items() if stereotype == i]
        weight = log_g_s({j: float(i == j) for j in STEREOTYPES})
        mean = fmean(units)
        variance = sum((unit - mean) ** 2 for unit in units) / (len(units) - 1)
        total += weight**2 * variance / len(units)
    return _NORMAL * math.sqrt(total)
