"""Log-probabilities by OpenAI's completions API, as vLLM and similar servers offer it.

A prompt is a list of token ids, or a text if the server takes only texts. Temperature and top_p are 1, so
that probabilities are the model's own. What a server can return is detected with one request of each kind
before a run.
"""

import difflib
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gest_dataset.errors import ModelError, ScoringError, convert_errors, describe_error
from gest_dataset.models.served.client import Client, InvalidReplyError, UnsupportedError
from gest_dataset.probes.queries import Query, Values

COMPLETIONS = "/v1/completions"
TOP_TOKENS = (100, 20, 5, 1)  # numbers of likeliest tokens to try, the largest first
EVERY_TOKEN = 10**6  # more than any vocabulary has
# Limits of one request: prompts, their tokens, named tokens (vLLM takes 128)
MAX_PROMPTS, MAX_TOKENS, MAX_NAMED = 64, 8192, 100
Ids = tuple[int, ...]
_TOKEN_ID = "token_id:"  # prefix of a token that is given by its id
_ZERO = -9999.0  # vLLM's log-probability of what is impossible
# Two ways to one log-probability differ by rounding; after temperature or top_p they would differ by more
_TOLERANCE = 0.02
# In half precision, rounding also differs between a prompt in a batch and alone; other prompts differ by more
_BATCH_TOLERANCE = 0.5
CHECKED_PROMPTS = 8  # of the first batch


@dataclass(frozen=True)
class Item:
    """Asks for ln P(target | ids) of each target; without targets, for that of each id but the first."""

    ids: Ids
    targets: Ids = ()


@dataclass(frozen=True)
class Capabilities:
    """What a server can do: log-probabilities of named tokens, full texts, or the `top_tokens` likeliest."""

    named_tokens: bool = False
    every_token: bool = False  # the named tokens are read from all next tokens
    full_texts: bool = False
    top_tokens: int = 0
    min_tokens: int = 0  # that it generates after a text
    prefix_tokens: int = 0  # that it puts before the prompt
    batched: bool = False  # takes several prompts in a request
    text_prompts: int | None = None  # takes texts only; the number of first tokens that it adds itself
    context_length: int | None = None  # None if it is not reported
    fingerprint: tuple[float, ...] = ()  # values of a fixed text, which differ for another model

    @property
    def method(self) -> str:
        """The requested log-probabilities, in words."""
        if self.top_tokens:
            return f"up to {self.top_tokens} of the likeliest next tokens"
        methods = {"named next tokens": self.named_tokens, "whole texts": self.full_texts}
        return " and ".join(method for method, supported in methods.items() if supported)


def request_values(
    client: Client,
    model: str,
    able: Capabilities,
    items: Sequence[Item],
    texts: Mapping[int, str],
    decode: Callable[[Ids], str],
) -> list[Values]:
    """The values of items of one kind; `texts` are those of targets, for servers that do not report ids."""
    added = able.text_prompts
    prompts = [list(item.ids) if added is None else decode(item.ids[added:]) for item in items]
    targets = sorted({target for item in items for target in item.targets})
    body: dict[str, Any] = {"temperature": 1, "top_p": 1, "return_tokens_as_token_ids": True}
    if not targets:
        body |= {"max_tokens": able.min_tokens, "echo": True, "logprobs": 1}
    elif able.top_tokens or able.every_token:
        body |= {"max_tokens": 1, "logprobs": able.top_tokens or EVERY_TOKEN}
    else:
        body |= {"max_tokens": 1, "logprobs": 0, "logprob_token_ids": targets}
    body |= {"model": model, "prompt": prompts if len(prompts) > 1 else prompts[0]}
    choices = check_response(client.request(COMPLETIONS, body), model, client.address)
    one_each = f"{client.address} did not return one choice for each of {len(items)} prompts."
    with convert_errors(lambda _: ScoringError(one_each)):
        choices.sort(key=lambda choice: choice.get("index", 0))
        if [choice.get("index", 0) for choice in choices] != list(range(len(items))):
            raise ScoringError(one_each)
    problem = f"{client.address} did not return all log-probabilities"
    with convert_errors(lambda error: InvalidReplyError(f"{problem} ({describe_error(error)}).")):
        pairs = zip(items, choices, strict=True)
        values = [_values(item, choice.get("logprobs"), able, texts) for item, choice in pairs]
        # for texts, servers do not return that of the first token, or of tokens with the same text
        if not able.top_tokens and added is None and any(np.isnan(row).any() for row in values):
            raise ValueError("one is missing")
    return values


def request_valid_values(
    request: Callable[[Sequence[Item]], list[Values]], items: Sequence[Item], compare: bool = False
) -> list[Values]:
    """The values of some items; if some are invalid, each item is asked again, and may become NaN.

    `compare` asks for each item alone in any case, and refuses a server that mixes up the items of a batch.
    """
    batch = None
    with suppress(InvalidReplyError):
        batch = request(items)
    if batch is not None and not compare:
        return batch
    alone = []
    for item in items:
        try:
            alone += request([item])
        except InvalidReplyError:
            alone.append(np.full(len(item.targets) or len(item.ids) - 1, np.nan))
    for values, others in zip(alone, batch or alone, strict=True):
        if not np.allclose(values, others, rtol=0, atol=_BATCH_TOLERANCE, equal_nan=True):
            problem = "The server returns other log-probabilities for a prompt in a batch than for it alone"
            raise ScoringError(f"{problem}. Use another server, or another version of it.")
    return alone


