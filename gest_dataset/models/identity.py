"""Hashes of what a model computes with: another model, or the same one read otherwise, has others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import torch
import xxhash

from gest_dataset.models.placement import weights_of

# Where a model is from and who wrote it down: no part of what it computes
_NOT_THE_MODEL = {"_name_or_path", "transformers_version", "_commit_hash", "dtype", "torch_dtype"}
# Texts that tokenisers read in different ways: case, accents, other letters, signs, spaces, numbers
_TEXTS = (
    'He said: "I\'m tired, and I was never very good at this."',
    "„Vždy som chcel byť vodcom – a ona tiež.“",
    "Я всегда хотела быть лидером…",
    " a  b\tc\nd ",
    "1,234.5 ÀÉ straße ﬁ İ 日本 😀",
    "",
)
_LIMITS = ("model_max_length", "padding_side", "truncation_side")


def fingerprint(model: Any, tokenizer: Any) -> dict[str, str]:
    """Hashes of the settings, the weights, the tokeniser, and of what the tokeniser does."""
    settings = {name: value for name, value in model.config.to_dict().items() if name not in _NOT_THE_MODEL}
    return {
        "weights": weights_hash(weights_of(model)),
        "model_settings": _sha256(settings),
        **tokenizer_fingerprint(tokenizer),
    }


def tokenizer_fingerprint(tokenizer: Any) -> dict[str, str]:
    """Hashes of a tokeniser, and of what it does."""
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    # each call of a tokeniser sets these two
    del state["truncation"], state["padding"]
    return {"tokenizer": _sha256(state), "tokenizer_behaviour": _sha256(behaviour(tokenizer))}


def weights_hash(weights: Iterable[tuple[str, torch.Tensor]]) -> str:
    """A hash (XXH3) of every byte in its place: ten times as fast as reading them from a file."""
    digest = xxhash.xxh3_128()
    for name, tensor in weights:
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return _sha256(digest.hexdigest())  # as long as the other hashes


def behaviour(tokenizer: Any) -> dict[str, Any]:
    """What a tokeniser's own settings make of some texts, its special tokens and its limits.

    They are in tokenizer_config.json, of which the state of the fast tokeniser says nothing.
    """
    pairs = pairwise(_TEXTS)
    return {
        "special": {
            str(name): [str(token), tokenizer.convert_tokens_to_ids(str(token))]
            for name, token in tokenizer.special_tokens_map.items()
            if isinstance(token, str)
        },
        "special_ids": tokenizer.all_special_ids,
        "limits": {name: getattr(tokenizer, name, None) for name in _LIMITS},
        "texts": [_encoded(tokenizer, text) for text in _TEXTS],
        "bare": [_encoded(tokenizer, text, add_special_tokens=False) for text in _TEXTS],
        "pairs": [_encoded(tokenizer, *pair) for pair in pairs],
    }


def _encoded(tokenizer: Any, *texts: str, **given: bool) -> dict[str, list[int]]:
    return dict(tokenizer(*texts, truncation=False, padding=False, verbose=False, **given))


def _sha256(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()
