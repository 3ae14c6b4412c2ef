"""Adapters, such as LoRA: their files, and a loaded model with one of them (peft)."""

import hashlib
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers.utils.hub import cached_file
from transformers.utils.peft_utils import (
    ADAPTER_CONFIG_NAME,
    ADAPTER_SAFE_WEIGHTS_NAME,
    ADAPTER_WEIGHTS_NAME,
)

from gest_dataset.errors import ModelError, convert_errors, describe_error, import_extra
from gest_dataset.storage import parse_json, read_bytes, update_hash

_WEIGHTS = (ADAPTER_SAFE_WEIGHTS_NAME, ADAPTER_WEIGHTS_NAME)


@dataclass(frozen=True)
class Adapter:
    """The files of an adapter; `config` is the content of adapter_config.json."""

    name: str
    folder: Path
    config: Mapping[str, Any]
    weights: Path
    has_tokenizer: bool

    @property
    def identity(self) -> str:
        """Its name and a hash of its configuration and weights."""
        digest = hashlib.sha256()
        for path in (self.folder / ADAPTER_CONFIG_NAME, self.weights):
            update_hash(digest, path)
        return f"{self.name}#{digest.hexdigest()}"


def open_adapter(name: str, revision: str | None = None) -> Adapter:
    """The adapter in a folder or on the Hub, from where its files are downloaded."""
    problem = f"The adapter {name!r} cannot be loaded"
    with convert_errors(lambda error: ModelError(f"{problem}: {describe_error(error)}.")):
        config = _file(name, ADAPTER_CONFIG_NAME, revision)
        weights = next(filter(None, (_file(name, file, revision) for file in _WEIGHTS)), None)
        has_tokenizer = _file(name, "tokenizer.json", revision) is not None
        if config is None or weights is None:
            missing = ADAPTER_CONFIG_NAME if config is None else ADAPTER_SAFE_WEIGHTS_NAME
            raise ModelError(f"{problem}: it has no {missing}. Give a folder or Hub id that has one.")
        return Adapter(name, config.parent, dict(parse_json(read_bytes(config))), weights, has_tokenizer)


def is_adapter(name: str, revision: str | None = None) -> bool:
    """Whether a name is that of an adapter without a model of its own."""
    with suppress(OSError, ValueError):  # loading reports it
        return not _file(name, "config.json", revision) and bool(_file(name, ADAPTER_CONFIG_NAME, revision))
    return False


def add_adapter(model: Any, adapter: Adapter) -> Any:
    """Add an adapter to the layers of a model, in place; returns the object that can remove it again."""
    peft = import_extra("peft", "adapters")
    problem = f"The adapter {adapter.name!r} does not fit the model: "
    with convert_errors(lambda error: ModelError(f"{problem}{describe_error(error)}.")):
        config = peft.PeftConfig.from_pretrained(adapter.folder)
        # megatron_core names a module to import
        if config.is_prompt_learning or getattr(config, "megatron_config", None):
            kind = str(config.peft_type.value)
            raise ModelError(
                f"The adapter {adapter.name!r} ({kind}) is not supported: it must add to the layers of the "
                f"model, as LoRA does."
            )
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "Found missing adapter keys")
            return peft.PeftModel.from_pretrained(model, adapter.folder, config=config)


def _file(name: str, file: str, revision: str | None) -> Path | None:
    if Path(name).is_dir():
        path = Path(name, file)
        return path if path.is_file() else None
    found = cached_file(name, file, revision=revision, _raise_exceptions_for_missing_entries=False)
    return None if found is None else Path(found)
