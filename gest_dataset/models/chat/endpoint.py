"""A served model answers: `/v1/chat/completions`, one prompt in a request, several requests at one time."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gest_dataset.errors import ModelError, ScoringError
from gest_dataset.models.chat.speaker import Sampling
from gest_dataset.models.served import client as http
from gest_dataset.models.served.abilities import served_model
from gest_dataset.models.served.at_once import at_once
from gest_dataset.models.served.client import Client
from gest_dataset.probes.prompt import CUT, EMPTY, FILTERED, Answer, Prompt

CHAT = "/v1/chat/completions"
CONNECTIONS = 32
_ENDS = {"length": CUT, "content_filter": FILTERED}
# What the limit of an answer is called, which some models have by the second name only
_LIMITS = ("max_tokens", "max_completion_tokens")
# How many of the likeliest tokens servers may be asked for, the most first
_LIKELIEST = (20, 5, 1)
_HELLO = Prompt("", "", "Hi")
_TRIED = Sampling(temperature=1.0, max_tokens=16)  # which every model takes


@dataclass(frozen=True)
class ServedSpeaker:
    """A model by its name at a server.

    `limit` is what it calls the most tokens of an answer; of the first token it gives up to `likeliest` ones.
    """

    name: str
    client: Client
    limit: str
    likeliest: int
    place: str = "server"

    def settings(self) -> dict[str, Any]:
        return {"endpoint": self.client.address, "device": self.place}

    def facts(self) -> dict[str, Any]:
        told = {"address": self.client.address, "asked": CHAT, "likeliest": self.likeliest}
        return {"parameters": None, "toy": False, "endpoint": told}

    def say(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[list[tuple[Prompt, Answer]], None, None]:
        given = replace(sampling, top=min(sampling.top, self.likeliest))
        asking = replace(self.client)  # what is stopped is this one
        send = partial(_said, asking, self.name, sampling=given, limit=self.limit)
        return at_once(send, prompts, asking.connections, asking.stopped)

    def notes(self) -> list[str]:
        return self.client.notes()


def connect(url: str, model: str | None, connections: int = CONNECTIONS) -> ServedSpeaker:
    """The model of a server: what it takes is found out now; an error says what it lacks."""
    client = http.connect(url, connections)
    name, _ = served_model(client, model)
    limit = _limit(client, name)
    tried = ((n, _body(name, _HELLO, replace(_TRIED, top=n), limit)) for n in _LIKELIEST)
    likeliest = next((n for n, body in tried if client.refusal(CHAT, body) is None), 0)
    return ServedSpeaker(name, client, limit, likeliest)


def _limit(client: Client, model: str) -> str:
    """What the limit of an answer is called there."""
    for limit in _LIMITS:
        refusal = client.refusal(CHAT, _body(model, _HELLO, _TRIED, limit))
        if refusal is None:
            return limit
    raise ModelError(
        f"{client.address} does not answer chats as {model!r} ({refusal}): that needs {CHAT}, and a model "
        f"with a chat template. `gest score --endpoint` asks it for probabilities instead."
    )


def _body(model: str, prompt: Prompt, sampling: Sampling, limit: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": prompt.text}],
        "temperature": sampling.temperature,
        "top_p": 1,
        limit: sampling.max_tokens,
        "seed": sampling.seed + prompt.repeat,
    }
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if sampling.top:
        body |= {"logprobs": True, "top_logprobs": sampling.top}
    return body


def _said(client: Client, model: str, prompt: Prompt, sampling: Sampling, limit: str) -> Answer:
    told = client.post(CHAT, _body(model, prompt, sampling, limit))
    return answer_in(told, model, client.address)


def answer_in(told: Any, model: str, address: str) -> Answer:
    """What a server's JSON says; an error where it is of another form, or of another model."""
    if not isinstance(told, dict) or not isinstance(told.get("choices"), list):
        raise ScoringError(f"{address} gave an answer of another form: it has no choices.")
    other = told.get("model")
    if other not in (None, model):
        raise ScoringError(f"{address} was asked for {model!r} and answered for {other!r}: give that name.")
    usage = told.get("usage")
    counted = usage if isinstance(usage, dict) else {}
    counts = (counted.get(name) for name in ("prompt_tokens", "completion_tokens"))
    tokens_in, tokens_out = (count if type(count) is int else 0 for count in counts)
    choice = told["choices"][0] if told["choices"] else {}
    if not isinstance(choice, dict):
        raise ScoringError(f"{address} gave an answer of another form: a choice is no table.")
    message = choice.get("message")
    said = message if isinstance(message, dict) else {}
    text = _text(said.get("content"))
    if not text.strip() and isinstance(refusal := said.get("refusal"), str):
        return Answer(refusal, tokens_in, tokens_out, FILTERED)
    if not text.strip():
        return Answer("", tokens_in, tokens_out, _ENDS.get(str(choice.get("finish_reason")), EMPTY))
    withheld = FILTERED if choice.get("finish_reason") == "content_filter" else ""
    return Answer(text, tokens_in, tokens_out, withheld, _top(choice.get("logprobs")))


def _text(content: Any) -> str:
    """What is said: a text, or a list of parts some of which are texts (others are thoughts)."""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _top(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """The likeliest first tokens, where a server gives them."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = content[0] if isinstance(content, list) and content else {}
    tops = first.get("top_logprobs") if isinstance(first, dict) else None
    told = [(top.get("token"), top.get("logprob")) for top in tops or () if isinstance(top, dict)]
    return tuple(
        (token, float(number))
        for token, number in told
        if isinstance(token, str) and isinstance(number, int | float)
    )
