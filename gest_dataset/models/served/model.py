"""A model behind a server: log-probabilities from completions, answers from chat completions."""

from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from tqdm.auto import tqdm
from transformers import AutoTokenizer

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.errors import ModelError, OutputError, convert_errors, describe_error
from gest_dataset.models.base import CONNECTIONS, LogProbs, Passes, Sampling
from gest_dataset.models.identity import TEXTS, tokenizer_fingerprint
from gest_dataset.models.prefix_sharing import longest_continuations
from gest_dataset.models.pretrained import from_pretrained
from gest_dataset.models.served.chat import CHAT, chat_body, detect_chat_format, parse_chat
from gest_dataset.models.served.client import Client, open_client
from gest_dataset.models.served.completions import (
    Capabilities,
    Ids,
    Item,
    detect_capabilities,
    find_model,
    request_values,
)
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.prompts import Answer, Prompt
from gest_dataset.probes.queries import Query, Values
from gest_dataset.probes.tokenization import ProbeTokenizer, start_token, unknown_token_ids
from gest_dataset.progress import ProgressWriter
from gest_dataset.storage import CHOOSE

SERVER = "server"
# Limits of one request: prompts, their tokens, named tokens (vLLM takes 128)
MAX_PROMPTS, MAX_TOKENS, MAX_NAMED = 64, 8192, 100
_DRIFT = 0.05  # nats: values of one model differ by rounding, those of another one by more
# With identity.TEXTS, whose hashes must not change: what a server's tokenizer may read differently
_MORE_TEXTS = (
    "Zawsze byłam silna, a on nie.",
    "She paid 1,234.50 on 3/4/2025.",
    "UPPER lower MiXeD under_score hy-phen",
    "日本語 हिन्दी العربية naïve café",
    "unbelievableantidisestablishmentarianism",
)


