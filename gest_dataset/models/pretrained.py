"""Loading with transformers. Code that comes with a model runs only with `trust_remote_code`.

Everything is loaded through `from_pretrained` of this module, because transformers would otherwise
prompt on the standard input and run the code on "y".
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import AutoConfig
from transformers.utils.hub import cached_file, extract_commit_hash

from gest_dataset.errors import ModelError


def from_pretrained(
    auto_class: Any, name: str | Path, trust_remote_code: bool = False, **options: Any
) -> Any:
    """`auto_class.from_pretrained` for a config, a tokenizer or a model."""
    try:
        return auto_class.from_pretrained(str(name), trust_remote_code=trust_remote_code, **options)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise _needs_remote_code(name, "code of its own") from error


def load_config(name: str | Path, trust_remote_code: bool = False, **options: Any) -> Any:
    """The configuration of a model; attention kernels from a repository also count as remote code."""
    config = from_pretrained(AutoConfig, name, trust_remote_code, **options)
    parts = [config, *(getattr(config, part, None) for part in config.sub_configs)]
    for part in parts:
        kernel = str(getattr(part, "_attn_implementation", None))
        if "/" in kernel and not trust_remote_code:
            raise _needs_remote_code(name, f"attention from {kernel!r}")
    return config


def commit_hash(name: str, revision: str | None) -> str | None:
    """The Hub commit of a model's revision; None for a local folder."""
    if Path(name).exists():
        return None
    commit: str | None = extract_commit_hash(cached_file(name, "config.json", revision=revision), None)
    return commit


def check_complete(model: Any, info: Mapping[str, Any], name: str) -> None:
    """Refuse a checkpoint that lacks weights, which transformers would initialise at random."""
    missing = sorted(info["missing_keys"])
    if missing:
        raise ModelError(
            f"The checkpoint {name!r} has no weights for {type(model).__name__}: "
            f"{', '.join(missing[:3])} … would be random. It was saved without this head."
        )


def _needs_remote_code(name: str | Path, what: str) -> ModelError:
    return ModelError(
        f"The model {str(name)!r} comes with {what}, which is not run by default. "
        f"Read that code first; `gest score --trust-remote-code` runs it."
    )
