"""Requests and responses of OpenAI's completions and chat completions, as vLLM and similar servers use them.

A completion prompt is a list of token ids. Temperature and top_p are 1, so that probabilities are the model's
own. Every response is checked: one choice for each prompt, the requested model, the ids that were sent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gest_dataset.errors import ScoringError
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED, Answer
from gest_dataset.probes.queries import Values

COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"
Ids = tuple[int, ...]
_TOKEN_ID = "token_id:"  # prefix of a token that is given by its id
_ZERO = -9999.0  # vLLM's log-probability of what is impossible
_COMMON: dict[str, Any] = {"temperature": 1, "top_p": 1, "return_tokens_as_token_ids": True}
_PROBLEMS = {"length": CUT, "content_filter": FILTERED}


@dataclass(frozen=True)
class NextTokens:
    """Asks for ln P(target | context) of each target."""

    context: Ids
    targets: Ids

    @property
    def size(self) -> int:
        return len(self.context)


@dataclass(frozen=True)
class FullText:
    """Asks for ln P of each token from the second on, given those before it."""

    ids: Ids

    @property
    def size(self) -> int:
        return len(self.ids)


Item = NextTokens | FullText


def named_request(items: Sequence[NextTokens]) -> dict[str, Any]:
    """ln P of the named tokens after each context (vLLM)."""
    return {
        "prompt": [list(item.context) for item in items],
        "max_tokens": 1,
        "logprobs": 0,
        "logprob_token_ids": sorted({target for item in items for target in item.targets}),
        **_COMMON,
    }


def top_request(items: Sequence[NextTokens], number: int) -> dict[str, Any]:
    """ln P of the `number` likeliest tokens after each context (any server)."""
    return {"prompt": _prompt([i.context for i in items]), "max_tokens": 1, "logprobs": number, **_COMMON}


def echo_request(items: Sequence[FullText], min_tokens: int) -> dict[str, Any]:
    """ln P of every token of some texts; some servers must generate at least one token (`min_tokens`)."""
    prompt = _prompt([item.ids for item in items])
    return {"prompt": prompt, "max_tokens": min_tokens, "echo": True, "logprobs": 1, **_COMMON}


def _prompt(texts: Sequence[Ids]) -> list[Any]:
    """A single prompt is not nested, since some servers take only one."""
    return [list(ids) for ids in texts] if len(texts) > 1 else list(texts[0])


def check_response(response: Any, model: str, address: str) -> list[dict[str, Any]]:
    """The choices of a response; an error if there are none, or if another model has answered."""
    choices = response.get("choices") if isinstance(response, dict) else None
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise ScoringError(f"{address} sent an unexpected response without choices: {str(response)[:300]}")
    if response.get("model") not in (None, model):
        raise ScoringError(
            f"{address} was asked for {model!r} and answered as {response['model']!r}; use that name."
        )
    return choices


def parse_logprobs(response: Any, model: str, number: int, address: str) -> list[dict[str, Any]]:
    """The log-probabilities of each prompt, in the order sent."""
    choices = check_response(response, model, address)
    by_index = {choice.get("index", position): choice for position, choice in enumerate(choices)}
    if len(choices) != number or by_index.keys() != set(range(number)):
        raise ScoringError(f"{address} returned {len(choices)} choices for {number} prompts.")
    logprobs: list[Any] = [by_index[index].get("logprobs") for index in range(number)]
    if not all(isinstance(entry, dict) for entry in logprobs):
        raise ScoringError(f"{address} returned no log-probabilities.")
    return logprobs


def next_values(item: NextTokens, logprobs: Mapping[str, Any], texts: Mapping[int, str]) -> Values:
    """ln P of each target, NaN if the response lacks it; `texts` are the targets' texts."""
    by_id, by_text = next_tokens(logprobs)
    values = []
    for target in item.targets:
        value = by_id.get(target) if by_id else by_text.get(texts[target])
        values.append(math.nan if value is None else _logprob(value))
    return np.array(values)


def next_tokens(logprobs: Mapping[str, Any]) -> tuple[dict[int, Any], dict[str, Any]]:
    """ln P of the next tokens: by id, or by text if the server has no ids."""
    tops = logprobs.get("top_logprobs")
    first = tops[0] if isinstance(tops, list) and tops and isinstance(tops[0], dict) else {}
    by_id = {
        int(token.removeprefix(_TOKEN_ID)): value
        for token, value in first.items()
        if token.startswith(_TOKEN_ID)
    }
    return by_id, {} if by_id else first


def text_values(item: FullText, logprobs: Mapping[str, Any], prefix: int, address: str) -> Values:
    """ln P of each token but the first; the server puts `prefix` tokens of its own before the text."""
    numbers, tokens = logprobs.get("token_logprobs"), logprobs.get("tokens")
    end = prefix + len(item.ids)
    if not isinstance(numbers, list) or not isinstance(tokens, list) or min(len(numbers), len(tokens)) < end:
        raise ScoringError(f"{address} did not return the log-probability of every token of a text.")
    scored = tokens[prefix:end]
    if all(str(token).startswith(_TOKEN_ID) for token in scored):
        ids = tuple(int(token.removeprefix(_TOKEN_ID)) for token in scored)
        if ids != item.ids:
            raise ScoringError(f"{address} scored the tokens {ids[:8]} … instead of {item.ids[:8]} …")
    return np.array([_logprob(value) for value in numbers[prefix + 1 : end]])


def _logprob(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value > 1e-3:
        raise ScoringError(f"The server returned {value!r} as a log-probability.")
    return -math.inf if value <= _ZERO else float(value)


def parse_chat(response: Any, model: str, address: str) -> Answer:
    """The answer in a chat completion, with its token counts and its likeliest first tokens."""
    choices = check_response(response, model, address)
    choice = choices[0] if choices else {}
    message, usage = _table(choice.get("message")), _table(response.get("usage"))
    counts = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
    tokens_in, tokens_out = (count if type(count) is int else 0 for count in counts)
    text, refusal = _chat_text(message.get("content")), message.get("refusal")
    reason = str(choice.get("finish_reason"))
    if not text.strip() and isinstance(refusal, str):
        return Answer(refusal, tokens_in, tokens_out, FILTERED)
    if not text.strip():
        return Answer("", tokens_in, tokens_out, _PROBLEMS.get(reason, EMPTY))
    problem = FILTERED if reason == "content_filter" else ""
    return Answer(text, tokens_in, tokens_out, problem, _top_tokens(choice.get("logprobs")))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _chat_text(content: Any) -> str:
    """The text of a message: a string, or a list of parts, some of which are texts."""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _top_tokens(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """The likeliest first tokens with ln P, if the server returns them."""
    content = _table(logprobs).get("content")
    first = _table(content[0]) if isinstance(content, list) and content else {}
    entries = (
        (_table(top).get("token"), _table(top).get("logprob")) for top in first.get("top_logprobs") or ()
    )
    return tuple(
        (token, float(value))
        for token, value in entries
        if isinstance(token, str) and isinstance(value, int | float)
    )