@dataclass(frozen=True)
class ServedModel:
    """A causal model under its name at a server with the methods of a `LoadedModel`."""

    name: str
    client: Client
    entry: Mapping[str, Any]  # the server's description of the model
    tokenizer_name: str | None = None
    kind: str = "causal"
    revision: None = None
    device: None = None

    @cached_property
    def _tokenizer(self) -> tuple[Any, list[str]]:
        return load_tokenizer(self.tokenizer_name or self.name, self.client, self.name)

    @property
    def tokenizer(self) -> Any:
        return self._tokenizer[0]

    @cached_property
    def capabilities(self) -> Capabilities:
        ids = tuple(self.tokenizer.backend_tokenizer.encode(TEXTS[0]).ids)
        return detect_capabilities(self.client, self.name, self.entry, ids)

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
        )

    def log_probs(
        self,
        queries: Sequence[Query],
        batch_tokens: int | None = None,
        description: str = "scoring",
        cache: ResponseCache | None = None,
    ) -> LogProbs:
        able = self.capabilities
        items, sources = make_plan(queries, able.named_tokens or not able.full_texts, able.full_texts)
        values = self._item_values(items, description, cache)
        reason, notes = "the server's value is not finite", [*self._tokenizer[1]]
        if able.prefix_tokens:
            notes.append(
                f"the server puts {able.prefix_tokens} token(s) of its own before the ids it is sent"
            )
        if able.top_tokens:
            reason = f"not among the {able.top_tokens} likeliest tokens, which is all that the server returns"
            notes.append(
                f"the server returns the {able.top_tokens} likeliest tokens only; others are skipped"
            )
        size = sum(len(item.ids) for item in items)
        passes = Passes(len(queries), len(items), size, computed=size)
        of_queries = [np.array([values[item][i] for item, i in source]) for source in sources]
        return LogProbs(of_queries, passes, SERVER, tuple(notes), reason)

    def _item_values(
        self, items: Sequence[Item], description: str, cache: ResponseCache | None
    ) -> dict[Item, Values]:
        """The values of every item, from the cache or the server."""
        if cache is not None:  # of a run that may have been started with another model of this name
            key, now = cache_key("fingerprint"), self.capabilities.fingerprint
            before = cache.get([key]).get(key, now)
            if len(before) != len(now) or not np.allclose(before, now, rtol=0, atol=_DRIFT):
                raise OutputError(
                    f"{cache.path.parent} was started with another model behind the name {self.name!r}: the "
                    f"log-probabilities of a fixed text have changed. {CHOOSE}"
                )
            cache.put({key: before})
        keys = {item: cache_key("item", item.ids, item.targets) for item in items}
        cached = {} if cache is None else cache.get(keys.values())
        values: dict[Item, Values] = {i: np.array(cached[key]) for i, key in keys.items() if key in cached}
        batches = make_batches([item for item in items if item not in values], self.capabilities)
        texts: dict[int, str] = {}  # of the targets, for servers that give tokens as texts
        if self.capabilities.top_tokens:
            targets = {target for item in items for target in item.targets}
            decoded = {target: str(self.tokenizer.decode([target])) for target in targets}
            # two tokens with one text, or parts of a character, cannot be told apart
            usable = [text for text in decoded.values() if "\N{REPLACEMENT CHARACTER}" not in text]
            texts = {target: text for target, text in decoded.items() if usable.count(text) == 1}

        def send(client: Client, batch: list[Item]) -> list[Values]:
            return request_values(client, self.name, self.capabilities, batch, texts)

        progress = ProgressWriter(len(items), "prompts")
        bar = tqdm(total=len(items), initial=len(values), desc=description, disable=None, leave=False)
        with bar, closing(self.client.map(send, batches)) as completed:
            for results in completed:
                new = {i: v for batch, vs in results for i, v in zip(batch, vs, strict=True)}
                if cache is not None:
                    cache.put({keys[item]: value.tolist() for item, value in new.items()})
                values |= new
                bar.update(len(new))
                progress.update(len(values))
        return values

    def generate(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[list[tuple[Prompt, Answer]], None, None]:
        length_name, top = self.chat_format
        sampling = replace(sampling, top=min(sampling.top, top))

        def send(client: Client, prompt: Prompt) -> Answer:
            response = client.request(CHAT, chat_body(self.name, prompt, sampling, length_name))
            return parse_chat(response, self.name, client.address)

        return self.client.map(send, prompts)


def connect(
    url: str, model: str | None, tokenizer: str | None = None, connections: int = CONNECTIONS
) -> ServedModel:
    """The model of a server; `tokenizer` is its Hub id or folder (default: its name)."""
    client = open_client(url, connections)
    name, entry = find_model(client, model)
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
            return tokenizer, [f"the server has no /tokenize: it is not checked that {name} is its tokenizer"]
        ids = list(tokenizer.backend_tokenizer.encode(text).ids)
        if ids != response["tokens"]:
            raise ModelError(
                f"{name} is not the tokenizer of {client.address}: {text!r} has the ids {ids[:8]}, on the "
                f"server {response['tokens'][:8]}. {advice}"
            )
    return tokenizer, []


def make_plan(
    queries: Sequence[Query], next_tokens: bool, full_texts: bool
) -> tuple[list[Item], list[list[tuple[Item, int]]]]:
    """The distinct items to ask for, and for each query the items and indices of its values.

    A contrast of two words at one position asks for some tokens after a context, a continuation of several
    tokens for a whole text. A server that supports only one of them gets the other in its place: ln P(t | c)
    is also the last value of the text (c, t), and a text is also as many contexts as it has tokens.
    """
    wanted = [_lookups(query, next_tokens, full_texts) for query in queries]
    targets: dict[Ids, dict[int, int]] = defaultdict(dict)  # context -> target -> its index
    texts: dict[Ids, None] = {}
    for ids, target, _ in (lookup for lookups in wanted for lookup in lookups):
        if target is None:
            texts[ids] = None
        else:
            targets[ids].setdefault(target, len(targets[ids]))
    ordered = list(texts)
    # the values of a text are among those of a longer one that begins with it
    hosts = dict(zip(ordered, (Item(ordered[i]) for i in longest_continuations(ordered)), strict=True))
    contexts = {context: Item(context, tuple(indices)) for context, indices in targets.items()}
    sources = [
        [
            (hosts[ids], index) if target is None else (contexts[ids], targets[ids][target])
            for ids, target, index in lookups
        ]
        for lookups in wanted
    ]
    return [*contexts.values(), *dict.fromkeys(hosts.values())], sources


def _lookups(query: Query, next_tokens: bool, full_texts: bool) -> list[tuple[Ids, int | None, int]]:
    """For each target: a context and the target, or a text (no target) and the index of its value."""
    ids, last = query.input_ids, len(query.input_ids) - 1
    # the text of a continuation; a contrast has none
    continued = ids
    if query.positions[-1] == last and query.positions.count(last) == 1:
        continued = (*ids, query.targets[-1])
    lookups: list[tuple[Ids, int | None, int]] = []
    for position, target in zip(query.positions, query.targets, strict=True):
        context = ids[: position + 1]
        in_text = position + 1 < len(continued) and continued[position + 1] == target
        if next_tokens and not (full_texts and in_text and len(set(query.positions)) > 1):
            lookups.append((context, target, 0))
        else:
            lookups.append((continued if in_text else (*context, target), None, position))
    return lookups


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
