"""A model behind a server: log-probabilities from completions, answers from chat completions."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.errors import ModelError, OutputError, ScoringError, SettingError
from gest_dataset.models.base import LogProbs, Passes, Sampling
from gest_dataset.models.served import formats
from gest_dataset.models.served.capabilities import Capabilities, detect_capabilities, find_model
from gest_dataset.models.served.client import Client, open_client
from gest_dataset.models.served.formats import CHAT, COMPLETIONS, FullText, Item, NextTokens
from gest_dataset.models.served.plan import make_batches, make_plan
from gest_dataset.models.served.tokenizer import SENTENCES, ServedTokenizer, load_tokenizer, server_tokenizer
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.prompts import Answer, Prompt
from gest_dataset.probes.queries import Query, Values
from gest_dataset.probes.tokenization import ProbeTokenizer, start_token
from gest_dataset.runs.progress import ProgressWriter

CONNECTIONS, CHAT_CONNECTIONS = 8, 32
SERVER = "server"
# In nats: values of one model differ by rounding, those of another one by more
_DRIFT = 0.05
# The two names of an answer's longest length; newer models accept only the second one
_LENGTH_NAMES = ("max_tokens", "max_completion_tokens")
_TOP_TOKENS = (20, 5, 1)  # numbers of likeliest first tokens to try
_GREETING = Prompt("", "", "Hi")
_GREETING_SAMPLING = Sampling(temperature=1.0, max_tokens=16)  # accepted by every model


@dataclass(frozen=True)
class ServedModel:
    """A causal model under its name at a server (a `Model`).

    What the server supports is detected when it is first needed: `capabilities` and `tokenizer` for scores,
    `chat_format` for answers. `entry` is the server's description of the model.
    """

    name: str
    client: Client
    entry: Mapping[str, Any]
    tokenizer_name: str | None = None
    kind: str = "causal"
    revision: None = None
    from_hub: bool = False
    requested_revision: None = None
    device: None = None
    device_name: str = SERVER

    @cached_property
    def _tokenizer(self) -> tuple[ServedTokenizer, list[str]]:
        if self.tokenizer_name:
            return load_tokenizer(self.tokenizer_name, self.client, self.name)
        return server_tokenizer(self.client, self.name), []

    @property
    def tokenizer(self) -> ServedTokenizer:
        return self._tokenizer[0]

    @cached_property
    def capabilities(self) -> Capabilities:
        ids = tuple(self.tokenizer.encode(SENTENCES[0]).ids)
        return detect_capabilities(self.client, self.name, self.entry, ids)

    @cached_property
    def chat_format(self) -> tuple[str, int]:
        """The name of the longest length, and the number of likeliest first tokens that are returned."""
        for name in _LENGTH_NAMES:
            rejection = self.client.rejection(CHAT, self._chat_body(_GREETING, _GREETING_SAMPLING, name))
            if rejection is None:
                break
        else:
            raise ModelError(
                f"{self.client.address} has no {CHAT} for {self.name!r} ({rejection}). Use a model with a "
                f"chat template, or score its probabilities with `gest score --endpoint`."
            )
        for top in _TOP_TOKENS:
            body = self._chat_body(_GREETING, replace(_GREETING_SAMPLING, top=top), name)
            if self.client.rejection(CHAT, body) is None:
                return name, top
        return name, 0

    def settings(self, batch_tokens: int | None) -> dict[str, Any]:
        server = {"endpoint": self.client.address, "method": self.capabilities.method}
        return {**self.tokenizer.settings, **server, "device": SERVER, "dtype": SERVER}

    def facts(self) -> dict[str, Any]:
        method = {"address": self.client.address, "method": self.capabilities.method}
        return {"parameters": None, "toy": False, "endpoint": {**method, **self.capabilities.to_json()}}

    def chat_settings(self) -> dict[str, Any]:
        """Everything that answers depend on."""
        return {"endpoint": self.client.address, "device": SERVER}

    def chat_facts(self) -> dict[str, Any]:
        endpoint = {"address": self.client.address, "method": CHAT, "top_tokens": self.chat_format[1]}
        return {"parameters": None, "toy": False, "endpoint": endpoint}

    def notes(self) -> list[str]:
        """What a run should mention about the server."""
        return self.client.notes()

    def reader(self, probe: Probe, rules: frozenset[str]) -> ProbeTokenizer:
        start = start_token(self.tokenizer)
        if probe.scores_whole_texts and start is None:
            raise SettingError(
                f"{probe.name} needs the start token, which {self.client.address} does not report; pass the "
                f"model's tokenizer with --tokenizer."
            )
        length = self.capabilities.context_length
        return ProbeTokenizer(
            tokenise=self.tokenizer.encode,
            kind=self.kind,
            # the server generates one token
            limit=None if length is None else length - 1 - self.capabilities.prefix_tokens,
            vocabulary=None,
            unknown=self.tokenizer.unknown,
            mask_id=None,
            start_id=start[1] if start else None,
            end_id=self.tokenizer.eos_token_id,
            reserved=None,
            sentinels=(),
            decoder_start_id=None,
            next_label=None,
            rules=rules,
        )

    def log_probs(
        self,
        queries: Sequence[Query],
        batch_tokens: int | None = None,
        description: str = "scoring",
        cache: ResponseCache | None = None,
    ) -> LogProbs:
        able = self.capabilities
        plan = make_plan(queries, able.named_tokens or not able.full_texts, able.full_texts)
        values, requests = self._item_values(plan.items, description, cache)
        size = sum(item.size for item in plan.items)
        reason, notes = "the server's value is not finite", [*self._tokenizer[1]]
        if able.prefix_tokens:
            notes.append(
                f"the server puts {able.prefix_tokens} token(s) of its own before the ids it is sent"
            )
        if not able.named_tokens and not able.full_texts:
            reason = f"not among the {able.top_tokens} likeliest tokens, which is all that the server returns"
            notes.append(
                f"the server returns the {able.top_tokens} likeliest tokens only; others are skipped"
            )
        return LogProbs(
            plan.query_values(values),
            Passes(len(queries), len(plan.items), size, batches=requests, computed=size),
            SERVER,
            (*notes, *self.notes()),
            reason,
        )

    def _item_values(
        self, items: Sequence[Item], description: str, cache: ResponseCache | None
    ) -> tuple[dict[Item, Values], int]:
        """The values of every item, from the cache or the server, and the number of requests."""
        keys = {item: _item_key(item) for item in items}
        cached = {} if cache is None else self._checked(cache).get(keys.values())
        values: dict[Item, Values] = {i: np.array(cached[key]) for i, key in keys.items() if key in cached}
        batches = make_batches([item for item in items if item not in values], self.capabilities)
        texts = self._target_texts(items)

        def send(client: Client, batch: list[Item]) -> list[Values]:
            return self._request(client, batch, texts)

        progress = ProgressWriter(cache, len(items), "prompts")
        bar = tqdm(total=len(items), initial=len(values), desc=description, disable=None, leave=False)
        requests = 0
        with bar, closing(self.client.map(send, batches)) as completed:
            for results in completed:
                new = {i: v for batch, vs in results for i, v in zip(batch, vs, strict=True)}
                if cache is not None:
                    cache.put({keys[item]: value.tolist() for item, value in new.items()})
                values |= new
                requests += len(results)
                bar.update(len(new))
                progress.update(len(values))
        return values, requests

    def _checked(self, cache: ResponseCache) -> ResponseCache:
        """The cache, unless its values are of another model under the same name."""
        key, now = cache_key("fingerprint"), np.array(self.capabilities.fingerprint)
        before = np.array(cache.get([key]).get(key, now))
        if before.shape != now.shape or not np.allclose(before, now, rtol=0, atol=_DRIFT):
            raise OutputError(
                f"{cache.path.parent} was started with another model behind the name {self.name!r}: the "
                f"values of one text have changed. Choose another directory with --output."
            )
        cache.put({key: before.tolist()})
        return cache

    def _request(self, client: Client, batch: Sequence[Item], texts: Mapping[int, str]) -> list[Values]:
        """The values of a batch of items of one kind."""
        able = self.capabilities
        contexts = [item for item in batch if isinstance(item, NextTokens)]
        full_texts = [item for item in batch if isinstance(item, FullText)]
        if full_texts:
            body = formats.echo_request(full_texts, able.min_tokens)
        elif able.named_tokens:
            body = formats.named_request(contexts)
        else:
            body = formats.top_request(contexts, able.top_tokens)
        response = client.post(COMPLETIONS, {"model": self.name, **body})
        logprobs = formats.parse_logprobs(response, self.name, len(batch), client.address)
        if full_texts:
            return [
                formats.text_values(item, entry, able.prefix_tokens, client.address)
                for item, entry in zip(full_texts, logprobs, strict=True)
            ]
        values = [
            formats.next_values(item, entry, texts) for item, entry in zip(contexts, logprobs, strict=True)
        ]
        if able.named_tokens and any(math.isnan(value) for row in values for value in row):
            raise ScoringError(f"{client.address} did not return the log-probability of every named token.")
        return values

    def _target_texts(self, items: Sequence[Item]) -> dict[int, str]:
        """The text of every target, for servers that give tokens as texts; empty if it is ambiguous."""
        if self.capabilities.named_tokens or not self.capabilities.top_tokens:
            return {}
        targets = {target for item in items if isinstance(item, NextTokens) for target in item.targets}
        texts = {target: self.tokenizer.decode(target) for target in targets}
        # two tokens with one text, or parts of a character, cannot be told apart
        usable = [text for text in texts.values() if "\N{REPLACEMENT CHARACTER}" not in text]
        return {target: text if usable.count(text) == 1 else "" for target, text in texts.items()}

    def generate(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[list[tuple[Prompt, Answer]], None, None]:
        length_name, top = self.chat_format
        sampling = replace(sampling, top=min(sampling.top, top))

        def send(client: Client, prompt: Prompt) -> Answer:
            response = client.post(CHAT, self._chat_body(prompt, sampling, length_name))
            return formats.parse_chat(response, self.name, client.address)

        return self.client.map(send, prompts)

    def _chat_body(self, prompt: Prompt, sampling: Sampling, length_name: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": "user", "content": prompt.text}],
            "temperature": sampling.temperature,
            "top_p": 1,
            length_name: sampling.max_tokens,
            "seed": sampling.seed + prompt.repeat,
        }
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if sampling.top:
            body |= {"logprobs": True, "top_logprobs": sampling.top}
        return body


def _item_key(item: Item) -> str:
    if isinstance(item, NextTokens):
        return cache_key("next tokens", item.context, item.targets)
    return cache_key("full text", item.ids)


def connect(
    url: str, model: str | None, tokenizer: str | None = None, connections: int = CONNECTIONS
) -> ServedModel:
    """The model of a server; `tokenizer` is its Hub id or folder, else the server tokenizes each text."""
    client = open_client(url, connections)
    name, entry = find_model(client, model)
    return ServedModel(name, client, entry, tokenizer)