def check_response(response: Any, model: str, address: str) -> list[dict[str, Any]]:
    """The choices of a response; an error if there are none, or if another model has answered."""
    choices = response.get("choices") if isinstance(response, dict) else None
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise ScoringError(f"{address} sent an unexpected response without choices: {str(response)[:300]}")
    if response.get("model") not in (None, model):
        other = response["model"]
        raise ScoringError(
            f"{address} answered as {other!r}, not as {model!r}. If {other!r} is the model, pass that name."
        )
    return choices


def _values(
    item: Item, logprobs: Mapping[str, Any] | None, able: Capabilities, texts: Mapping[int, str]
) -> Values:
    """The values of an item; NaN for a target that is not among the likeliest tokens."""
    if not logprobs:
        raise ValueError("there are none")
    if item.targets:
        if content := logprobs.get("content"):  # llama.cpp's llama-server
            tops = {f"{_TOKEN_ID}{top['id']}": top["logprob"] for top in content[0]["top_logprobs"]}
        else:
            tops = logprobs["top_logprobs"][0]
        if not tops:
            raise ValueError("`top_logprobs` is empty")
        _check_certainty(list(tops.values()))
        by_id = any(token.startswith(_TOKEN_ID) for token in tops)
        names = [f"{_TOKEN_ID}{target}" if by_id else texts.get(target, "\0") for target in item.targets]
        return np.array([log_probability(tops.get(name)) for name in names])
    if able.text_prompts is not None:
        # llama-cpp-python does not show the start token
        hidden = len(item.ids) - (len(logprobs["tokens"]) - able.min_tokens)
        numbers = logprobs["token_logprobs"][1 : len(item.ids) - hidden]
        if hidden not in (0, 1):
            raise ValueError("it tokenizes the text differently")
        _check_certainty(numbers)
        return np.array([math.nan] * hidden + [log_probability(number) for number in numbers])
    end = able.prefix_tokens + len(item.ids)
    tokens = logprobs["tokens"][able.prefix_tokens : end]
    ids = tuple(int(token.removeprefix(_TOKEN_ID)) for token in tokens if token.startswith(_TOKEN_ID))
    if ids and ids != item.ids:
        raise ValueError(f"it scored the tokens {ids[:8]} … instead of {item.ids[:8]} …")
    numbers = logprobs["token_logprobs"][able.prefix_tokens + 1 : end]
    if len(numbers) < len(item.ids) - 1:
        raise ValueError("the text is incomplete")
    _check_certainty(numbers)
    return np.array([log_probability(number) for number in numbers])


def _check_certainty(log_probabilities: Sequence[float]) -> None:
    """Refuse several tokens with a probability of 1."""
    if len(log_probabilities) > 1 and not any(log_probabilities):
        raise ValueError("it is certain of every token")


def log_probability(value: Any) -> float:
    """A log-probability that a server returned: NaN if it is missing, an error if it is impossible."""
    number = math.nan if value is None else float(value)
    if number > 1e-3:
        raise ValueError(f"it returned the impossible log-probability {value!r}")
    return -math.inf if number <= _ZERO else number


def find_model(client: Client, name: str | None) -> tuple[str, Mapping[str, Any]]:
    """The model's name and the server's entry about it; a server with one model needs no name."""
    listed = client.try_request("/v1/models") or {}
    entries = {str(entry["id"]): entry for entry in listed.get("data") or ()}
    if name is None and len(entries) == 1:
        (name,) = entries
    if name is None or (entries and name not in entries):
        names = ", ".join(difflib.get_close_matches(name or "", entries, n=5, cutoff=0.0)) or "none"
        problem = "needs the name of a model" if name is None else f"has no model {name!r}"
        raise ModelError(f"{client.address} {problem}; available models: {names}.")
    return name, entries.get(name, {})


