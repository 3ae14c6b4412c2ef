"""Loaded models: from a Hub id, a folder, a GGUF file or a pair of objects; their values and answers."""

import copy
import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.auto import modeling_auto as auto

from gest_dataset.cache import ResponseCache
from gest_dataset.errors import ModelError, SettingError, convert_errors, describe_error
from gest_dataset.models import device as devices
from gest_dataset.models import distributed, identity, pretrained
from gest_dataset.models.base import LogProbs, Sampling, Settings
from gest_dataset.models.chat import template
from gest_dataset.models.forward_passes import MIXED, LanguageModelScorer, NextSentenceScorer, Scorer
from gest_dataset.models.inference import compute_log_probs
from gest_dataset.models.packed_linear import is_faster, packable_layers
from gest_dataset.models.pretrained import check_complete, commit_hash, from_pretrained, load_config
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.prompts import EMPTY, Answer, Prompt
from gest_dataset.probes.queries import Query
from gest_dataset.probes.tokenization import ProbeTokenizer, make_probe_tokenizer

MASKED, CAUSAL, SEQ2SEQ, NSP = "masked", "causal", "seq2seq", "nsp"
LABEL_IDS = "next_sentence_labels"  # in config.json: the two label tokens of a text-to-text model
_kept: dict[Any, Any] | None = None  # see `keep_base`
# Tokens in a batch of prompts, including those of the answers
_CHAT_TOKENS = {"cpu": 2048, "mps": 16384, "cuda": 65536}

_NEXT_SENTENCE = auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES
# Kind -> the class that loads it, and the names of its architectures by model type; the first match counts
_KINDS: dict[str, tuple[Any, Mapping[str, str]]] = {
    SEQ2SEQ: (transformers.AutoModelForSeq2SeqLM, auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES),
    MASKED: (transformers.AutoModelForMaskedLM, auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES),
    CAUSAL: (transformers.AutoModelForCausalLM, auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES),
    NSP: (transformers.AutoModelForNextSentencePrediction, _NEXT_SENTENCE),
}


