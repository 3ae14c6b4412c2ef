"""Trankit 1.1.2, the papers' parser: a worker process in an environment of its own.

It pins torch <= 2.0.1 and imports `AdamW` from transformers, which current versions lack, so it never shares
an environment with this package: `GEST_TRANKIT_PYTHON` names the Python of another one (docs/gender.md).
"""

import hashlib
import os
from functools import partial
from pathlib import Path

from gest_dataset.data import sources
from gest_dataset.errors import ConfigError
from gest_dataset.gender.parsers import workers
from gest_dataset.gender.parsers.conllu import Parser
from gest_dataset.languages import LANGUAGES

PYTHON_VARIABLE = "GEST_TRANKIT_PYTHON"
VERSION = "1.1.2"
EMBEDDING = "xlm-roberta-base"
_BATCH = 16  # Trankit parses one text at a time: a batch sets how often parses are cached


def open_parser(language: str, model: Path | None) -> Parser:
    """The published pipeline of a language, or one that Trankit's TPipeline has trained.

    `model` is then the `save_dir` of the training, with `<embedding>/customized` or
    `<embedding>/customized-mwt`.
    """
    python = Path(os.environ.get(PYTHON_VARIABLE) or "none").expanduser()
    if not python.exists():
        raise ConfigError(
            f"There is no Trankit environment: {PYTHON_VARIABLE} is '{python}'. Set it to the Python of an "
            f"environment with trankit=={VERSION} (docs/gender.md)."
        )
    name, embedding, trained = LANGUAGES[language].name.lower(), EMBEDDING, "published"
    directory = sources.cache_directory().parent / "trankit" / "models"
    if model is not None:
        taggers = sorted(model.glob("*/customized*/customized*.tagger.mdl"))
        if not taggers:
            raise ConfigError(
                f"{model} has no Trankit pipeline. Give the save_dir that TPipeline was trained with (it has "
                f"{EMBEDDING}/customized), or no model for the published pipeline."
            )
        name, directory, embedding = taggers[0].parent.name, model, taggers[0].parent.parent.name
        trained = hashlib.sha256(taggers[0].read_bytes()).hexdigest()
    command = [str(python), str(workers.SCRIPT), "trankit", name, str(directory), embedding]
    parse = partial(workers.parse_with_workers, command, workers=1, batch=_BATCH)
    return Parser(f"trankit {VERSION} {name} {embedding} {trained}", parse)
