"""The requests that servers are asked with, and what their answers say: one function for each way.

`completions` of OpenAI, as vLLM and its kin speak it. A prompt is a list of token ids; temperature
and top_p are 1, so that a probability is the model's own. Every answer is looked at: as many choices as
prompts, in their order, the asked model, the ids that were sent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gest_dataset.errors import ScoringError
from gest_dataset.models.served.client import Client
from gest_dataset.models.served.plan import Ids, Next, Text
from gest_dataset.probes.queries import Values

COMPLETIONS = "/v1/completions"
_TOKEN = "token_id:"  # how a token is written by its number
# What vLLM says for a probability of 0
_FLOOR = -9999.0
_ALWAYS: dict[str, Any] = {"temperature": 1, "top_p": 1, "return_tokens_as_token_ids": True}


def named(items: Sequence[Next]) -> dict[str, Any]:
    """vLLM: ln P of just the tokens that are named, behind each of some contexts."""
    targets = sorted({target for item in items for target in item.targets})
    contexts = [list(item.context) for item in items]
    return {
        "prompt": contexts,
        "max_tokens": 1,
        "logprobs": 0,
        "logprob_token_ids": targets,
        **_ALWAYS,
    }


def likeliest(items: Sequence[Next], number: int) -> dict[str, Any]:
    """Any server: ln P of so many of the likeliest tokens behind each of some contexts."""
    return {
        "prompt": _prompts([item.context for item in items]),
        "max_tokens": 1,
        "logprobs": number,
        **_ALWAYS,
    }


def echoed(items: Sequence[Text], added: int) -> dict[str, Any]:
    """ln P of every token of some texts; some servers write no less than one token more (`added`)."""
    prompts = _prompts([item.ids for item in items])
    return {"prompt": prompts, "max_tokens": added, "echo": True, "logprobs": 1, **_ALWAYS}


def _prompts(texts: Sequence[Ids]) -> list[Any]:
    """One prompt is sent as such, since not every server takes several."""
    return [list(ids) for ids in texts] if len(texts) > 1 else list(texts[0])


def ask(client: Client, model: str, body: Mapping[str, Any], number: int) -> list[dict[str, Any]]:
    """The log-probabilities of each prompt, in the order sent."""
    answer = client.post(COMPLETIONS, {"model": model, **body})
    return logprobs_in(answer, model, number, client.address)


def logprobs_in(answer: Any, model: str, number: int, address: str) -> list[dict[str, Any]]:
    """What an answer holds for each prompt; an error where it is not of the form, or of another model."""
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        raise ScoringError(f"{address} gave an answer of another form: it has no choices.")
    other = answer.get("model")
    if other not in (None, model):
        raise ScoringError(
            f"{address} was asked for {model!r} and answered for {other!r}: give that name to it."
        )
    choices = answer["choices"]
    if not all(isinstance(choice, dict) for choice in choices):
        raise ScoringError(f"{address} gave an answer of another form: a choice is no table.")
    by_index = {choice.get("index", place): choice for place, choice in enumerate(choices)}
    if len(choices) != number or by_index.keys() != set(range(number)):
        raise ScoringError(
            f"{address} gave {len(choices)} answers for {number} prompts. They cannot be told apart, so none "
            f"of them is kept."
        )
    told = [by_index[place].get("logprobs") for place in range(number)]
    if not all(isinstance(logprobs, dict) for logprobs in told):
        raise ScoringError(f"{address} gave an answer without log-probabilities.")
    return told


def next_values(item: Next, logprobs: Mapping[str, Any], spelling: Mapping[int, str]) -> Values:
    """ln P of each target where the answer has it, nan elsewhere; `spelling` is the text of each target."""
    by_id, by_text = next_tokens(logprobs)
    values = []
    for target in item.targets:
        known = by_id.get(target)
        if known is None and not by_id:
            known = by_text.get(spelling[target])
        values.append(math.nan if known is None else _number(known))
    return np.array(values)


def next_tokens(logprobs: Mapping[str, Any]) -> tuple[dict[int, Any], dict[str, Any]]:
    """ln P of the next tokens of an answer: by number, or where it has only texts, by text."""
    tops = logprobs.get("top_logprobs")
    first = tops[0] if isinstance(tops, list) and tops else {}
    first = first if isinstance(first, dict) else {}
    numbered = {
        int(token.removeprefix(_TOKEN)): value for token, value in first.items() if token.startswith(_TOKEN)
    }
    return numbered, {} if numbered else first


def text_values(item: Text, logprobs: Mapping[str, Any], in_front: int, address: str) -> Values:
    """ln P of each token but the first; the server has put `in_front` tokens of its own before the text."""
    numbers, tokens = logprobs.get("token_logprobs"), logprobs.get("tokens")
    end = in_front + len(item.ids)
    if not isinstance(numbers, list) or not isinstance(tokens, list) or min(len(numbers), len(tokens)) < end:
        raise ScoringError(f"{address} did not give the log-probability of every token of a text.")
    scored = tokens[in_front:end]
    if all(str(token).startswith(_TOKEN) for token in scored):
        ids = tuple(int(token.removeprefix(_TOKEN)) for token in scored)
        if ids != item.ids:
            raise ScoringError(f"{address} scored the tokens {ids[:8]} …, and {item.ids[:8]} … were sent.")
    return np.array([_number(value) for value in numbers[in_front + 1 : end]])


def _number(value: Any) -> float:
    """A log-probability; that of what is impossible is not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value > 1e-3:
        raise ScoringError(f"A server gave {value!r} for a log-probability.")
    return -math.inf if value <= _FLOOR else float(value)
