"""A served model answers: `/v1/chat/completions`, one prompt in a request, several requests at one time."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from gest_dataset.answers.speaker import Sampling
from gest_dataset.errors import ModelError, ScoringError
from gest_dataset.probes.prompt import CUT, EMPTY, FILTERED, Answer, Prompt
from gest_dataset.scoring.endpoint import client as http
from gest_dataset.scoring.endpoint.abilities import served_model
from gest_dataset.scoring.endpoint.at_once import at_once
from gest_dataset.scoring.endpoint.client import Client

CHAT = "/v1/chat/completions"
CONNECTIONS = 32
_ENDS = {"length": CUT, "content_filter": FILTERED}
_TRIED = Sampling(max_tokens=1)


@dataclass(frozen=True)
class ServedSpeaker:
    """A model by its name at a server."""

    name: str
    client: Client
    place: str = "server"

    def settings(self) -> dict[str, Any]:
        return {"endpoint": self.client.address, "device": self.place}

    def facts(self) -> dict[str, Any]:
        return {"parameters": None, "toy": False, "endpoint": {"address": self.client.address, "asked": CHAT}}

    def say(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[list[tuple[Prompt, Answer]], None, None]:
        send = partial(_said, self.client, self.name, sampling=sampling)
        return at_once(send, prompts, self.client.connections)


def connect(url: str, model: str | None, connections: int = CONNECTIONS) -> ServedSpeaker:
    """The model of a server; an error says what it lacks."""
    client = http.connect(url, connections)
    name, _ = served_model(client, model)
    hello = Prompt("", "", "Hi")
    if client.post(CHAT, _body(name, hello, _TRIED), may_refuse=True) is None:
        raise ModelError(
            f"{client.address} does not answer chats as {name!r}: it has no {CHAT}, or the model has no chat "
            f"template. `gest score --endpoint` asks it for probabilities instead."
        )
    return ServedSpeaker(name, client)


def _body(model: str, prompt: Prompt, sampling: Sampling) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": prompt.text}],
        "temperature": sampling.temperature,
        "top_p": 1,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed + prompt.repeat,
    }
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if sampling.top:
        body |= {"logprobs": True, "top_logprobs": sampling.top}
    return body


def _said(client: Client, model: str, prompt: Prompt, sampling: Sampling) -> Answer:
    told = client.post(CHAT, _body(model, prompt, sampling))
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
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str) or not text.strip():
        return Answer("", tokens_in, tokens_out, _ENDS.get(str(choice.get("finish_reason")), EMPTY))
    withheld = FILTERED if choice.get("finish_reason") == "content_filter" else ""
    return Answer(text, tokens_in, tokens_out, withheld, _top(choice.get("logprobs")))


def _top(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """The likeliest first tokens, where a server gives them."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = content[0] if isinstance(content, list) and content else {}
    tops = first.get("top_logprobs") if isinstance(first, dict) else None
    return tuple((str(top["token"]), float(top["logprob"])) for top in tops or ())
