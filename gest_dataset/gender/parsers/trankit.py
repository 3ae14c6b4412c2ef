"""Trankit 1.1.2, the papers' parser: a worker process in an environment of its own.

It pins torch <= 2.0.1 and imports `AdamW` from transformers, which current ones lack; so it never
shares an environment with this package. `make_environment` makes one with versions that work
together; `GEST_TRANKIT_PYTHON` names the Python of another.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from gest_dataset.data import sources
from gest_dataset.errors import ConfigError
from gest_dataset.gender.parsers import workers
from gest_dataset.gender.parsers.parser import Parser, ParserError
from gest_dataset.languages import LANGUAGES

PYTHON_VARIABLE = "GEST_TRANKIT_PYTHON"
VERSION = "1.1.2"
PYTHON = "python3.11"
PINNED = (
    f"trankit=={VERSION}",
    "torch==2.0.1",
    "transformers==4.40.2",
    "adapters==0.2.2",
    "huggingface_hub==0.23.4",
    "numpy==1.26.4",
)
EMBEDDING = "xlm-roberta-base"
_WORKER = Path(__file__).with_name("trankit_worker.py")
_CHUNK = 16  # a batch of Trankit is one text, so that chunks only set how often parses are kept


def _home() -> Path:
    return sources.cache_directory().parent / "trankit"


def python() -> Path:
    """The Python that has Trankit: from the environment variable, or the one made here."""
    named = os.environ.get(PYTHON_VARIABLE)
    path = Path(named).expanduser() if named else _home() / "environment" / "bin" / "python"
    if not path.exists():
        raise ConfigError(
            f"There is no Trankit environment ({path}).\n"
            f"Make one: python -c 'from gest_dataset.gender.parsers import trankit; "
            f"trankit.make_environment()', or "
            f"set {PYTHON_VARIABLE} to the Python of an environment with {', '.join(PINNED)}."
        )
    return path


def make_environment(directory: Path | None = None) -> Path:
    """Make an environment with the pinned versions, and give its Python; some 5 GB with CUDA."""
    base = shutil.which(PYTHON)
    if base is None:
        raise ConfigError(f"Trankit needs {PYTHON}, which is not on the PATH: install it and try again.")
    folder = directory or _home() / "environment"
    interpreter = folder / "bin" / "python"
    try:
        subprocess.run([base, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(interpreter), "-m", "pip", "install", *PINNED], check=True)
        subprocess.run([str(interpreter), "-c", "import trankit"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ParserError(
            f"The Trankit environment {folder} could not be made: {error}.\n"
            f"What was said above tells why; delete the folder before another try."
        ) from error
    return interpreter


def open_parser(language: str, model: Path | None) -> Parser:
    """The published pipeline of a language, or one that Trankit's TPipeline has trained.

    `model` is then the `save_dir` of the training: it holds `<embedding>/customized` or
    `<embedding>/customized-mwt`.
    """
    if model is None:
        name = LANGUAGES[language].name.lower()
        directory, embedding, trained = _home() / "models", EMBEDDING, "published"
    else:
        directory, name, embedding, trained = _customized(model)
    command = [str(python()), str(_WORKER), name, str(directory), embedding]

    def parse(texts: Sequence[str]) -> Iterator[workers.Parsed]:
        return workers.parse_with_workers(command, texts, 1, chunk=_CHUNK)

    return Parser(f"trankit {VERSION} {name} {embedding} {trained}", parse)


def _customized(model: Path) -> tuple[Path, str, str, str]:
    taggers = sorted(model.glob("*/customized*/customized*.tagger.mdl"))
    if not taggers:
        raise ConfigError(
            f"{model} holds no pipeline of Trankit.\n"
            f"Give the save_dir that TPipeline was trained with (it has {EMBEDDING}/customized), or no model "
            f"for the published pipeline."
        )
    tagger = taggers[0]
    category, embedding = tagger.parent.name, tagger.parent.parent.name
    return model, category, embedding, hashlib.sha256(tagger.read_bytes()).hexdigest()
