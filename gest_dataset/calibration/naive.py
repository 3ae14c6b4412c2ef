"""A naive reading of a model: the definitions, one text at a time, with nothing of the instrument.

No probe, no batch, no padding, no short way: texts are put together from the corpus' own strings, the
whole model runs on one of them, and ln P is a plain log-softmax over the vocabulary. It is right for the
tokenisers of the calibration, in which no token crosses the edge of a slot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any

import torch

from gest_dataset.calibration.corpus import Question, log_g_s
from gest_dataset.calibration.vocabulary import END, MASK, SENTINELS, START
from gest_dataset.stereotypes import STEREOTYPES

_NORMAL = 1.96  # 95 % of a normal distribution lie within so many standard deviations


def read(model: Any, tokenizer: Any, kind: str, questions: Sequence[Question]) -> list[float]:
    """ln P(masculine) - ln P(feminine) of each question."""
    log_p = _READINGS[kind]
    with torch.inference_mode():
        return [
            log_p(model, tokenizer, asked, asked.masculine) - log_p(model, tokenizer, asked, asked.feminine)
            for asked in questions
        ]


def _masked(model: Any, tokenizer: Any, asked: Question, word: str) -> float:
    """ln P of the word, one token, where the mask stands."""
    before = _tokens(tokenizer, asked.before)
    ids = _ids(tokenizer, [START, *before, MASK, *_tokens(tokenizer, asked.after), END])
    (wanted,) = _ids(tokenizer, _tokens(tokenizer, word))
    logits = model(input_ids=torch.tensor([ids]).to(model.device)).logits
    return _log_p(logits, len(before) + 1, wanted)


def _causal(model: Any, tokenizer: Any, asked: Question, word: str) -> float:
    """In a template ln P of the word, else of the word and all that follows, behind the start of a text.

    Where there is no start token a template has nothing in front, and a whole text has the end token.
    """
    start = [START] if tokenizer.bos_token is not None else [] if asked.template else [END]
    before = [*start, *_tokens(tokenizer, asked.before)]
    own = _tokens(tokenizer, word) + ([] if asked.template else _tokens(tokenizer, asked.after))
    wanted = _ids(tokenizer, own)
    logits = model(input_ids=torch.tensor([[*_ids(tokenizer, before), *wanted]]).to(model.device)).logits
    return sum(_log_p(logits, len(before) - 1 + step, token) for step, token in enumerate(wanted))


def _span(model: Any, tokenizer: Any, asked: Question, word: str) -> float:
    """ln P of the word's tokens and of the closing sentinel, in the decoder behind the opening one."""
    opening, closing = SENTINELS
    text = [*_tokens(tokenizer, asked.before), opening, *_tokens(tokenizer, asked.after), END]
    wanted = _ids(tokenizer, [*_tokens(tokenizer, word), closing])
    given = [model.config.decoder_start_token_id, *_ids(tokenizer, [opening]), *wanted[:-1]]
    logits = model(
        input_ids=torch.tensor([_ids(tokenizer, text)]).to(model.device),
        decoder_input_ids=torch.tensor([given]).to(model.device),
    ).logits
    return sum(_log_p(logits, 1 + step, token) for step, token in enumerate(wanted))


_READINGS: dict[str, Callable[[Any, Any, Question, str], float]] = {
    "masked": _masked,
    "causal": _causal,
    "seq2seq": _span,
}


def _tokens(tokenizer: Any, text: str) -> list[str]:
    tokens: list[str] = tokenizer.tokenize(text)
    return tokens


def _ids(tokenizer: Any, tokens: Sequence[str]) -> list[int]:
    ids: list[int] = tokenizer.convert_tokens_to_ids(list(tokens))
    return ids


def _log_p(logits: Any, place: int, token: int) -> float:
    return float(torch.log_softmax(logits[0, place].cpu().double(), dim=-1)[token])


def means(questions: Iterable[Question], values: Sequence[float]) -> dict[int, float]:
    """ln q_i: the mean of the values of each stereotype (eq. 3)."""
    by_stereotype: dict[int, list[float]] = {i: [] for i in STEREOTYPES}
    for asked, value in zip(questions, values, strict=True):
        by_stereotype[asked.stereotype].append(value)
    return {i: fmean(own) for i, own in by_stereotype.items()}


def half_width(questions: Sequence[Question], values: Sequence[float]) -> float:
    """Half of a textbook interval of ln g_s: 1.96 sqrt(sum_i w_i^2 s_i^2 / n_i).

    w_i is the weight of stereotype i in ln g_s, s_i the standard deviation between its n_i units, each
    of which counts by the mean of its copies. Units have as many copies each, and one stereotype.
    """
    copies: dict[tuple[int, str], list[float]] = {}
    for asked, value in zip(questions, values, strict=True):
        copies.setdefault((asked.stereotype, asked.unit), []).append(value)
    total = 0.0
    for i in STEREOTYPES:
        units = [fmean(own) for (stereotype, _), own in copies.items() if stereotype == i]
        weight = log_g_s({j: float(i == j) for j in STEREOTYPES})
        mean = fmean(units)
        variance = sum((unit - mean) ** 2 for unit in units) / (len(units) - 1)
        total += weight**2 * variance / len(units)
    return _NORMAL * math.sqrt(total)
