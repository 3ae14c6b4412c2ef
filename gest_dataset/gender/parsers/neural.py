"""The neural parsers: Stanza, and Trankit 1.1.2, the papers' parser.

Trankit pins torch <= 2.0.1 and imports `AdamW` from transformers, which current versions lack, so it is a
worker process in an environment of its own: `GEST_TRANKIT_PYTHON` names its Python (docs/gender.md).
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, import_extra
from gest_dataset.gender.parsers import workers
from gest_dataset.gender.parsers.conllu import Parser, ParserError
from gest_dataset.languages import LANGUAGES

PYTHON_VARIABLE = "GEST_TRANKIT_PYTHON"
VERSION = "1.1.2"  # of Trankit
EMBEDDING = "xlm-roberta-base"
_STANZA_BATCH = 128
_TRANKIT_BATCH = 16  # Trankit parses one text at a time: a batch sets how often parses are cached


def open_stanza(language: str, model: Path | None) -> Parser:
    """Stanza's pipeline of a language; `model` is the folder of its models, by default Stanza's."""
    stanza = import_extra("stanza", "stanza")
    models = "default"
    if model is not None:
        if not (model / language).is_dir():
            raise ConfigError(
                f"{model} has no Stanza models for {language}. Get them with stanza.download({language!r}, "
                f"model_dir=...)."
            )
        models = hashlib.sha256((model / "resources.json").read_bytes()).hexdigest()

    def parse(texts: Sequence[str]) -> Iterator[Mapping[str, str]]:
        options = {} if model is None else {"dir": str(model), "download_method": None}
        try:
            # Stanza adds its splitter of multiword tokens itself if the language has one
            pipeline = stanza.Pipeline(
                language, processors="tokenize,pos,lemma,depparse", verbose=False, **options
            )
        except Exception as error:  # Stanza's own, of many kinds: no models, no network
            raise ParserError(f"Stanza cannot load its models for {language}: {error}") from error
        for start in range(0, len(texts), _STANZA_BATCH):
            batch = list(texts[start : start + _STANZA_BATCH])
            documents = pipeline.bulk_process(batch)
            yield {text: f"{document:C}\n\n" for text, document in zip(batch, documents, strict=True)}

    return Parser(f"stanza {stanza.__version__} {language} {models}", parse)


def open_trankit(language: str, model: Path | None) -> Parser:
    """Trankit's published pipeline of a language, or one that its TPipeline has trained.

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
    parse = partial(workers.parse_with_workers, command, workers=1, batch=_TRANKIT_BATCH)
    return Parser(f"trankit {VERSION} {name} {embedding} {trained}", parse)
