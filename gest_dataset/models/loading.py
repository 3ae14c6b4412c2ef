"""Loading of models: from a Hub id, a folder, a GGUF file or a pair of loaded objects."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForNextSentencePrediction,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)
from transformers.models.auto import modeling_auto as auto

from gest_dataset.cache import ResponseCache
from gest_dataset.errors import ModelError, SettingError, convert_errors, describe_error
from gest_dataset.models import identity, names
from gest_dataset.models.base import LogProbs, Sampling
from gest_dataset.models.chat.generation import generate
from gest_dataset.models.device import (
    BATCH_TOKENS,
    DeviceMap,
    Placement,
    is_fixed,
    is_spread,
    main_device,
    pick_device,
    pick_dtype,
)
from gest_dataset.models.inference import compute_log_probs
from gest_dataset.models.pretrained import (
    check_complete,
    commit_hash,
    empty_model,
    from_pretrained,
    load_config,
)
from gest_dataset.models.scorers import LanguageModelScorer, NextSentenceScorer, Scorer
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.prompts import Answer, Prompt
from gest_dataset.probes.queries import Query
from gest_dataset.probes.tokenization import ProbeTokenizer, make_probe_tokenizer

MASKED, CAUSAL, SEQ2SEQ, NSP = "masked", "causal", "seq2seq", "nsp"

# Kind -> the class that loads it, and the names of its architectures; the first kind that matches counts
_KINDS: dict[str, tuple[Any, set[str]]] = {
    SEQ2SEQ: (AutoModelForSeq2SeqLM, set(auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.values())),
    MASKED: (AutoModelForMaskedLM, set(auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values())),
    CAUSAL: (AutoModelForCausalLM, set(auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())),
    NSP: (
        AutoModelForNextSentencePrediction,
        set(auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES.values())
        | set(auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.values()),
    ),
}
_NEXT_SENTENCE_TYPES = auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES
# Kinds of checkpoints without a head or with heads for pre-training, by model type
_KINDS_BY_TYPE = {
    MASKED: auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    CAUSAL: auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
}


@dataclass(frozen=True)
class LoadedModel:
    """A transformers model with its tokeniser (a `base.Model`).

    `owned` is False for a model of the caller, which is never changed. `baseline_seed` is the seed of a
    random baseline, else 0. `load_float32` loads the same model in float32.
    """

    model: Any
    tokenizer: Any
    kind: str
    name: str
    revision: str | None
    owned: bool = True
    from_hub: bool = False
    requested_revision: str | None = None
    baseline_seed: int = 0
    quantization: str | None = None
    load_float32: Callable[[], LoadedModel] | None = None

    @property
    def device(self) -> torch.device:
        return main_device(self.model)

    @property
    def device_name(self) -> str:
        return self.device.type

    def settings(self, batch_tokens: int | None) -> dict[str, Any]:
        settings: dict[str, Any] = {
            **identity.fingerprint(self.model, self.tokenizer),
            "device": self.device_name,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "batch_tokens": self._budget(batch_tokens),
        }
        if is_spread(self.model):
            settings["spread"] = True  # the last digits differ
        if self.quantization:
            settings["quantization"] = self.quantization
        return settings

    def facts(self) -> dict[str, Any]:
        is_toy = bool(getattr(self.model.config, "gest_toy", False))
        facts = {"parameters": self.model.num_parameters(), "toy": is_toy}
        return facts | ({"quantization": self.quantization} if self.quantization else {})

    def reader(self, probe: Probe, rules: frozenset[str]) -> ProbeTokenizer:
        return make_probe_tokenizer(self.tokenizer, self.model, self.kind, rules)

    def log_probs(
        self,
        queries: Sequence[Query],
        batch_tokens: int | None = None,
        description: str = "scoring",
        cache: ResponseCache | None = None,
    ) -> LogProbs:
        budget = self._budget(batch_tokens)
        with _evaluation_mode(self.model):
            return compute_log_probs(queries, self.scorer(), budget, description, cache, self.baseline_seed)

    def generate(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[list[tuple[Prompt, Answer]], None, None]:
        return generate(self.model, self.tokenizer, self.name, prompts, sampling)

    def scorer(self) -> Scorer:
        """The scorer of this kind of model."""
        pad_id = self.tokenizer.pad_token_id
        size = getattr(self.model.config.get_text_config(), "vocab_size", None)
        if pad_id is not None and size is not None and pad_id >= size:
            pad_id = None  # a token that was added later may have no embedding
        if self.kind == NSP:
            return NextSentenceScorer(self.model, pad_id, self.owned)
        return LanguageModelScorer(self.model, self.kind, pad_id, self.owned)

    def _budget(self, batch_tokens: int | None) -> int:
        return batch_tokens or BATCH_TOKENS.get(self.device_name, BATCH_TOKENS["cpu"])


@contextmanager
def _evaluation_mode(model: Any) -> Iterator[None]:
    """Switch off dropout, and restore the mode of every module afterwards."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def load_model(
    model: Any,
    device: str,
    dtype: str,
    revision: str | None = None,
    trust_remote_code: bool = False,
    next_sentence: bool = False,
    device_map: DeviceMap | None = None,
    quantization: str | None = None,
) -> LoadedModel:
    """Load a Hub id, a local path, a `.gguf` file or `smollm2`, or wrap a pair (model, tokenizer).

    A pair is never changed: `auto` means its own device and dtype, any other value applies to a copy.
    `next_sentence` loads the next-sentence head of a masked model's checkpoint. `device_map` and
    `quantization` are for models that do not fit one device (docs/devices.md).
    """
    options = (revision, trust_remote_code, next_sentence)
    loaded = _load(model, device, dtype, *options, device_map, quantization)
    if device_map is not None or quantization is not None:
        return loaded  # it would hardly fit into memory in float32
    return replace(loaded, load_float32=partial(_load, model, device, "float32", *options))


