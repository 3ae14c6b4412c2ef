"""Adapters, such as LoRA, in a folder or on the Hub."""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers.utils.hub import cached_file
from transformers.utils.peft_utils import ADAPTER_CONFIG_NAME as CONFIG

from gest_dataset.errors import ModelError, convert_errors, describe_error
from gest_dataset.storage import parse_json, read_bytes, update_hash

_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
TOKENIZER = "tokenizer.json"
_OPTIONAL = (TOKENIZER, "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")


@dataclass(frozen=True)
class Adapter:
    """An adapter; `config` is its adapter_config.json, `identity` its name and a hash of its files."""

    name: str
    folder: Path
    config: Mapping[str, Any]
    identity: str


def open_adapter(name: str, revision: str | None = None) -> Adapter:
    """The adapter of a name; its files are downloaded if it is on the Hub."""
    problem = f"The adapter {name!r} cannot be loaded"
    with convert_errors(lambda error: ModelError(f"{problem}: {describe_error(error)}.")):
        config, *others = (_file(name, file, revision) for file in (CONFIG, *_WEIGHTS, *_OPTIONAL))
        weights = next(filter(None, others[: len(_WEIGHTS)]), None)
        if config is None or weights is None:
            missing = CONFIG if config is None else _WEIGHTS[0]
            raise ModelError(f"{problem}: it has no {missing}. Give a folder or Hub id that has one.")
        digest = hashlib.sha256()
        for path in (config, weights):
            update_hash(digest, path)
        content = dict(parse_json(read_bytes(config)))
        return Adapter(name, config.parent, content, f"{name}#{digest.hexdigest()}")


def is_adapter(name: str, revision: str | None = None) -> bool:
    """Whether a name is that of an adapter without a model of its own."""
    with suppress(OSError, ValueError):  # loading reports it
        return not _file(name, "config.json", revision) and bool(_file(name, CONFIG, revision))
    return False


def _file(name: str, file: str, revision: str | None) -> Path | None:
    if Path(name).is_dir():
        path = Path(name, file)
        return path if path.is_file() else None
    found = cached_file(name, file, revision=revision, _raise_exceptions_for_missing_entries=False)
    return None if found is None else Path(found)
