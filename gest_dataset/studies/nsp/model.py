"""From a language model to one with a head of two labels, ready to learn which sentence is next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification, set_seed
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from gest_dataset.errors import ModelError, SettingError
from gest_dataset.models.device import pick_dtype
from gest_dataset.models.loading import NSP, SEQ2SEQ, load_model, name_and_kind
from gest_dataset.models.pretrained import read
from gest_dataset.probes.tokenization import accepts_type_ids, make_probe_tokenizer
from gest_dataset.studies.nsp.pairs import NEXT, NOT_NEXT

# The names that `gest score` finds the label by; label 0 is the one that BERT's head has there
LABELS = {NEXT: "is next", NOT_NEXT: "is not next"}
LONGEST = 256  # tokens of a pair, as in the authors' code
PAD = "<|padding|>"


@dataclass(frozen=True)
class Learner:
    """A model in float32 with its tokeniser; `head` are its new parameters, `longest` the tokens it takes."""

    model: Any
    tokenizer: Any
    head: Sequence[Any]
    longest: int
    revision: str | None


def kind_of(model: str) -> str:
    """The kind of a model that can learn; a next-sentence model has learnt it."""
    if model.endswith(".gguf"):
        raise SettingError(f"{model}: GGUF files are read, not trained. Give the model's id or its folder.")
    name, kind = name_and_kind(model)
    if kind == NSP:
        raise ModelError(
            f"{name!r} is a classifier with a head already: give the language model that it was made of, or "
            f"score this one with `gest score`."
        )
    return kind


def open_learner(name: str, seed: int) -> Learner:
    """The model with a fresh head; every other weight has to be in its checkpoint.

    It is loaded as the language model that it is first, which checks its files and its tokeniser.
    """
    known = load_model(name, "cpu", "float32")
    model_type = known.model.config.model_type
    if model_type not in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES:
        raise ModelError(
            f"transformers has no classifier of the type {model_type!r}, which {name!r} is. Use another."
        )
    tokenizer, revision = known.tokenizer, known.revision
    del known
    set_seed(seed)
    model, info = read(
        AutoModelForSequenceClassification,
        name,
        revision=revision,
        dtype=torch.float32,
        id2label=LABELS,
        label2id={label: number for number, label in LABELS.items()},
        output_loading_info=True,
    )
    fresh = set(info["missing_keys"])
    _pad(model, tokenizer)
    head = [parameter for key, parameter in model.named_parameters() if key in fresh]
    limit = make_probe_tokenizer(tokenizer, model, NSP).limit
    return Learner(model, tokenizer, head, min(LONGEST, limit or LONGEST), revision)


def _pad(model: Any, tokenizer: Any) -> None:
    """A token to pad with, which is no token of a text: the classifier reads the last one that is none.

    Where there is none it gets a row of its own in the embedding, as in the authors' code; taking the end
    token for it, as is often done, would hide a real end.
    """
    if tokenizer.pad_token_id is None:
        tokenizer.add_special_tokens({"pad_token": PAD})
        if len(tokenizer) > model.get_input_embeddings().num_embeddings:
            model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    tokenizer.padding_side = "right"


def collator(learner: Learner) -> Callable[[Sequence[Mapping[str, Any]]], dict[str, Any]]:
    """From pairs to tensors, each pair tokenised as `gest score` asks it."""

    def collate(pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        encoded = learner.tokenizer(
            [pair["first"] for pair in pairs],
            [pair["second"] for pair in pairs],
            truncation="longest_first",
            max_length=learner.longest,
            padding=True,
            return_tensors="pt",
            return_token_type_ids=accepts_type_ids(learner.tokenizer, learner.model),
        )
        return {**encoded, "labels": torch.tensor([pair["label"] for pair in pairs])}

    return collate


def mixed(asked: str, place: torch.device, kind: str) -> str:
    """The number type of the passes; the weights are float32 always.

    `auto` leaves float16 out for encoder-decoder models, which it is no gain for (section 5.2) and which
    overflow in it, and where there is no loss scaling (MPS).
    """
    dtype = pick_dtype(asked, place)
    if dtype == torch.float16 and asked == "auto" and (kind == SEQ2SEQ or place.type != "cuda"):
        dtype = torch.float32
    if dtype == torch.float16 and place.type != "cuda":
        raise SettingError(f"float16 needs a CUDA device to train on, not {place.type}: use float32 or auto.")
    return str(dtype).removeprefix("torch.")
