"""What a server can return: detected with one request of each kind before a run."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gest_dataset.errors import GestError, ModelError, ScoringError
from gest_dataset.models.served import formats
from gest_dataset.models.served.client import Client
from gest_dataset.models.served.formats import CHAT, COMPLETIONS, FullText, Ids, NextTokens
from gest_dataset.probes.queries import Values

TOP_TOKENS = (100, 20, 5, 1)  # numbers of likeliest tokens to try, the largest first
# Two ways to one log-probability differ by rounding; after temperature or top_p they would differ by more
_TOLERANCE = 0.02
_ASK = "`gest ask` needs no log-probabilities (docs/ask.md)"


@dataclass(frozen=True)
class Capabilities:
    """The log-probabilities that a server returns: of named tokens, of texts, or of the likeliest tokens.

    It generates at least `min_tokens` after a text, puts `prefix_tokens` before the ids that it is sent, and
    takes several prompts in a request if it is `batched`. `context_length` is None if the server does not
    report it. `fingerprint` are values of a fixed text, which change if the model is replaced.
    """

    named_tokens: bool
    full_texts: bool
    top_tokens: int
    min_tokens: int
    prefix_tokens: int
    batched: bool
    context_length: int | None
    fingerprint: tuple[float, ...]

    @property
    def method(self) -> str:
        """The requested log-probabilities, in words."""
        if not self.named_tokens and not self.full_texts:
            return f"up to {self.top_tokens} of the likeliest next tokens"
        methods = {"named next tokens": self.named_tokens, "whole texts": self.full_texts}
        return " and ".join(method for method, supported in methods.items() if supported)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "fingerprint": list(self.fingerprint)}


def find_model(client: Client, name: str | None) -> tuple[str, Mapping[str, Any]]:
    """The model's name and the server's entry about it; an error with the models it has for a wrong name."""
    listed = client.get("/v1/models")
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        if name is None:
            raise ModelError(f"{client.address} does not list its models; pass a name.")
        return name, {}
    by_name = {str(entry["id"]): entry for entry in entries if isinstance(entry, dict) and "id" in entry}
    if name is None and len(by_name) == 1:
        return next(iter(by_name.items()))
    if name is None or name not in by_name:
        problem = f"has no model {name!r}" if name else "has several models" if by_name else "has no model"
        nearest = difflib.get_close_matches(name or "", by_name, n=5, cutoff=0.0)
        choices = f"; choose one of {', '.join(nearest)}" if nearest else ""
        raise ModelError(f"{client.address} {problem}{choices}.")
    return name, by_name[name]


def detect_capabilities(client: Client, model: str, entry: Mapping[str, Any], ids: Ids) -> Capabilities:
    """Try every kind of request with the ids of a text of at least four tokens."""
    context, targets = ids[:-2], ids[-2:]
    plain = {"model": model, "prompt": list(context), "max_tokens": 1}
    response = client.post(COMPLETIONS, plain, optional=True)
    if response is None:
        raise _no_completions(client, model)
    usage = response.get("usage") if isinstance(response, dict) else None
    counted = _integer(usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    prefix = max(0, (counted or 0) - len(context))  # the server counts its own prompt tokens
    named = _named_values(client, model, NextTokens(context, targets))
    full, min_tokens = None, 0
    for min_tokens in (0, 1):
        full = _text_values(client, model, FullText(ids), min_tokens, prefix)
        if full is not None:
            break
    top = 0
    if named is None and full is None:
        top = next((number for number in TOP_TOKENS if _returns_top(client, model, context, number)), 0)
        if not top:
            raise ModelError(
                f"{client.address} returns no log-probabilities for {model!r}, so it cannot be scored. "
                f"Enable them (docs/endpoints.md), or load the model itself; {_ASK}."
            )
    if named is not None and full is not None:
        within = full[len(context) - 1]
        if not abs(named[0] - within) <= _TOLERANCE:
            raise ScoringError(
                f"{client.address} returns two values for one token: {named[0]:.4f} as the next token and "
                f"{within:.4f} within its text. Log-probabilities must be the model's own, before "
                f"temperature and penalties; check the server's options."
            )
    several = client.post(
        COMPLETIONS, {**plain, "prompt": [list(context), list(context[:-1])]}, optional=True
    )
    values = full if full is not None else named
    return Capabilities(
        named_tokens=named is not None,
        full_texts=full is not None,
        top_tokens=top,
        min_tokens=min_tokens if full is not None else 0,
        prefix_tokens=prefix,
        batched=isinstance(several, dict) and len(several.get("choices") or ()) == 2,
        context_length=_integer(entry.get("max_model_len")),
        fingerprint=() if values is None else tuple(values.tolist()),
    )


def _logprobs(client: Client, model: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The log-probabilities of one prompt; None if the server does not return any."""
    response = client.post(COMPLETIONS, {"model": model, **body}, optional=True)
    if response is None:
        return None
    formats.check_response(response, model, client.address)
    try:
        return formats.parse_logprobs(response, model, 1, client.address)[0]
    except ScoringError:  # servers ignore options that they do not support
        return None


def _named_values(client: Client, model: str, item: NextTokens) -> Values | None:
    logprobs = _logprobs(client, model, formats.named_request([item]))
    values = (
        None if logprobs is None else formats.next_values(item, logprobs, dict.fromkeys(item.targets, ""))
    )
    return None if values is None or np.isnan(values).any() else values


def _text_values(client: Client, model: str, item: FullText, min_tokens: int, prefix: int) -> Values | None:
    logprobs = _logprobs(client, model, formats.echo_request([item], min_tokens))
    try:
        return None if logprobs is None else formats.text_values(item, logprobs, prefix, client.address)
    except ScoringError:  # no echo
        return None


def _returns_top(client: Client, model: str, context: Ids, number: int) -> bool:
    logprobs = _logprobs(client, model, formats.top_request([NextTokens(context, ())], number))
    return logprobs is not None and any(formats.next_tokens(logprobs))


def _no_completions(client: Client, model: str) -> GestError:
    chat = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    if client.post(CHAT, chat, optional=True) is not None:
        return ModelError(
            f"{client.address} only supports chats; scoring needs {COMPLETIONS}. Use a server that has it, "
            f"such as vLLM; {_ASK}."
        )
    return ModelError(f"{client.address} has no {COMPLETIONS} for {model!r}. Is it a model server?")


def _integer(value: Any) -> int | None:
    return value if type(value) is int else None