def _load(
    model: Any,
    device: str,
    dtype: str,
    revision: str | None,
    trust_remote_code: bool,
    next_sentence: bool,
    device_map: DeviceMap | None = None,
    quantization: str | None = None,
) -> LoadedModel:
    if isinstance(model, tuple):
        if device_map is not None or quantization is not None:
            raise SettingError("device_map and quantization apply to models loaded by name, not to objects.")
        return _wrap_objects(model, device, dtype)
    name = _checked_name(model)
    placement = Placement.of(device, dtype, device_map, quantization)
    path = _gguf_file(name, revision)
    if path is not None:
        return _load_gguf(path, placement)
    with convert_errors(partial(_unloadable, name)):
        config = load_config(name, trust_remote_code, revision=revision)
        kind = _kind_of_config(config, name)
        if quantization and getattr(config, "quantization_config", None):
            raise SettingError(f"{name!r} is already quantised: leave out quantization.")
        commit = commit_hash(name, revision)
        auto_class = _KINDS[kind][0]
        if kind == NSP and not set(_NEXT_SENTENCE_TYPES.values()) & set(config.architectures):
            auto_class = AutoModelForSequenceClassification
        if kind == MASKED and next_sentence and config.model_type in _NEXT_SENTENCE_TYPES:
            kind, auto_class = NSP, AutoModelForNextSentencePrediction
        # weights and tokeniser of the same commit
        options: dict[str, Any] = {"revision": commit, "trust_remote_code": trust_remote_code}
        tokenizer = from_pretrained(AutoTokenizer, name, **options)
        _check_tokenizer(tokenizer, config, name)
        loaded, info = placement.load(partial(from_pretrained, auto_class, name, **options))
    check_complete(loaded, info, name)
    _check_labels(kind, config, name)
    return LoadedModel(
        loaded,
        tokenizer,
        kind,
        name,
        commit,
        from_hub=commit is not None,
        requested_revision=revision,
        quantization=quantization,
    )


def _load_gguf(path: Path, placement: Placement) -> LoadedModel:
    if placement.quantization:
        raise SettingError(f"{path.name} is already quantised: leave out quantization.")

    def unloadable(error: BaseException) -> ModelError:
        if isinstance(error, ImportError):
            return ModelError(f"Reading {path.name} requires: pip install gguf ({error}).")
        return ModelError(
            f"{path} cannot be loaded as a GGUF file: {describe_error(error)}\n"
            f"It is incomplete, or transformers does not support its architecture in GGUF."
        )

    source: dict[str, Any] = {"name": path.parent, "gguf_file": path.name}
    with convert_errors(unloadable):
        model, info = placement.load(partial(from_pretrained, AutoModelForCausalLM, **source))
        check_complete(model, info, path.name)
        tokenizer = from_pretrained(AutoTokenizer, **source)
        _check_tokenizer(tokenizer, model.config, path.name)
    return LoadedModel(model, tokenizer, CAUSAL, path.name, None)


def _wrap_objects(pair: tuple[Any, ...], device: str, dtype: str) -> LoadedModel:
    name, kind = _name_and_kind_of_pair(pair)
    model, tokenizer = pair
    _check_labels(kind, model.config, name)
    _check_tokenizer(tokenizer, model.config, name)
    current = main_device(model)
    target = current if device == "auto" else pick_device(device)
    target_dtype = model.dtype if dtype == "auto" else pick_dtype(dtype, target)
    must_move = target.type != current.type or target.index not in (None, current.index)
    if must_move or target_dtype != model.dtype:
        if is_fixed(model):
            raise SettingError(
                f"{name} is quantised or spread over devices, so it cannot be moved or converted: leave out "
                f"device and dtype."
            )
        model = copy.deepcopy(model).to(device=target, dtype=target_dtype)
    commit = getattr(model.config, "_commit_hash", None)
    return LoadedModel(model, tokenizer, kind, name, commit, owned=False)


def load_empty_model(model: str, revision: str | None = None, trust_remote_code: bool = False) -> LoadedModel:
    """A model without its weights, and its tokeniser: enough to estimate the work of a run."""
    name = _checked_name(model)
    path = _gguf_file(name, revision)
    source = name if path is None else path.parent
    options: dict[str, Any] = {"revision": revision} if path is None else {"gguf_file": path.name}
    with convert_errors(partial(_unloadable, name)):
        config = load_config(source, trust_remote_code, **options)
        kind = CAUSAL if path is not None else _kind_of_config(config, name)
        empty = empty_model(_KINDS[kind][0], config, trust_remote_code)
        tokenizer = from_pretrained(AutoTokenizer, source, trust_remote_code, **options)
        _check_tokenizer(tokenizer, config, name)
    return LoadedModel(empty, tokenizer, kind, name, None)


