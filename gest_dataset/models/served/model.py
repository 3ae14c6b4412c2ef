"""A model behind a server: log-probabilities from completions, answers from chat completions."""

import math
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoTokenizer

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.errors import ModelError, OutputError, convert_errors, describe_error
from gest_dataset.models.base import CONNECTIONS, LogProbs, Passes, Sampling
from gest_dataset.models.identity import TEXTS, tokenizer_fingerprint
from gest_dataset.models.pretrained import from_pretrained, gguf_path
from gest_dataset.models.served import completions
from gest_dataset.models.served.client import Client, InvalidReplyError, UnsupportedError, open_client
from gest_dataset.models.served.completions import Capabilities, Item
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED, Answer, Prompt, has_thoughts
from gest_dataset.probes.queries import Query, Values
from gest_dataset.probes.tokenization import ProbeTokenizer, start_token, unknown_token_ids
from gest_dataset.progress import ProgressBar
from gest_dataset.storage import CHOOSE

SERVER = "server"
CHAT = "/v1/chat/completions"
# The two names of an answer's longest length; newer models accept only the second one
_LENGTH_NAMES = ("max_tokens", "max_completion_tokens")
_TOP_P: tuple[dict[str, Any], ...] = ({"top_p": 1}, {})  # TGI refuses a 1
_TOP_TOKENS = (20, 5, 1, 0)  # numbers of likeliest first tokens to try
# What turns thinking off and on; the first that a server follows is used
_SWITCHES: tuple[list[dict[str, Any]], ...] = (
    # vLLM, SGLang and llama.cpp; `think` is Ollama's
    [{"chat_template_kwargs": {"enable_thinking": on, "thinking": on}, "think": on} for on in (False, True)],
    [{"thinking": {"type": kind}} for kind in ("disabled", "enabled")],  # DeepSeek
    [{"reasoning_effort": effort} for effort in ("none", "medium")],  # OpenAI, and /v1 of Ollama
)
_GREETING_TOKENS = 256
# What a chat server accepts: the name of the longest length, the number of likeliest first tokens that it
# returns, and further settings, such as what turns thinking on or off
ChatFormat = tuple[str, int, Mapping[str, Any]]
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
    sampling: Sampling = field(default_factory=Sampling)  # of a chat: is thinking turned on or off?

    @cached_property
    def _tokenizer(self) -> tuple[Any, list[str]]:
        return load_tokenizer(self.tokenizer_name or self.name, self.client, self.name)

    @property
    def tokenizer(self) -> Any:
        return self._tokenizer[0]

    @cached_property
    def capabilities(self) -> Capabilities:
        ids = tuple(self.tokenizer.backend_tokenizer.encode(TEXTS[0]).ids)
        start = (start_token(self.tokenizer) or ())[1:]
        about = self.client, self.name, self.entry, ids, start
        return completions.detect_capabilities(*about, self._decode)

    def _decode(self, ids: Sequence[int]) -> str:
        """The text of some tokens; an error if it may stand for others (without a byte-level vocabulary)."""
        text = str(self.tokenizer.decode(ids))
        encode = partial(self.tokenizer.backend_tokenizer.encode, add_special_tokens=False)
        keeps_spaces = self.tokenizer.decode(encode(" a").ids) == " a"
        if not keeps_spaces or (len(ids) > 1 and encode(text).ids != list(ids)):
            advice = "use a server that takes token ids (docs/endpoints.md)"
            raise InvalidReplyError(f"{text[:40]!r} … becomes other tokens as a text: {advice}.")
        return text

    @cached_property
    def chat_format(self) -> ChatFormat:
        return detect_chat_format(self.client, self.name, self.sampling)

    def settings(self, batch_tokens: int | None = None, chat: bool = False) -> dict[str, Any]:
        settings = {"endpoint": self.client.address, "device": SERVER}
        if chat:
            return settings
        method = {"method": self.capabilities.method, "dtype": SERVER}
        return {**tokenizer_fingerprint(self.tokenizer), **settings, **method}

    def facts(self, chat: bool = False) -> dict[str, Any]:
        if chat:
            _, top, fields = self.chat_format
            thinking = {key: value for key, value in fields.items() if key != "top_p"}
            abilities = {"method": CHAT, "top_tokens": top, **({"thinking": thinking} if thinking else {})}
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
            start=start[1:] if start else (),
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
        targets = {target for item in items for target in item.targets}
        decoded = {target: str(self.tokenizer.decode([target])) for target in targets}
        # for servers that give texts: two tokens with one, or parts of a character, cannot be told apart
        usable = Counter(text for text in decoded.values() if "\N{REPLACEMENT CHARACTER}" not in text)
        texts = {target: text for target, text in decoded.items() if usable[text] == 1}

        def send(client: Client, batch: list[Item], compare: bool = False) -> list[Values]:
            request = partial(completions.request_values, client, self.name, self.capabilities)
            values = partial(request, texts=texts, decode=self._decode)
            return completions.request_valid_values(values, batch, compare)

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
        chat = self.chat_format
        sampling = replace(sampling, top=min(sampling.top, chat[1]))

        def send(client: Client, prompt: Prompt, retries: int = 1) -> Answer:
            try:
                return parse_chat(*request_chat(client, self.name, prompt, sampling, chat), sampling.thinks)
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
    advice = "Pass the Hub id, folder or .gguf file of the served model with --tokenizer."
    message = f"The tokenizer {name!r} cannot be loaded: "
    with convert_errors(lambda error: ModelError(f"{message}{describe_error(error)}\n{advice}")):
        file = gguf_path(name)
        options: dict[str, Any] = {} if file is None else {"gguf_file": file.name}
        tokenizer = from_pretrained(AutoTokenizer, name if file is None else file.parent, **options)
        tokenizer("")  # turns off truncation and padding
    for text in (*filter(None, TEXTS), *_MORE_TEXTS):
        body = {"model": model, "prompt": text, "add_special_tokens": True}
        body |= {"content": text, "add_special": True}  # of llama.cpp's llama-server
        response = client.try_request("/tokenize", body)
        if response is None:
            return tokenizer, [f"the server has no /tokenize, so nothing checks that {name} is its tokenizer"]
        ids = list(tokenizer.backend_tokenizer.encode(text).ids)
        if ids != response["tokens"]:
            problem = f"{name} is not the tokenizer of {client.address}: they tokenize {text!r} differently"
            raise ModelError(f"{problem}. {advice}")
    return tokenizer, []


