"""A model behind a server: log-probabilities from completions, answers from chat completions."""

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoTokenizer

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.errors import ModelError, OutputError, convert_errors, describe_error
from gest_dataset.models.base import CONNECTIONS, LogProbs, Passes, Sampling
from gest_dataset.models.identity import TEXTS, tokenizer_fingerprint
from gest_dataset.models.pretrained import from_pretrained
from gest_dataset.models.served import completions
from gest_dataset.models.served.client import Client, InvalidReplyError, UnsupportedError, open_client
from gest_dataset.models.served.completions import Capabilities, Item
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED, Answer, Prompt
from gest_dataset.probes.queries import Query, Values
from gest_dataset.probes.tokenization import ProbeTokenizer, start_token, unknown_token_ids
from gest_dataset.progress import ProgressBar
from gest_dataset.storage import CHOOSE

SERVER = "server"
CHAT = "/v1/chat/completions"
# The two names of an answer's longest length; newer models accept only the second one
_LENGTH_NAMES = ("max_tokens", "max_completion_tokens")
_TOP_TOKENS = (20, 5, 1, 0)  # numbers of likeliest first tokens to try
_PROBLEMS = {"length": CUT, "content_filter": FILTERED}
_MOST_TOKENS = 2**31  # in a text
_MOST_MASS = 1.01  # the sum of probabilities, with rounding
_DRIFT = 0.05  # nats: values of one model differ by rounding, those of another one by more
# More texts than identity.TEXTS (which cannot change, as hashes depend on it) to compare tokenizers on
_MORE_TEXTS = (
    "Zawsze byłam silna, a on nie.",
    "She paid 1,234.50 on 3/4/2025.",
    "UPPER lower MiXeD under_score hy-phen",
    "日本語 हिन्दी العربية naïve café",
    "unbelievableantidisestablishmentarianism",
)


