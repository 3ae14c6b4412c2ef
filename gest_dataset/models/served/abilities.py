"""What a server can be asked: found out by asking it once, and kept with the run."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from gest_dataset.errors import GestError, ModelError, ScoringError
from gest_dataset.models.served import dialects
from gest_dataset.models.served.client import Client
from gest_dataset.models.served.plan import Ids, Next, Text

MOST = (100, 20, 5, 1)  # how many of the likeliest tokens servers may be asked for, the most first
# What a server without log-probabilities can still be asked
IN_WORDS = "`gest ask` asks it in words, which needs none (docs/ask.md)"
# Two ways to the same number differ by rounding; one after temperature or top_p would differ by more
_SAME = 0.02


@dataclass(frozen=True)
class Abilities:
    """What a server gives: ln P of tokens that are `named`, of `texts`, or of the `likeliest`, up
    to so many.

    `added`: it writes no less than so many tokens behind a text. `in_front`: it puts so many tokens of its
    own before the ids that it is sent. `several`: it takes several prompts in a request. `longest`: the
    longest context in tokens, where it says so. `check` are values that tell whether it is still the same
    model later.
    """

    named: bool
    texts: bool
    likeliest: int
    added: int
    in_front: int
    several: bool
    longest: int | None
    check: tuple[float, ...]

    @property
    def way(self) -> str:
        """What it is asked, in words."""
        ways = {"named next tokens": self.named, "whole texts": self.texts}
        if not self.named and not self.texts:
            return f"up to {self.likeliest} of the likeliest next tokens"
        return " and ".join(way for way, has in ways.items() if has)

    def facts(self) -> dict[str, Any]:
        """What stands in a run's metadata."""
        return {**asdict(self), "check": list(self.check)}


def served_model(client: Client, asked: str | None) -> tuple[str, Mapping[str, Any]]:
    """The model's name and what the server says of it; a wrong name is answered with those that it has."""
    listed = client.get("/v1/models")
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        if asked is None:
            raise ModelError(f"{client.address} does not say which models it has: name one.")
        return asked, {}
    by_name = {str(entry["id"]): entry for entry in entries if isinstance(entry, dict) and "id" in entry}
    if asked is None and len(by_name) == 1:
        return next(iter(by_name.items()))
    if asked is None or asked not in by_name:
        nearest = difflib.get_close_matches(asked or "", by_name, n=5, cutoff=0.0)
        what = f"has no model {asked!r}" if asked else "has several models" if by_name else "has no model"
        choice = f": choose one of {', '.join(nearest)}" if nearest else ""
        raise ModelError(f"{client.address} {what}{choice}.")
    return asked, by_name[asked]


def find_out(client: Client, model: str, facts: Mapping[str, Any], ids: Ids) -> Abilities:
    """Ask a server in each way, with the ids of a text of at least four tokens."""
    context, (target, other) = ids[:-2], ids[-2:]
    if (
        client.post(dialects.COMPLETIONS, {"model": model, "prompt": list(context), "max_tokens": 1}, True)
        is None
    ):
        raise _no_completions(client, model)
    in_front = _in_front(client, model, context)
    named = _values(client, model, Next(context, (target, other)), dialects.named, in_front)
    tried = (_values(client, model, Text(ids), partial(dialects.echoed, added=n), in_front) for n in (0, 1))
    added, texts = next(((n, values) for n, values in enumerate(tried) if values is not None), (0, None))
    likeliest = 0
    if named is None and texts is None:
        likeliest = next((n for n in MOST if _gives(client, model, context, n)), 0)
    if named is None and texts is None and not likeliest:
        raise ModelError(
            f"{client.address} gives no log-probabilities for {model!r}, so it cannot be scored through it. "
            f"Start the server so that it does (docs/endpoints.md), or load the model itself; {IN_WORDS}."
        )
    _check_agreement(client, named, texts, len(context))
    check = texts if texts is not None else named
    return Abilities(
        named=named is not None,
        texts=texts is not None,
        likeliest=likeliest,
        added=added,
        in_front=in_front,
        several=_takes_several(client, model, context),
        longest=_whole(facts.get("max_model_len")),
        check=tuple(float(value) for value in (check if check is not None else ())),
    )


def _values(client: Client, model: str, item: Any, body_of: Any, in_front: int) -> Any:
    """The values of an item in one way; None where the server does not know that way."""
    answer = client.post(dialects.COMPLETIONS, {"model": model, **body_of([item])}, may_refuse=True)
    if answer is None:
        return None
    try:
        (logprobs,) = dialects.logprobs_in(answer, model, 1, client.address)
        if isinstance(item, Text):
            values = dialects.text_values(item, logprobs, in_front, client.address)
        else:
            values = dialects.next_values(item, logprobs, dict.fromkeys(item.targets, ""))
    except ScoringError:
        if isinstance(answer, dict) and answer.get("model") not in (None, model):
            raise
        return None  # a server that does not know an option leaves it out
    return None if np.isnan(values).any() else values


def _in_front(client: Client, model: str, ids: Ids) -> int:
    """How many tokens a server adds to the ids that it is sent; it counts them itself."""
    answer = client.post(dialects.COMPLETIONS, {"model": model, "prompt": list(ids), "max_tokens": 1})
    usage = answer.get("usage") if isinstance(answer, dict) else None
    counted = _whole(usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    return 0 if counted is None else max(0, counted - len(ids))  # 0 where it does not count


def _gives(client: Client, model: str, context: Ids, number: int) -> bool:
    body = dialects.likeliest([Next(context, ())], number)
    answer = client.post(dialects.COMPLETIONS, {"model": model, **body}, may_refuse=True)
    if answer is None:
        return False
    try:
        (logprobs,) = dialects.logprobs_in(answer, model, 1, client.address)
    except ScoringError:
        return False
    return any(dialects.next_tokens(logprobs))


def _takes_several(client: Client, model: str, ids: Ids) -> bool:
    """Whether two prompts in one request have two answers."""
    body = {"model": model, "prompt": [list(ids), list(ids[:-1])], "max_tokens": 1}
    answer = client.post(dialects.COMPLETIONS, body, may_refuse=True)
    return isinstance(answer, dict) and len(answer.get("choices") or ()) == 2


def _check_agreement(client: Client, named: Any, texts: Any, length: int) -> None:
    """The first named token is the next one of the text: two ways to one number."""
    if named is None or texts is None:
        return
    gap = abs(float(named[0]) - float(texts[length - 1]))
    if math.isnan(gap) or gap > _SAME:
        raise ScoringError(
            f"{client.address} says two things of one token: ln P = {named[0]:.4f} as the next token and "
            f"{texts[length - 1]:.4f} within its text. Look at its options: log-probabilities have to "
            f"be the model's own, before temperature and penalties."
        )


def _no_completions(client: Client, model: str) -> GestError:
    chat = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    if client.post("/v1/chat/completions", chat, may_refuse=True) is not None:
        return ModelError(
            f"{client.address} answers chats only: it has no {dialects.COMPLETIONS}, which log-probabilities "
            f"of given words need. Serve the model with a server that has it, such as vLLM; {IN_WORDS}."
        )
    return ModelError(
        f"{client.address} has no {dialects.COMPLETIONS} for {model!r}: is it a server of models?"
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