def request_chat(
    client: Client, model: str, prompt: Prompt, sampling: Sampling, chat: ChatFormat
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The choice and the token counts of one answer."""
    length_name, _, fields = chat
    tops = {"logprobs": True, "top_logprobs": sampling.top} if sampling.top else {}
    body = {
        "model": model,
        "messages": [{"role": "user", "content": prompt.text}],
        "temperature": sampling.temperature,
        length_name: sampling.max_tokens,
        "seed": sampling.seed + prompt.repeat,
        **fields,
        **tops,
    }
    response = client.request(CHAT, body)
    choices = completions.check_response(response, model, client.address)
    return choices[0] if choices else {}, response.get("usage") or {}


def detect_chat_format(client: Client, model: str, wanted: Sampling) -> ChatFormat:
    """What the server accepts; a switch that does not turn off thinking counts as not accepted."""
    problem: Exception | None = None
    advice = "Use a model with a chat template, or `gest score --endpoint`."
    on, effort = wanted.enable_thinking, wanted.reasoning_effort
    fixed = {} if effort is None else {"reasoning_effort": effort}
    switches = [fixed] if on is None else [{**switch[on], **fixed} for switch in _SWITCHES]
    first: ChatFormat | None = None
    for top_p, switch, length_name, top in product(_TOP_P, switches, _LENGTH_NAMES, _TOP_TOKENS):
        # accepted by every model
        greeting = Sampling(temperature=1.0, max_tokens=_GREETING_TOKENS if on else 16, top=top)
        chat = length_name, top, {**top_p, **switch}
        try:
            reply = request_chat(client, model, Prompt("", "", "Hi"), greeting, chat)
        except UnsupportedError as error:
            problem = error
            continue
        if on is None or on == _thinks(*reply):
            return chat
        first = first or chat
        problem = ModelError(f"{model} thinks on {client.address} with each setting that turns it off.")
        advice = "Leave out --no-enable-thinking, or try --reasoning-effort."
    if on and first:  # a greeting may need no thoughts
        return first
    raise ModelError(f"{problem}\n{advice}")


def _thinks(choice: Mapping[str, Any], usage: Mapping[str, Any]) -> bool:
    """Whether a reply has thoughts, or counts tokens of hidden ones."""
    answer = parse_chat(choice, usage)
    hidden = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
    return bool(answer.thoughts or hidden or has_thoughts(answer.text))


def parse_chat(choice: Mapping[str, Any], usage: Mapping[str, Any], thinks: bool = False) -> Answer:
    """The answer in a choice, with its token counts, its thoughts and its likeliest first tokens.

    If the model `thinks` and was cut off, a text without tags is that of the thoughts.
    """
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
        thoughts = str(message.get("reasoning_content") or message.get("reasoning") or "")
        if thinks and reason == "length" and not thoughts and not has_thoughts(text):
            text, thoughts = "", text
        if not text.strip():
            refusal = str(message.get("refusal") or "")
            problem = FILTERED if refusal else _PROBLEMS.get(reason, EMPTY)
            return Answer(refusal, *tokens, problem, thoughts=thoughts)
        tokens_of_answer = (choice.get("logprobs") or {}).get("content") or [{}]
        tops = tokens_of_answer[0].get("top_logprobs") or ()
        top = tuple((str(one["token"]), completions.log_probability(one["logprob"])) for one in tops)
        if not sum(map(math.exp, dict(top).values())) < _MOST_MASS:  # also if one is missing
            raise ValueError("impossible log-probabilities")
        return Answer(text, *tokens, FILTERED if reason == "content_filter" else "", top, thoughts)
