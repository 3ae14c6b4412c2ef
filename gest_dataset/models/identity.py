"""Hashes that identify a model: its configuration, weights, tokenizer and the tokenizer's behaviour."""

import hashlib
import json
from itertools import pairwise
from typing import Any

import torch
import xxhash
from accelerate.utils import align_module_device

from gest_dataset.storage import json_value

# Settings that say where a model comes from, not what it computes
_IGNORED = {"_name_or_path", "transformers_version", "_commit_hash", "dtype", "torch_dtype"}
# Texts that tokenizers treat differently: case, accents, scripts, punctuation, spaces, numbers
TEXTS = (
    'He said: "I\'m tired, and I was never very good at this."',
    "„Vždy som chcel byť vodcom – a ona tiež.“",
    "Я всегда хотела быть лидером…",
    " a  b\tc\nd ",
    "1,234.5 ÀÉ straße ﬁ İ 日本 😀",
    "",
)


def fingerprint(model: Any, tokenizer: Any) -> dict[str, str]:
    settings = {name: value for name, value in model.config.to_dict().items() if name not in _IGNORED}
    weights = model_hash(model)
    return {"weights": weights, "model_settings": _sha256(settings), **tokenizer_fingerprint(tokenizer)}


def generation_settings(model: Any) -> dict[str, Any]:
    """The settings of the checkpoint that change answers, such as penalties and suppressed tokens."""
    settings = json_value(model.generation_config.to_diff_dict())
    return {name: value for name, value in settings.items() if name not in {*_IGNORED, "_from_model_config"}}


def tokenizer_fingerprint(tokenizer: Any) -> dict[str, str]:
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    del state["truncation"], state["padding"]  # every call changes them
    return {"tokenizer": _sha256(state), "tokenizer_behaviour": _sha256(tokenizer_behaviour(tokenizer))}


def model_hash(model: Any) -> str:
    """A hash of every byte of the weights (XXH3, ten times as fast as reading them from disk)."""
    digest = xxhash.xxh3_128()
    for name, tensor in sorted(model.state_dict().items()):
        if not isinstance(tensor, torch.Tensor):
            continue  # quantisers store other objects beside the weights
        if tensor.is_meta:  # offloaded weights are loaded one at a time
            module, _, attribute = name.rpartition(".")
            with align_module_device(model.get_submodule(module), "cpu"):
                tensor = getattr(model.get_submodule(module), attribute).detach()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return _sha256(digest.hexdigest())


def tokenizer_behaviour(tokenizer: Any) -> dict[str, Any]:
    """Special tokens, limits and sample encodings; they depend on tokenizer_config.json."""

    def encode(*texts: str, **options: bool) -> dict[str, list[int]]:
        return dict(tokenizer(*texts, truncation=False, padding=False, verbose=False, **options))

    tokens = tokenizer.special_tokens_map.items()
    special = {name: str(token) for name, token in tokens if isinstance(token, str)}
    limits = ("model_max_length", "padding_side", "truncation_side")
    return {
        "special": {name: [token, tokenizer.convert_tokens_to_ids(token)] for name, token in special.items()},
        "special_ids": tokenizer.all_special_ids,
        "limits": {name: getattr(tokenizer, name, None) for name in limits},
        "texts": [encode(text) for text in TEXTS],
        "bare": [encode(text, add_special_tokens=False) for text in TEXTS],
        "pairs": [encode(*pair) for pair in pairwise(TEXTS)],
    }


def _sha256(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