def name_and_kind(
    model: Any, revision: str | None = None, trust_remote_code: bool = False
) -> tuple[str, str]:
    """A model's name and its kind according to its configuration, without loading the weights."""
    if isinstance(model, tuple):
        return _name_and_kind_of_pair(model)
    name = _checked_name(model)
    if _gguf_file(name, revision) is not None:
        return name, CAUSAL
    with convert_errors(partial(_unloadable, name)):
        return name, _kind_of_config(load_config(name, trust_remote_code, revision=revision), name)


def _checked_name(model: Any) -> str:
    if not isinstance(model, (str, Path)):
        raise ModelError(
            f"A {type(model).__name__} is not a model. Give a Hub id, a path or a pair (model, tokenizer)."
        )
    return names.normalized_name(str(model))


def _gguf_file(name: str, revision: str | None) -> Path | None:
    if revision and (name in names.PACKAGED or Path(name).exists()):
        raise SettingError(f"{name!r} is a local model, and revisions exist on the Hub only.")
    path = names.gguf_path(name)
    if path is not None and not path.is_file():
        raise SettingError(f"There is no file {path}. Give the path of a .gguf file.")
    return path


def _unloadable(name: str, error: BaseException) -> ModelError:
    if isinstance(error, (OSError, ValueError, ImportError)):
        return ModelError(f"The model {name!r} cannot be loaded: {names.explain_missing(name, error)}")
    return ModelError(  # safetensors, tokenizers and torch raise errors of their own
        f"The model {name!r} cannot be loaded: {describe_error(error)}\n"
        f"One of its files is incomplete or belongs to another model. Download it again "
        f"(in a Git clone: git lfs pull)."
    )


def _check_tokenizer(tokenizer: Any, config: Any, name: str) -> None:
    """Require character offsets, a vocabulary, and an embedding for every token of it.

    For a folder without a tokeniser, transformers returns one with special tokens only.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"The tokenizer of {name!r} is not a fast one, so it has no character offsets. Save it with a "
            f"tokenizer.json (transformers converts most tokenizers: install sentencepiece)."
        )
    if not isinstance(tokenizer.model_max_length, (int, float)):
        raise ModelError(f"The `model_max_length` in the tokenizer_config.json of {name!r} is not a number.")
    vocabulary = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False)
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    if not any(letter.isalnum() for piece in vocabulary if piece not in added for letter in piece):
        raise ModelError(
            f"{name!r} has no tokenizer: only {len(tokenizer)} special tokens were found. Put the model's "
            f"tokenizer.json and tokenizer_config.json beside its weights."
        )
    size = getattr(config.get_text_config(), "vocab_size", None)
    if size is not None and max(vocabulary.values()) >= size:
        raise ModelError(
            f"The tokenizer of {name!r} has token ids up to {max(vocabulary.values())}, but the model has "
            f"{size} embeddings. Use the tokenizer that the model was trained with."
        )


def _check_labels(kind: str, config: Any, name: str) -> None:
    if kind == NSP and config.num_labels != 2:
        raise ModelError(f"{name!r} has {config.num_labels} labels; a next-sentence model has two.")


def _name_and_kind_of_pair(pair: tuple[Any, ...]) -> tuple[str, str]:
    if len(pair) != 2 or not hasattr(pair[0], "config") or not callable(pair[1]):
        raise ModelError("Loaded objects must be a pair (model, tokenizer).")
    model = pair[0]
    ancestors = {cls.__name__ for cls in type(model).__mro__}
    for kind, (_, classes) in _KINDS.items():
        if ancestors & classes:
            name = getattr(model.config, "_name_or_path", "") or type(model).__name__
            return names.normalized_name(name), kind
    raise ModelError(
        f"{type(model).__name__} is not a masked, causal, encoder-decoder or next-sentence model of "
        f"transformers. Load it with AutoModelForMaskedLM or a similar class."
    )


def _kind_of_config(config: Any, name: str) -> str:
    architectures = config.architectures or []
    if not isinstance(architectures, list) or not all(isinstance(item, str) for item in architectures):
        raise ModelError(f"The `architectures` in the config.json of {name!r} are not a list of names.")
    for architecture in architectures:
        for kind, (_, classes) in _KINDS.items():
            if architecture in classes:
                return kind
    for kind, model_types in _KINDS_BY_TYPE.items():
        if config.model_type in model_types:
            return kind
    for kind, (auto_class, _) in _KINDS.items():
        if auto_class.__name__ in (getattr(config, "auto_map", None) or {}):
            return kind
    raise ModelError(
        f"{name!r} ({', '.join(architectures) or config.model_type}) is not a masked, causal, "
        f"encoder-decoder or next-sentence model of transformers."
    )