def detect_capabilities(
    client: Client, model: str, entry: Mapping[str, Any], ids: Ids, start: Ids, decode: Callable[[Ids], str]
) -> Capabilities:
    """Try every kind of request with the ids of four tokens or more; `start` is the start token."""
    plain = {"model": model, "prompt": list(ids[:-2]), "max_tokens": 1}
    response = client.try_request(COMPLETIONS, plain)
    by_text = response is None
    if by_text:
        ids = (*start, *ids)
        response = client.try_request(COMPLETIONS, {**plain, "prompt": decode(ids[:-2])})
    text, context = Item(ids), Item(ids[:-2], ids[-2:])
    if response is None:
        problem = f"{client.address} has no {COMPLETIONS} for {model!r}, which scoring needs"
        raise ModelError(f"{problem}. Use vLLM, or `gest ask`, which only needs the chat API (docs/ask.md).")
    check_response(response, model, client.address)
    counted = (response.get("usage") or {}).get("prompt_tokens") or 0  # with the server's own tokens
    extra = max(0, counted - len(context.ids))
    able = Capabilities(prefix_tokens=extra, context_length=entry.get("max_model_len"))
    if by_text:
        able = replace(able, prefix_tokens=0, text_prompts=extra, every_token=True)
    words = {target: decode((target,)) for target in context.targets if by_text}

    reasons: list[str] = []

    def attempt(item: Item, **changes: Any) -> Values | None:
        try:
            return request_values(client, model, replace(able, **changes), [item], words, decode)[0]
        # servers also ignore options that they do not support
        except (UnsupportedError, InvalidReplyError) as error:
            reasons.append(describe_error(error))
            return None

    named = attempt(context, named_tokens=True)
    # without tokens to generate, llama-cpp-python generates until its context is full
    texts = ((number, attempt(text, min_tokens=number)) for number in (0, 1)[by_text:])
    min_tokens, full = next(((number, values) for number, values in texts if values is not None), (0, None))
    if by_text and full is not None and (named is None or not abs(named[0] - full[-2]) <= _TOLERANCE):
        full = None  # llama-cpp-python shifts its values by a token in texts without a start token
    top = 0
    every = by_text
    if named is None and full is None and not by_text:
        named = attempt(context, named_tokens=True, every_token=True)
        every = named is not None
    if named is None and full is None:
        top = next((n for n in TOP_TOKENS if attempt(context, top_tokens=n) is not None), 0)
        if not top:
            problem = f"{client.address} returns no log-probabilities for {model!r} that can be used"
            raise ModelError(
                f"{problem} ({reasons[-1]}). Enable them (docs/endpoints.md); `gest ask` works without them."
            )
    if named is not None and full is not None and abs(named[0] - full[-2]) > _TOLERANCE:
        both = f"{named[0]:.4f} and {full[-2]:.4f}"
        problem = f"{client.address} returns two log-probabilities for one token: {both}"
        raise ScoringError(f"{problem}. Turn off the server's temperature and penalties.")
    two = None if every else client.try_request(COMPLETIONS, {**plain, "prompt": [plain["prompt"]] * 2})
    values = named if full is None else full
    return replace(
        able,
        named_tokens=named is not None,
        every_token=every,
        full_texts=full is not None,
        top_tokens=top,
        min_tokens=min_tokens,
        batched=len((two or {}).get("choices") or ()) == 2,
        fingerprint=() if values is None else tuple(values[np.isfinite(values)].tolist()),
    )


def make_plan(
    queries: Sequence[Query], able: Capabilities
) -> tuple[list[Item], list[list[tuple[Item, int]]]]:
    """The distinct items to ask for, and for each query the items and indices of its values.

    A query at one position asks for some tokens after a context, any other one for a whole text. Placebo
    words are asked for where that needs no other request: beside the words of a contrast. A server
    that supports only one of them gets the other in its place: ln P(t | c) is also the last value of the text
    (c, t), and a text is also as many contexts as it has tokens.
    """
    targets: dict[Ids, dict[int, int]] = defaultdict(dict)  # context -> target -> its index
    texts: dict[Ids, None] = {}
    lookups: list[list[tuple[Ids, bool, int]]] = []  # a context or a text, and the index of the value
    for query in queries:
        contrast = len(set(query.positions)) == 1
        by_context = not able.full_texts or (contrast and able.named_tokens)
        lookups.append([])
        pairs = list(zip(query.positions, query.targets, strict=True))
        if able.named_tokens and not query.normalise:
            pairs += [(query.placebo_position, token) for token in query.placebo]
        for position, target in pairs:
            ids = query.input_ids[: position + 1]
            # servers with texts do not return the value of the first token of a text
            in_context = by_context or (able.text_prompts is not None and position == 0)
            if in_context:
                index = targets[ids].setdefault(target, len(targets[ids]))
            else:
                ids, index = (*ids, target) if contrast else (*query.input_ids, query.targets[-1]), position
                texts[ids] = None
            lookups[-1].append((ids, in_context, index))
    contexts = {ids: Item(ids, tuple(indices)) for ids, indices in targets.items()}
    sources = [
        [(contexts[ids] if by_context else Item(ids), index) for ids, by_context, index in some]
        for some in lookups
    ]
    return [*contexts.values(), *map(Item, texts)], sources


def make_batches(items: Sequence[Item], able: Capabilities) -> Iterator[list[Item]]:
    """Items of one kind that fit into a request; contexts with the same targets are neighbours."""
    batch: list[Item] = []
    for item in sorted(items, key=lambda item: (item.targets, len(item.ids), item.ids)):
        longer = [*batch, item]
        named = {target for each in longer for target in each.targets} if able.named_tokens else ()
        if batch and (
            len(longer) > (MAX_PROMPTS if able.batched else 1)
            or sum(len(each.ids) for each in longer) > MAX_TOKENS
            or len(named) > MAX_NAMED
            or bool(item.targets) != bool(batch[0].targets)
        ):
            yield batch
            longer = [item]
        batch = longer
    if batch:
        yield batch