@dataclass(frozen=True)
class ServedModel:
    """A causal model on a server, by its name there; it has the methods of a `LoadedModel`."""

    name: str
    client: Client
    entry: Mapping[str, Any]  # the server's description of the model
    tokenizer_name: str | None = None
    kind: str = "causal"
    revision: None = None
    device: None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def _tokenizer(self) -> tuple[Any, list[str]]:
        return load_tokenizer(self.tokenizer_name or self.name, self.client, self.name)

    @property
    def tokenizer(self) -> Any:
        return self._tokenizer[0]

    @cached_property
    def capabilities(self) -> Capabilities:
        ids = tuple(self.tokenizer.backend_tokenizer.encode(TEXTS[0]).ids)
        return completions.detect_capabilities(self.client, self.name, self.entry, ids)

    @cached_property
    def chat_format(self) -> tuple[str, int]:
        return detect_chat_format(self.client, self.name)

    def settings(self, batch_tokens: int | None = None, chat: bool = False) -> dict[str, Any]:
        settings = {"endpoint": self.client.address, "device": SERVER}
        if chat:
            return settings
        method = {"method": self.capabilities.method, "dtype": SERVER}
        return {**tokenizer_fingerprint(self.tokenizer), **settings, **method}

    def facts(self, chat: bool = False) -> dict[str, Any]:
        if chat:
            abilities = {"method": CHAT, "top_tokens": self.chat_format[1]}
        else:
            abilities = {"method": self.capabilities.method, **asdict(self.capabilities)}
        unknown = {"from_hub": False, "requested_revision": None, "parameters": None, "toy": False}
        return {**unknown, "device": SERVER, "endpoint": {"address": self.client.address, **abilities}}

    def reader(self, probe: Probe, rules: frozenset[str]) -> ProbeTokenizer:
        start, length = start_token(self.tokenizer), self.capabilities.context_length
        return ProbeTokenizer(
            tokenize=self.tokenizer.backend_tokenizer.encode,
            kind=self.kind,
            # the server generates one token
            limit=None if length is None else length - 1 - self.capabilities.prefix_tokens,
            vocabulary=None,
            unknown=unknown_token_ids(self.tokenizer),
            start_id=start[1] if start else None,
            end_id=self.tokenizer.eos_token_id,
            rules=rules,
            most_placebo=completions.MAX_NAMED - 2,  # beside the two words
        )

    def log_probs(
        self, queries: Sequence[Query], batch_tokens: int | None, name: str, cache: ResponseCache | None
    ) -> LogProbs:
        able = self.capabilities
        items, sources = completions.make_plan(queries, able)
        values = self._item_values(items, name, cache)
        reason, notes = "the server returned no valid log-probability", [*self._tokenizer[1]]
        if able.prefix_tokens:
            notes.append(f"the server puts {able.prefix_tokens} token(s) of its own before the ids")
        if able.top_tokens:
            reason = f"not among the {able.top_tokens} likeliest tokens, which is all that the server returns"
            notes.append(f"words that are {reason}, are skipped")
        size = sum(len(item.ids) for item in items)
        passes = Passes(len(queries), len(items), size, computed=size)
        of_queries = [np.array([values[item][i] for item, i in source]) for source in sources]
        return LogProbs(of_queries, passes, SERVER, tuple(notes), reason)

    def _item_values(
        self, items: Sequence[Item], name: str, cache: ResponseCache | None
    ) -> dict[Item, Values]:
        """The values of every item, from the cache or the server."""
        cache = cache or ResponseCache(Path(":memory:"))
        # the run may have been started with another model of this name
        key, now = cache_key("fingerprint"), self.capabilities.fingerprint
        before = cache.get([key]).get(key, now)
        if len(before) != len(now) or not np.allclose(before, now, rtol=0, atol=_DRIFT):
            problem = f"The run in {cache.path.parent} used another model under the name {self.name!r}"
            raise OutputError(f"{problem}: its scores for the same text have changed. {CHOOSE}")
        cache.put({key: before})
        keys = {item: cache_key("item", item.ids, item.targets) for item in items}
        cached = cache.get(keys.values())
        values: dict[Item, Values] = {i: np.array(cached[key]) for i, key in keys.items() if key in cached}
        missing = [item for item in items if item not in values]
        texts: dict[int, str] = {}  # of the targets, for servers that give tokens as texts
        if self.capabilities.top_tokens:
            targets = {target for item in items for target in item.targets}
            decoded = {target: str(self.tokenizer.decode([target])) for target in targets}
            # two tokens with one text, or parts of a character, cannot be told apart
            usable = [text for text in decoded.values() if "\N{REPLACEMENT CHARACTER}" not in text]
            texts = {target: text for target, text in decoded.items() if usable.count(text) == 1}

        def send(client: Client, batch: list[Item], compare: bool = False) -> list[Values]:
            request = partial(completions.request_values, client, self.name, self.capabilities)
            return completions.request_valid_values(lambda some: request(some, texts), batch, compare)

        def store(results: Sequence[tuple[list[Item], list[Values]]]) -> None:
            new = {item: value for batch, some in results for item, value in zip(batch, some, strict=True)}
            cache.put({keys[item]: value.tolist() for item, value in new.items()})
            values.update(new)
            bar.update(len(new))

        with ProgressBar(len(items), "prompts", len(values), name) as bar:
            first = next(completions.make_batches(missing, self.capabilities), [])
            if len(first) > 1:
                first = first[: completions.CHECKED_PROMPTS]
                store([(first, send(self.client, first, compare=True))])
            missing = [item for item in missing if item not in values]
            batches = completions.make_batches(missing, self.capabilities)
            with closing(self.client.map(send, batches)) as completed:
                for results in completed:
                    store(results)
        return values

    def generate(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[list[tuple[Prompt, Answer]], None, None]:
        length_name, top = self.chat_format
        sampling = replace(sampling, top=min(sampling.top, top))

        def send(client: Client, prompt: Prompt, retries: int = 1) -> Answer:
            try:
                response = client.request(CHAT, chat_body(self.name, prompt, sampling, length_name))
                choices = completions.check_response(response, self.name, client.address)
                return parse_chat(choices[0] if choices else {}, response.get("usage") or {})
            except InvalidReplyError as error:
                if retries:
                    return send(client, prompt, retries - 1)
                return Answer("", 0, 0, describe_error(error))

        return self.client.map(send, prompts)


def connect(
    url: str, model: str | None, tokenizer: str | None = None, connections: int = CONNECTIONS
) -> ServedModel:
    """The model of a server; `tokenizer` is its Hub id or folder (default: its name)."""
    client = open_client(url, connections)
    name, entry = completions.find_model(client, model)
    return ServedModel(name, client, entry, tokenizer)


def load_tokenizer(name: str, client: Client, model: str) -> tuple[Any, list[str]]:
    """A tokenizer of the Hub or a folder, and notes; an error if the server's gives other ids."""
    advice = "Pass the Hub id or folder of the served model with --tokenizer."
    message = f"The tokenizer {name!r} cannot be loaded: "
    with convert_errors(lambda error: ModelError(f"{message}{describe_error(error)}\n{advice}")):
        tokenizer = from_pretrained(AutoTokenizer, name)
        tokenizer("")  # turns off truncation and padding
    for text in (*filter(None, TEXTS), *_MORE_TEXTS):
        body = {"model": model, "prompt": text, "add_special_tokens": True}
        response = client.try_request("/tokenize", body)
        if response is None:
            return tokenizer, [f"the server has no /tokenize, so nothing checks that {name} is its tokenizer"]
        ids = list(tokenizer.backend_tokenizer.encode(text).ids)
        if ids != response["tokens"]:
            problem = f"{name} is not the tokenizer of {client.address}: they tokenize {text!r} differently"
            raise ModelError(f"{problem}. {advice}")
    return tokenizer, []


def chat_body(model: str, prompt: Prompt, sampling: Sampling, length_name: str) -> dict[str, Any]:
    """The request for one answer."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": prompt.text}],
        "temperature": sampling.temperature,
        "top_p": 1,
        length_name: sampling.max_tokens,
        "seed": sampling.seed + prompt.repeat,
    }
    if sampling.top:
        body |= {"logprobs": True, "top_logprobs": sampling.top}
    return body


def detect_chat_format(client: Client, model: str) -> tuple[str, int]:
    """The name of the longest length, and the number of likeliest first tokens that the server returns."""
    problem: Exception | None = None
    for length_name in _LENGTH_NAMES:
        for top in _TOP_TOKENS:
            sampling = Sampling(temperature=1.0, max_tokens=16, top=top)  # accepted by every model
            try:
                client.request(CHAT, chat_body(model, Prompt("", "", "Hi"), sampling, length_name))
                return length_name, top
            except UnsupportedError as error:
                problem = error
    raise ModelError(f"{problem}\nUse a model with a chat template, or `gest score --endpoint`.")


def parse_chat(choice: Mapping[str, Any], usage: Mapping[str, Any]) -> Answer:
    """The answer in a choice, with its token counts and its likeliest first tokens."""
    with convert_errors(lambda error: InvalidReplyError(f"the reply is invalid: {describe_error(error)}")):
        tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        if not 0 <= min(tokens) <= max(tokens) < _MOST_TOKENS:
            raise ValueError("impossible token counts")
        message = choice.get("message") or {}
        content = message.get("content")  # a string, or a list of parts, some of which are texts
        parts = content if isinstance(content, list) else [content]
        texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
        text = "".join(text for text in texts if isinstance(text, str))
        reason = str(choice.get("finish_reason"))
        if not text.strip():
            refusal = str(message.get("refusal") or "")
            return Answer(refusal, *tokens, FILTERED if refusal else _PROBLEMS.get(reason, EMPTY))
        tokens_of_answer = (choice.get("logprobs") or {}).get("content") or [{}]
        tops = tokens_of_answer[0].get("top_logprobs") or ()
        top = tuple((str(one["token"]), completions.log_probability(one["logprob"])) for one in tops)
        if not sum(map(math.exp, dict(top).values())) < _MOST_MASS:  # also if one is missing
            raise ValueError("impossible log-probabilities")
        return Answer(text, *tokens, FILTERED if reason == "content_filter" else "", top)
