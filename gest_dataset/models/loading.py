"""From what a user calls a model to a model, its tokeniser and its kind."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
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

from gest_dataset.errors import ModelError, SettingError, convert_errors, describe_error
from gest_dataset.models import identity, names
from gest_dataset.models.answering import Task, answered, scorer_of
from gest_dataset.models.damage import damaged_file, tensors_in
from gest_dataset.models.device import BATCH_TOKENS, pick_device, pick_dtype
from gest_dataset.models.placement import DeviceMap, Placement, is_fixed, is_spread, main_device, place
from gest_dataset.models.pretrained import check_complete, commit_of, read, read_config, shape_of, size_of
from gest_dataset.models.scorers import LanguageModel, NextSentence
from gest_dataset.models.subject import Answered
from gest_dataset.models.team import ALONE, Team
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.queries import Query
from gest_dataset.probes.tokenization import ProbeTokenizer, make_probe_tokenizer

MASKED, CAUSAL, SEQ2SEQ, NSP = "masked", "causal", "seq2seq", "nsp"

# Kind of model: the class that loads it, and the names of the classes that are of this kind.
# An architecture that stands under several kinds (T5 …) is of the first of them.
_KINDS: dict[str, tuple[Any, set[str]]] = {
    SEQ2SEQ: (
        AutoModelForSeq2SeqLM,
        set(auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.values()),
    ),
    MASKED: (AutoModelForMaskedLM, set(auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values())),
    CAUSAL: (AutoModelForCausalLM, set(auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())),
    NSP: (
        AutoModelForNextSentencePrediction,
        set(auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES.values())
        | set(auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.values()),
    ),
}
_NEXT_SENTENCE_TYPES = auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES
_NEXT_SENTENCE_CLASSES = set(_NEXT_SENTENCE_TYPES.values())
_WITHOUT_HEAD = {
    "masked": auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    "causal": auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
}


# A model that is so many times as large as its GGUF file tells is not built; some have a few weights more
_SLACK = 2


@dataclass(frozen=True)
class Compute:
    """An order to the other processes of a team: take part in a task, with the same model."""

    task: Task
    kind: str
    twin: int
    owned: bool
    threads: int


@dataclass(frozen=True)
class Loaded:
    """A model that is ready to be asked; `owned` says whether a run may change it.

    `from_hub` says that it was loaded here, under this name, from the Hub (or the Hub's cache), and
    `asked_revision` which revision was asked for, where one was. The other processes of its `team` have
    loaded the same; of a twin (null.py) they make the one of its number. `exact` loads it again, in float32.
    """

    model: Any
    tokenizer: Any
    kind: str
    name: str
    revision: str | None
    owned: bool = True
    from_hub: bool = False
    asked_revision: str | None = None
    team: Team = ALONE
    twin: int = 0
    quantization: str | None = None
    exact: Callable[[], Loaded] | None = None

    @property
    def device(self) -> torch.device:
        return main_device(self.model)

    @property
    def place(self) -> str:
        return self.device.type

    def fingerprint(self) -> dict[str, str]:
        """Hashes of the settings, the weights and the tokeniser: another model has others."""
        return identity.fingerprint(self.model, self.tokenizer)

    def settings(self, batch_tokens: int | None) -> dict[str, Any]:
        return {
            **self.fingerprint(),
            "device": self.place,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "batch_tokens": self._budget(batch_tokens),
            # its head multiplies in another order: other last digits
            **({"spread": True} if is_spread(self.model) else {}),
            **({"quantization": self.quantization} if self.quantization else {}),
        }

    def facts(self) -> dict[str, Any]:
        toy = bool(getattr(self.model.config, "gest_toy", False))
        told = {"parameters": self.model.num_parameters(), "toy": toy}
        return told | ({"quantization": self.quantization} if self.quantization else {})

    def reader(self, probe: Probe, rules: frozenset[str]) -> ProbeTokenizer:
        return make_probe_tokenizer(self.tokenizer, self.model, self.kind, rules)

    def answered(
        self, queries: Sequence[Query], batch_tokens: int | None, description: str, folder: Path | None
    ) -> Answered:
        def announce(task: Task) -> None:
            self.team.spread(lambda: Compute(task, self.kind, self.twin, self.owned, torch.get_num_threads()))

        budget = self._budget(batch_tokens)
        return answered(self.model, self.scorer(), queries, budget, description, folder, self.team, announce)

    def scorer(self) -> LanguageModel | NextSentence:
        return scorer_of(self.model, self.tokenizer, self.kind, self.owned)

    def _budget(self, batch_tokens: int | None) -> int:
        """Padded tokens in a batch."""
        return batch_tokens or BATCH_TOKENS.get(self.place, BATCH_TOKENS["cpu"])


def load_model(
    model: Any,
    device: str,
    dtype: str,
    revision: str | None = None,
    trust_remote_code: bool = False,
    next_sentence: bool = False,
    device_map: DeviceMap | None = None,
    quantization: str | None = None,
) -> Loaded:
    """Load a Hub id, a local path, a `.gguf` file or `smollm2`, or take a pair (model, tokenizer).

    A pair is never changed: `auto` means its own device and dtype, anything else is done to a copy.
    `next_sentence` asks a masked model's checkpoint for its next-sentence head. `device_map` and
    `quantization` are for models that fit no single device (docs/devices.md).
    """
    given = (revision, trust_remote_code, next_sentence)
    loaded = _load(model, device, dtype, *given, device_map, quantization)
    if device_map is not None or quantization is not None:
        return loaded  # there is hardly room for it in float32
    return replace(loaded, exact=partial(_load, model, device, "float32", *given))


def _load(
    model: Any,
    device: str,
    dtype: str,
    revision: str | None,
    trust_remote_code: bool,
    next_sentence: bool,
    device_map: DeviceMap | None = None,
    quantization: str | None = None,
) -> Loaded:
    if isinstance(model, tuple):
        if device_map is not None or quantization is not None:
            raise SettingError("A loaded model is spread or quantised already, or not: load it so yourself.")
        return _loaded_objects(model, device, dtype)
    name = _name_of(model)
    placement = place(device, dtype, device_map, quantization)
    file = _gguf_file(name, revision)
    if file is not None:
        return _load_gguf(file, placement)
    config, kind = _settings(name, revision, trust_remote_code)
    if quantization and getattr(config, "quantization_config", None):
        raise SettingError(f"{name!r} is quantised already: score it as it is, without another quantization.")
    with convert_errors(partial(_unloadable, name)):
        commit = commit_of(name, revision)
        # weights and tokenizer of the same commit
        common: dict[str, Any] = {"revision": commit, "trust_remote_code": trust_remote_code}
        auto_class = _KINDS[kind][0]
        if kind == NSP and not _NEXT_SENTENCE_CLASSES & set(config.architectures):
            auto_class = AutoModelForSequenceClassification
        if kind == MASKED and next_sentence and config.model_type in _NEXT_SENTENCE_TYPES:
            kind, auto_class = NSP, AutoModelForNextSentencePrediction
        tokenizer = _checked(read(AutoTokenizer, name, **common), config, name)
        loaded, info = placement.loaded(partial(read, auto_class, name, **common))
    check_complete(loaded, info, name)
    _check_labels(kind, config, name)
    return Loaded(
        loaded,
        tokenizer,
        kind,
        name,
        commit,
        from_hub=commit is not None,
        asked_revision=revision,
        quantization=quantization,
    )


def load_shape(model: str, revision: str | None = None, trust_remote_code: bool = False) -> Loaded:
    """A model without its weights, and its tokeniser: enough to tell what asking it will take."""
    name = _name_of(model)
    file = _gguf_file(name, revision)
    given: dict[str, Any] = {"revision": revision} if file is None else {"gguf_file": file.name}
    where = name if file is None else file.parent
    with convert_errors(partial(_unloadable, name)):
        config = read_config(where, trust_remote_code, **given)
        kind = CAUSAL if file is not None else _kind_of_config(config, name)
        shape = shape_of(_KINDS[kind][0], config, trust_remote_code)
        tokenizer = _checked(read(AutoTokenizer, where, trust_remote_code, **given), config, name)
    return Loaded(shape, tokenizer, kind, name, None)


def name_and_kind(
    model: Any, revision: str | None = None, trust_remote_code: bool = False
) -> tuple[str, str]:
    """A model's name, and its kind as its settings say, which takes no time: weights are not read."""
    if isinstance(model, tuple):
        return _name_and_kind_of_pair(model)
    name = _name_of(model)
    if _gguf_file(name, revision) is not None:
        return name, CAUSAL
    return name, _settings(name, revision, trust_remote_code)[1]


def _name_of(model: Any) -> str:
    """A Hub id or a path as it is written once."""
    if not isinstance(model, (str, Path)):
        raise ModelError(
            f"A {type(model).__name__} is no name of a model. Give a pair (model, tokenizer), a Hub id or "
            f"a path."
        )
    return names.written_once(str(model))


def _gguf_file(name: str, revision: str | None) -> Path | None:
    """The file of a packaged model or a `.gguf` path; None for all other models."""
    if revision and (name in names.PACKAGED or Path(name).exists()):
        raise SettingError(f"{name!r} is on this disk and has no revision {revision!r}: that is for the Hub.")
    path = names.gguf_file(name)
    if path is None:
        return None
    if not path.is_file():
        raise SettingError(f"There is no file {path}. Give the path of a .gguf file.")
    return path


def _settings(name: str, revision: str | None, trust_remote_code: bool) -> tuple[Any, str]:
    with convert_errors(partial(_unloadable, name)):
        config = read_config(name, trust_remote_code, revision=revision)
    return config, _kind_of_config(config, name)


def _unloadable(name: str, error: BaseException) -> ModelError:
    """Whatever the readers of a model's files raise is about these files."""
    culprit = damaged_file(Path(name)) if Path(name).is_dir() else None
    if culprit is not None:
        return ModelError(f"The model {name!r} cannot be loaded: {culprit}")
    if isinstance(error, (OSError, ValueError, ImportError)):
        return ModelError(f"The model {name!r} cannot be loaded: {names.advice(name, error)}")
    return ModelError(  # safetensors, tokenizers and torch have errors of their own for damaged files
        f"The model {name!r} cannot be loaded: {describe_error(error)}\n"
        f"A file of it is not whole, or not of this model. Copy or download it again."
    )


def _checked(tokenizer: Any, config: Any, name: str) -> Any:
    """The tokeniser, if it has character offsets, a vocabulary, and room in the model's embedding.

    Where a folder has no tokeniser, transformers makes one up that holds special tokens alone. Tokens
    that were added beyond the embedding (Gemma 3 has one for images) do no harm until a text has them.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"The tokenizer of {name!r} is not a fast one, so it has no character offsets. "
            f"Save it with a tokenizer.json (transformers converts most: install sentencepiece)."
        )
    if not isinstance(tokenizer.model_max_length, (int, float)):
        raise ModelError(
            f"The tokenizer_config.json of {name!r} is damaged: its `model_max_length` is "
            f"{tokenizer.model_max_length!r}, which is no number."
        )
    vocabulary = tokenizer.backend_tokenizer.get_vocab(with_added_tokens=False)
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    if not any(letter.isalnum() for piece in vocabulary if piece not in added for letter in piece):
        raise ModelError(
            f"There is no tokenizer with {name!r}: what was found knows {len(tokenizer)} special tokens and "
            f"no word. Put the model's own tokenizer.json and tokenizer_config.json beside its weights."
        )
    size = getattr(config.get_text_config(), "vocab_size", None)
    if size is not None and max(vocabulary.values()) >= size:
        raise ModelError(
            f"The tokenizer of {name!r} numbers its tokens up to {max(vocabulary.values())}, and the model "
            f"embeds {size}: they do not belong together. Use the tokenizer that the model was trained with."
        )
    return tokenizer


def _check_labels(kind: str, config: Any, name: str) -> None:
    """Between sentences there are two answers: it follows, or it does not."""
    if kind == NSP and config.num_labels != 2:
        raise ModelError(
            f"{name!r} has {config.num_labels} labels; a next-sentence model has two. Use another model."
        )


def _name_and_kind_of_pair(pair: tuple[Any, ...]) -> tuple[str, str]:
    if len(pair) != 2 or not hasattr(pair[0], "config") or not callable(pair[1]):
        raise ModelError("Loaded objects are given as a pair (model, tokenizer).")
    model = pair[0]
    ancestors = {cls.__name__ for cls in type(model).__mro__}
    kind = next((kind for kind, (_, classes) in _KINDS.items() if ancestors & classes), None)
    if kind is None:
        raise ModelError(
            f"{type(model).__name__} is no masked, causal, encoder-decoder or next-sentence model "
            f"that transformers knows. Load it with AutoModelForMaskedLM or a sister of it."
        )
    return names.written_once(getattr(model.config, "_name_or_path", "") or type(model).__name__), kind


def _loaded_objects(pair: tuple[Any, ...], device: str, dtype: str) -> Loaded:
    name, kind = _name_and_kind_of_pair(pair)
    model, tokenizer = pair
    _check_labels(kind, model.config, name)
    here = main_device(model)
    where = here if device == "auto" else pick_device(device)
    number_type = model.dtype if dtype == "auto" else pick_dtype(dtype, where)
    elsewhere = where.type != here.type or where.index not in (None, here.index)
    if elsewhere or number_type != model.dtype:
        if is_fixed(model):
            raise SettingError(
                f"{name} is spread over devices or quantised, so that it is neither moved nor turned into "
                f"{number_type}: leave device and dtype out."
            )
        model = copy.deepcopy(model).to(device=where, dtype=number_type)
    commit = getattr(model.config, "_commit_hash", None)
    return Loaded(model, _checked(tokenizer, model.config, name), kind, name, commit, owned=False)


def _kind_of_config(config: Any, name: str) -> str:
    architectures = config.architectures or []
    if not isinstance(architectures, list) or not all(isinstance(item, str) for item in architectures):
        raise ModelError(f"The config.json of {name!r} is damaged: its `architectures` are no list of names.")
    for architecture in architectures:
        for kind, (_, classes) in _KINDS.items():
            if architecture in classes:
                return kind
    # a checkpoint of the bare model, or of pre-training: what its type can be
    for kind, mapping in _WITHOUT_HEAD.items():
        if config.model_type in mapping:
            return kind
    if getattr(config, "auto_map", None):
        for kind, (auto_class, _) in _KINDS.items():
            if auto_class.__name__ in config.auto_map:
                return kind
    raise ModelError(
        f"{name!r} ({', '.join(architectures) or config.model_type}) is no masked, causal, "
        f"encoder-decoder or next-sentence model that transformers knows."
    )


def _load_gguf(path: Path, placement: Placement) -> Loaded:
    if placement.quantization:
        raise SettingError(
            f"{path.name} is quantised already: score it as it is, without another quantization."
        )
    where: dict[str, Any] = {"name": path.parent, "gguf_file": path.name}
    with convert_errors(partial(_unloadable_gguf, path)):
        tensors, weights = tensors_in(path)
        config = read_config(**where)
        too_many = getattr(config, "num_hidden_layers", 0) > tensors
        if too_many or size_of(AutoModelForCausalLM, config) > _SLACK * weights:
            raise ValueError("its header tells of a larger model than the file holds")
        model, info = placement.loaded(partial(read, AutoModelForCausalLM, **where))
        check_complete(model, info, path.name)
        tokenizer = _checked(read(AutoTokenizer, **where), model.config, path.name)
    return Loaded(model, tokenizer, CAUSAL, path.name, None)


def _unloadable_gguf(path: Path, error: BaseException) -> ModelError:
    if isinstance(error, ImportError):
        return ModelError(f"Reading {path.name} needs one more package: pip install gguf ({error}).")
    return ModelError(
        f"{path} cannot be loaded as a GGUF file: {describe_error(error)}\n"
        f"It is not whole, or of an architecture that transformers does not read from GGUF."
    )
