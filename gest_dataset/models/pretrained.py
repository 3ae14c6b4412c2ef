"""The one door to what transformers loads: code that comes with a model runs only where it was asked for.

Where nothing is said, transformers asks on the standard input and runs the code on "y"; here it is
always said. tests/test_architecture.py keeps every other module from loading for itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig
from transformers.utils.hub import cached_file, extract_commit_hash

from gest_dataset.errors import ModelError


def read(auto_class: Any, name: str | Path, trust_remote_code: bool = False, **given: Any) -> Any:
    """A config, a tokeniser or a model: `auto_class.from_pretrained`, with no code of others unless asked."""
    try:
        loaded = auto_class.from_pretrained(str(name), trust_remote_code=trust_remote_code, **given)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise _code_of_others(name, "code of its own") from error
    return loaded


def read_config(name: str | Path, trust_remote_code: bool = False, **given: Any) -> Any:
    """The settings of a model; attention from a repository of kernels would be code of others as well."""
    config = read(AutoConfig, name, trust_remote_code, **given)
    parts = [config, *(getattr(config, part, None) for part in config.sub_configs)]
    kernels = [str(getattr(part, "_attn_implementation", None)) for part in parts]
    foreign = next((kernel for kernel in kernels if "/" in kernel), None)
    if foreign is not None and not trust_remote_code:
        raise _code_of_others(name, f"attention from {foreign!r}")
    return config


def commit_of(name: str, revision: str | None) -> str | None:
    """The commit on the Hub (or in its cache) that a name and a revision stand for; None of a folder.

    It is the name of the cache's directory for it; the config of transformers 5.23 does not tell it, as
    that of older ones did. An OSError says why there is no such model.
    """
    if Path(name).exists():
        return None
    commit: str | None = extract_commit_hash(cached_file(name, "config.json", revision=revision), None)
    return commit


def check_complete(model: Any, info: Mapping[str, Any], name: str) -> None:
    """What a checkpoint lacks, transformers would fill at random."""
    missing = sorted(info["missing_keys"])
    if missing:
        raise ModelError(
            f"The checkpoint {name!r} has no weights for {type(model).__name__}: "
            f"{', '.join(missing[:3])} … would be random. It was saved without this head."
        )


def shape_of(auto_class: Any, config: Any, trust_remote_code: bool = False) -> Any:
    """A model of these settings without a weight: its parameters have shapes alone (`meta`)."""
    with torch.device("meta"):
        return auto_class.from_config(config, trust_remote_code=trust_remote_code)


def size_of(auto_class: Any, config: Any) -> int:
    """How many weights a model of these settings has; none of them is made."""
    size: int = shape_of(auto_class, config).num_parameters()
    return size


def _code_of_others(name: str | Path, what: str) -> ModelError:
    return ModelError(
        f"The model {str(name)!r} comes with {what}, which is not run unless it is asked for. "
        f"Read that code first; `gest score --trust-remote-code` runs it."
    )