@dataclass(frozen=True)
class LoadedModel:
    """A transformers model with its tokenizer.

    A model of the caller is never changed. `baseline_seed` is the seed of a random baseline, else 0.
    `load_float32` loads the same model in float32. With `auto_dtype`, the linear layers may be computed in
    bfloat16 (`linear_dtype`).
    """

    model: Any
    tokenizer: Any
    kind: str
    name: str
    revision: str | None = None
    from_hub: bool = False
    requested_revision: str | None = None
    quantization: str | None = None
    adapter: str | None = None
    baseline_seed: int = 0
    notes: tuple[str, ...] = ()
    load_float32: "Callable[[], LoadedModel] | None" = None
    auto_dtype: bool = False
    linear_dtype: torch.dtype = torch.float32

    @property
    def device(self) -> torch.device:
        return devices.main_device(self.model)

    def settings(self, batch_tokens: int | None = None, chat: bool = False) -> dict[str, Any]:
        """Everything that scores, or the answers of a chat, depend on: hashes, device, number type, …"""
        return {
            **identity.fingerprint(self.model, self.tokenizer),
            "device": self.device.type,
            "dtype": MIXED if self.linear_dtype != torch.float32 else str(self.model.dtype).split(".")[1],
            "batch_tokens": self._budget(batch_tokens),
            "attention": getattr(self.model.config, "_attn_implementation", None),
            **({"spread": True} if devices.spans_devices(self.model) else {}),  # the last digits differ
            **self._variant(),
            **({"chat_template": self.tokenizer.chat_template} if chat else {}),
            **({"generation": identity.generation_settings(self.model)} if chat else {}),
        }

    def facts(self, chat: bool = False) -> dict[str, Any]:
        return {
            "from_hub": self.from_hub,
            "requested_revision": self.requested_revision,
            "device": self.device.type,
            "parameters": self.model.num_parameters(),
            "toy": bool(getattr(self.model.config, "gest_toy", False)),
            **self._variant(),
        }

    def _variant(self) -> dict[str, str]:
        """The adapter and the quantisation, if any."""
        variant = {"adapter": self.adapter, "quantization": self.quantization}
        return {name: value for name, value in variant.items() if value}

    def reader(self, probe: Probe, rules: frozenset[str]) -> ProbeTokenizer:
        return make_probe_tokenizer(self.tokenizer, self.model, self.kind, rules)

    def log_probs(
        self, queries: Sequence[Query], batch_tokens: int | None, name: str, cache: ResponseCache | None
    ) -> LogProbs:
        """The values of all queries; those in the cache are not computed again."""
        with _without_dropout(self.model):
            budget = self._budget(batch_tokens)
            return compute_log_probs(queries, self.scorer(), budget, name, cache, self.baseline_seed)

    def generate(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[list[tuple[Prompt, Answer]], None, None]:
        """Completions of the prompts by the model's own chat template, in batches, the longest first."""
        ids: dict[Prompt, list[int]] = {}
        options = template.thinking_options(self.tokenizer, self.name, sampling)
        for prompt in prompts:
            messages = [{"role": "user", "content": prompt.text}]
            ids[prompt] = template.render(self.tokenizer, self.name, messages, **options)
        longest = max(map(len, ids.values()), default=0)
        positions = getattr(self.model.config, "max_position_embeddings", None)
        if positions and longest + sampling.max_tokens > positions:
            lengths = f"A prompt of {longest} tokens and an answer of {sampling.max_tokens}"
            raise ModelError(f"{lengths} exceed the model's {positions} positions: lower --max-tokens.")
        budget = _CHAT_TOKENS.get(self.device.type, _CHAT_TOKENS["cpu"])
        waiting = sorted(ids, key=lambda prompt: -len(ids[prompt]))
        while waiting:
            size = max(1, budget // (len(ids[waiting[0]]) + sampling.max_tokens))
            batch, waiting = waiting[:size], waiting[size:]
            rows = [ids[prompt] for prompt in batch]
            with _without_dropout(self.model):
                answers = _generate_batch(self.model, self.tokenizer, batch, rows, sampling)
            yield list(zip(batch, answers, strict=True))

    def scorer(self) -> Scorer:
        pad_id = self.tokenizer.pad_token_id or 0
        if pad_id >= getattr(self.model.config.get_text_config(), "vocab_size", pad_id + 1):
            pad_id = 0  # a token that was added later may have no embedding
        if self.kind == NSP:
            return NextSentenceScorer(self.model, pad_id, self.linear_dtype)
        return LanguageModelScorer(self.model, self.kind, pad_id, self.linear_dtype)

    def in_mixed_precision(self) -> "LoadedModel":
        """The model with linear layers in bfloat16, if `--dtype auto` may use them and they are faster."""
        layers = packable_layers(self.model) if self.auto_dtype else []
        if not distributed.on_main(lambda: bool(layers) and is_faster(torch.bfloat16)):
            return self
        return replace(self, linear_dtype=torch.bfloat16)

    def _budget(self, batch_tokens: int | None) -> int:
        return batch_tokens or devices.BATCH_TOKENS.get(self.device.type, devices.BATCH_TOKENS["cpu"])


def as_classifier(model: Any) -> Any:
    """A text-to-text next-sentence model as a classifier: its logits are those of the two label tokens.

    The decoder writes a label as its first token; the loss is over the whole vocabulary.
    """

    kind = type(model)

    def forward(self: Any, input_ids: Any = None, attention_mask: Any = None, labels: Any = None) -> Any:
        start = input_ids.new_full((len(input_ids), 1), self.config.decoder_start_token_id)
        inputs = {"attention_mask": attention_mask, "decoder_input_ids": start, "use_cache": False}
        logits = kind.forward(self, input_ids, **inputs).logits[:, 0]
        tokens = torch.tensor(getattr(self.config, LABEL_IDS), device=logits.device)
        loss = None if labels is None else torch.nn.functional.cross_entropy(logits, tokens[labels])
        return transformers.modeling_outputs.SequenceClassifierOutput(loss, logits[:, tokens])

    model.__class__ = type(kind.__name__, (kind,), {"forward": forward, "__module__": kind.__module__})
    return model


def load_model(model: Any, settings: Settings | None = None, next_sentence: bool = False) -> LoadedModel:
    """Load a Hub id, a local path, a `.gguf` file or `smollm2`, or wrap a pair (model, tokenizer).

    A pair is never changed: `auto` means its own device and dtype, any other value applies to a copy.
    `next_sentence` loads the next-sentence head of a masked model's checkpoint.
    """
    settings = settings or Settings()
    if not isinstance(model, tuple):
        loaded = _load_with_adapter(_checked_name(model), settings, next_sentence)
    elif (settings.device_map, settings.quantization, settings.adapter) != (None, None, None):
        raise SettingError("device_map, quantization and adapter apply to models by name, not to objects.")
    else:
        loaded = _wrap_objects(model, settings)
    if loaded.kind == NSP and (labels := loaded.model.config.num_labels) != 2:
        raise ModelError(f"{loaded.name!r} has {labels} labels; a next-sentence model has two.")
    if settings.device_map is not None or settings.quantization is not None:
        return loaded  # it would hardly fit into memory in float32
    in_float32 = replace(settings, dtype="float32")
    return replace(loaded, load_float32=partial(load_model, model, in_float32, next_sentence))


@contextmanager
def keep_base() -> Iterator[None]:
    """Keep the base of an adapter loaded, for the next adapter."""
    global _kept
    _kept = {}
    try:
        yield
    finally:
        _kept = None


def _base_of(name: str, settings: Settings) -> tuple[str, Settings, pretrained.Adapter | None]:
    """The name of the model to load, its settings, and the adapter to add (`settings.adapter`, or `name`)."""
    if settings.adapter is not None:
        return name, settings, pretrained.open_adapter(pretrained.normalized_name(settings.adapter))
    if pretrained.gguf_path(name) or not pretrained.is_adapter(name, settings.revision):
        return name, settings, None
    adapter = pretrained.open_adapter(name, settings.revision)
    if not (base := adapter.config.get("base_model_name_or_path")):
        raise ModelError(f"The adapter {name!r} does not name its base: use gest score BASE --adapter {name}")
    return base, replace(settings, revision=adapter.config.get("revision")), adapter


def _load_with_adapter(name: str, settings: Settings, next_sentence: bool) -> LoadedModel:
    """The model of a name, with its adapter if there is one."""
    base, placed, adapter = _base_of(name, settings)
    if adapter is None:
        return _load(base, placed, next_sentence)
    key = (base, placed.revision, placed.dtype, next_sentence)
    loaded: LoadedModel
    loaded, wrapped, weights = (_kept or {}).pop(key, (None, None, ""))
    # some adapters change the base
    if wrapped is None or identity.model_hash(wrapped.base_model.unload()) != weights:
        loaded = _load(base, placed, next_sentence)
        weights = "" if _kept is None else identity.model_hash(loaded.model)
    wrapped = pretrained.add_adapter(loaded.model, adapter)
    if _kept is not None and not _kept:
        _kept[key] = loaded, wrapped, weights
    tokenizer = loaded.tokenizer
    if (adapter.folder / "tokenizer.json").exists():
        with convert_errors(partial(_unloadable, adapter.name)):
            tokenizer = from_pretrained(transformers.AutoTokenizer, adapter.folder)
            _check_tokenizer(tokenizer, loaded.model.config, adapter.name)
    alone = adapter.name == name
    return replace(
        loaded,
        model=wrapped.get_base_model(),
        tokenizer=tokenizer,
        name=name if alone else f"{loaded.name}+{adapter.name}",
        revision=None if alone else loaded.revision,
        from_hub=False,
        requested_revision=settings.revision,
        adapter=adapter.identity,
    )


def _load(name: str, settings: Settings, next_sentence: bool) -> LoadedModel:
    placement = devices.resolve_placement(settings)
    source, config, kind = _read_config(name, settings)
    if settings.quantization and ("gguf_file" in source or getattr(config, "quantization_config", None)):
        raise SettingError(f"{name!r} is already quantised: leave out quantization.")
    method = str((getattr(config, "quantization_config", None) or {}).get("quant_method", ""))
    if method in ("awq", "gptq") and find_spec("gptqmodel") is None:
        where = "on a GPU" if placement[0].type == "cuda" else "(a GPU is much faster)"
        advice = f"pip install gptqmodel {where}, or score the checkpoint that it was made from"
        raise ModelError(f"{name!r} is a checkpoint in {method.upper()}: {advice}.")
    auto_class, commit = _KINDS[kind][0], None
    writes_label = hasattr(config, LABEL_IDS)
    if writes_label:
        auto_class = _KINDS[SEQ2SEQ][0]
    elif kind == NSP and not set(_NEXT_SENTENCE.values()) & set(config.architectures):
        auto_class = transformers.AutoModelForSequenceClassification
    elif kind == MASKED and next_sentence and config.model_type in _NEXT_SENTENCE:
        kind, auto_class = NSP, transformers.AutoModelForNextSentencePrediction
    with convert_errors(partial(_unloadable, name)):
        if "gguf_file" not in source:
            # weights and tokenizer of the same commit
            commit = source["revision"] = commit_hash(name, settings.revision)
        tokenizer = from_pretrained(transformers.AutoTokenizer, **source)
        tokenizer("")  # fails if its settings are invalid
        if config is not None:
            _check_tokenizer(tokenizer, config, name)
        load = partial(from_pretrained, auto_class, **source)
        loaded, info = devices.place_model(load, settings, *placement)
    notes = check_complete(loaded, info, name)
    if writes_label:
        loaded = as_classifier(loaded)
        notes = (*notes, "text-to-text: P(is next) is that of the first token that the decoder writes")
    shown, from_hub = str(source.get("gguf_file", name)), commit is not None
    given = (settings.revision, settings.quantization)
    auto_dtype = settings.dtype == "auto"
    return LoadedModel(
        loaded, tokenizer, kind, shown, commit, from_hub, *given, notes=notes, auto_dtype=auto_dtype
    )


def _wrap_objects(pair: tuple[Any, ...], settings: Settings) -> LoadedModel:
    name, kind = name_and_kind(pair)
    model, tokenizer = pair
    if hasattr(model.config, LABEL_IDS):
        raise ModelError(f"{name} is a text-to-text next-sentence model: give its folder, not the objects.")
    _check_tokenizer(tokenizer, model.config, name)
    current = devices.main_device(model)
    target = current if settings.device == "auto" else devices.pick_device(settings.device)
    dtype = model.dtype if settings.dtype == "auto" else devices.pick_dtype(settings.dtype, target)
    must_move = target.type != current.type or target.index not in (None, current.index)
    if must_move or dtype != model.dtype:
        if devices.is_immovable(model):
            raise SettingError(f"{name} is quantised or spread over devices. Omit device and dtype.")
        model = copy.deepcopy(model).to(device=target, dtype=dtype)
    return LoadedModel(model, tokenizer, kind, name, getattr(model.config, "_commit_hash", None))


def random_baseline(loaded: LoadedModel, seed: int) -> LoadedModel:
    """A copy of the model with freshly initialised weights: it has learned nothing.

    Its headline varies only with the architecture, the words and the tokens of the sentences.
    """
    model = loaded.model
    if devices.is_immovable(model):
        raise ModelError(
            f"{loaded.name} is quantised or spread over devices, so it has no random copies. Omit --null."
        )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        fresh: Any = type(model)(copy.deepcopy(model.config))
    return replace(loaded, model=fresh.to(model.device, model.dtype).eval(), baseline_seed=seed)


def name_and_kind(model: Any, settings: Settings | None = None) -> tuple[str, str]:
    """A model's name and its kind according to its configuration, without loading the weights."""
    if not isinstance(model, tuple):
        name = _checked_name(model)
        return name, _read_config(*_base_of(name, settings or Settings())[:2])[2]
    classes = [cls.__name__ for cls in type(model[0]).__mro__]
    name = pretrained.normalized_name(getattr(model[0].config, "_name_or_path", "") or classes[0])
    return name, _kind_of(name, classes)


def _checked_name(model: Any) -> str:
    if not isinstance(model, (str, Path)):
        kind = type(model).__name__
        raise ModelError(f"A {kind} is not a model. Give a Hub id, a path or a pair (model, tokenizer).")
    return pretrained.normalized_name(str(model))


def _read_config(name: str, settings: Settings) -> tuple[dict[str, Any], Any, str]:
    """The arguments of `from_pretrained` that say where a model is, its configuration, and its kind."""
    path = pretrained.gguf_path(name)
    if settings.revision and (path is not None or Path(name).exists()):
        raise SettingError(f"{name!r} is a local model; only models on the Hub have revisions.")
    if path is not None:
        if not path.is_file():
            raise SettingError(f"There is no file {path}. Give the path of a .gguf file.")
        # reading the configuration of a GGUF file takes seconds
        return {"name": path.parent, "gguf_file": path.name}, None, CAUSAL
    if name.startswith((".", "/", "~")) and not Path(name).exists():
        raise ModelError(f"There is no folder {name}. Give a Hub id, or a folder or .gguf file of a model.")
    source = {"name": name} | {key: getattr(settings, key) for key in ("revision", "trust_remote_code")}
    with convert_errors(partial(_unloadable, name)):
        config = load_config(**source)
        return source, config, _kind_of(name, config.architectures or [], config)


def _unloadable(name: str, error: BaseException) -> ModelError:
    folder = "" if Path(name).exists() else f"There is no folder {name}. "
    return ModelError(
        f"{folder}The model {name!r} cannot be loaded: {describe_error(error)}.\n"
        f"Give a Hub id, a .gguf file, or a folder with config.json, weights and tokenizer.json; "
        f"if a file is incomplete, download it again."
    )


def _check_tokenizer(tokenizer: Any, config: Any, name: str) -> None:
    """Require character offsets, a vocabulary, and an embedding for every token of it."""
    if not getattr(tokenizer, "is_fast", False):
        problem = f"The tokenizer of {name!r} is not a fast one, so it has no character offsets"
        raise ModelError(f"{problem}: save it with a tokenizer.json (transformers converts most of them).")
    vocabulary = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False)
    # for a folder without a tokenizer, transformers returns one with special tokens only
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    if not any(letter.isalnum() for piece in vocabulary if piece not in added for letter in piece):
        found = f"only {len(tokenizer)} special tokens were found"
        raise ModelError(
            f"{name!r} has no tokenizer: {found}. Put the model's tokenizer.json into its folder."
        )
    size = getattr(config.get_text_config(), "vocab_size", None)
    highest = max(vocabulary.values())
    if size is not None and highest >= size:
        raise ModelError(
            f"{name!r} has {size} embeddings; the tokenizer's ids reach {highest}. Use the model's tokenizer."
        )


def _kind_of(name: str, architectures: Sequence[str], config: Any = None) -> str:
    """The kind by the names of classes, or by the model type and the remote code of a configuration."""
    if hasattr(config, LABEL_IDS):
        return NSP
    for kind, (_, classes) in _KINDS.items():
        if not set(classes.values()).isdisjoint(architectures):
            return kind
    if any(name.endswith("ForSequenceClassification") for name in architectures):
        return NSP
    for kind in (MASKED, CAUSAL):  # without a head, or with heads for pre-training
        if config is not None and config.model_type in _KINDS[kind][1]:
            return kind
    for kind, (auto_class, _) in _KINDS.items():
        if auto_class.__name__ in (getattr(config, "auto_map", None) or {}):
            return kind
    shown = architectures[0] if architectures else config.model_type
    problem = f"{name!r} ({shown}) is not a masked, causal, encoder-decoder or next-sentence model"
    raise ModelError(f"{problem}. Load a model object with AutoModelForMaskedLM or a similar class.")


@contextmanager
def _without_dropout(model: Any) -> Iterator[None]:
    """Evaluation mode; modules that were in training mode return to it."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


@torch.inference_mode()
def _generate_batch(
    model: Any, tokenizer: Any, prompts: Sequence[Prompt], ids: Sequence[list[int]], sampling: Sampling
) -> list[Answer]:
    padding = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    longest = max(map(len, ids))
    rows = [[padding] * (longest - len(row)) + row for row in ids]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in ids]
    output = model.generate(
        torch.tensor(rows, device=model.device),
        attention_mask=torch.tensor(mask, device=model.device),
        max_new_tokens=sampling.max_tokens,
        pad_token_id=padding,
        return_dict_in_generate=True,
        output_logits=bool(sampling.top),
        logits_processor=[_sampler(prompts, sampling, model.device)] if sampling.temperature else [],
        do_sample=False,
        num_beams=1,
        temperature=None,
        top_p=None,
        top_k=None,
    )
    tops: list[tuple[tuple[str, float], ...]] = [()] * len(ids)
    if sampling.top:
        values, tokens = output.logits[0].float().log_softmax(-1).topk(sampling.top)
        tops = [
            tuple(zip(map(tokenizer.decode, row), row_values, strict=True))
            for row, row_values in zip(tokens.unsqueeze(-1).tolist(), values.tolist(), strict=True)
        ]
    answers = []
    for row, sequence, top in zip(ids, output.sequences.tolist(), tops, strict=True):
        generated = sequence[longest:]
        text = template.decode_answer(tokenizer, row, generated)
        length = sum(token != padding for token in generated)
        answers.append(Answer(text, len(row), length, "" if text.strip() else EMPTY, top))
    return answers


def _sampler(
    prompts: Sequence[Prompt], sampling: Sampling, device: torch.device
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Gumbel noise, -ln E with E ~ Exp(1), which turns the likeliest token into a sample.

    The noise of each prompt depends only on its text and seed, not on the rest of the batch, so that a
    resumed run gives the same answers.
    """
    generators = []
    for prompt in prompts:
        digest = hashlib.sha256(f"{sampling.seed + prompt.repeat} {prompt.text}".encode()).digest()
        generators.append(torch.Generator(device).manual_seed(int.from_bytes(digest[:7], "big")))

    def add_noise(_: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        empty = torch.empty(scores.shape[1], device=device)
        noise = torch.stack([empty.exponential_(generator=generator).clone() for generator in generators])
        return scores.float() / sampling.temperature - noise.clamp_min(torch.finfo(noise.dtype).tiny).log()

    return add_noise
