"""A naive reading of a model: the definitions, one text at a time, without the package's scoring.

Texts are put together from the corpus' strings, the whole model runs on one of them, and ln P is a
log-softmax over the vocabulary. It needs tokenizers in which no token crosses the edge of a gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import torch

from gest_dataset.stereotypes import STEREOTYPES
from tests.validation.corpus import Question, log_g_s
from tests.validation.training import END, MASK, SENTINELS, START

_NORMAL = 1.96


def read(model: Any, tokenizer: Any, kind: str, questions: Sequence[Question]) -> list[float]:
    """ln P(masculine) - ln P(feminine) of each question."""
    log_p = {"masked": _masked, "causal": _causal, "seq2seq": _span}[kind]
    with torch.inference_mode():
        return [
            log_p(model, tokenizer, one, one.masculine) - log_p(model, tokenizer, one, one.feminine)
            for one in questions
        ]


def _masked(model: Any, tokenizer: Any, question: Question, word: str) -> float:
    """ln P of the word, one token, at the mask."""
    before = tokenizer.tokenize(question.before)
    ids = _ids(tokenizer, [START, *before, MASK, *tokenizer.tokenize(question.after), END])
    (target,) = _ids(tokenizer, tokenizer.tokenize(word))
    logits = model(input_ids=torch.tensor([ids]).to(model.device)).logits
    return _log_p(logits, len(before) + 1, target)


def _causal(model: Any, tokenizer: Any, question: Question, word: str) -> float:
    """In a template ln P of the word, else of the word and all that follows, after the start of the text.

    Without a start token nothing precedes a template, and the end token precedes a whole text.
    """
    start = [START] if tokenizer.bos_token is not None else [] if question.template else [END]
    before = [*start, *tokenizer.tokenize(question.before)]
    after = [] if question.template else tokenizer.tokenize(question.after)
    targets = _ids(tokenizer, [*tokenizer.tokenize(word), *after])
    ids = [*_ids(tokenizer, before), *targets]
    logits = model(input_ids=torch.tensor([ids]).to(model.device)).logits
    return sum(_log_p(logits, len(before) - 1 + step, token) for step, token in enumerate(targets))


def _span(model: Any, tokenizer: Any, question: Question, word: str) -> float:
    """ln P of the word's tokens and of the closing sentinel, after the opening one in the decoder."""
    opening, closing = SENTINELS
    text = [*tokenizer.tokenize(question.before), opening, *tokenizer.tokenize(question.after), END]
    targets = _ids(tokenizer, [*tokenizer.tokenize(word), closing])
    decoder = [model.config.decoder_start_token_id, *_ids(tokenizer, [opening]), *targets[:-1]]
    logits = model(
        input_ids=torch.tensor([_ids(tokenizer, text)]).to(model.device),
        decoder_input_ids=torch.tensor([decoder]).to(model.device),
    ).logits
    return sum(_log_p(logits, 1 + step, token) for step, token in enumerate(targets))


def _ids(tokenizer: Any, tokens: Sequence[str]) -> list[int]:
    return list(tokenizer.convert_tokens_to_ids(list(tokens)))


def _log_p(logits: Any, position: int, token: int) -> float:
    return float(torch.log_softmax(logits[0, position].cpu().double(), dim=-1)[token])


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
