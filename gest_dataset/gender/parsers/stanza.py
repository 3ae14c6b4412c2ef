"""Stanza, a neural parser; an extra: `pip install "gest-dataset[stanza]"`."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gest_dataset.errors import ConfigError, import_extra
from gest_dataset.gender.parsers.conllu import Parser, ParserError

_BATCH = 128


def open_parser(language: str, model: Path | None) -> Parser:
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
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            documents = pipeline.bulk_process(batch)
            yield {text: f"{document:C}\n\n" for text, document in zip(batch, documents, strict=True)}

    return Parser(f"stanza {stanza.__version__} {language} {models}", parse)
