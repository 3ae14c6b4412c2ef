"""Stanza, a neural parser; an extra: `pip install "gest-dataset[stanza]"`."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gest_dataset.errors import ConfigError
from gest_dataset.gender.parsers.parser import Parser, ParserError

_BATCH = 128


def open_parser(language: str, model: Path | None) -> Parser:
    """Stanza's pipeline of a language; `model` is the directory of its models, if not its own one."""
    try:
        stanza = importlib.import_module("stanza")
    except ImportError as error:
        raise ConfigError(
            f"Stanza is not installed ({error}).\n"
            f'Install it with: pip install "gest-dataset[stanza]", or use the parser udpipe.'
        ) from error
    return Parser(
        f"stanza {stanza.__version__} {language} {_models(model, language)}",
        lambda texts: _parse(stanza, language, model, texts),
    )


def _models(directory: Path | None, language: str) -> str:
    """What tells one set of models from another: the hash of the list that Stanza keeps of them."""
    if directory is None:
        return "default"
    try:
        listed = (directory / "resources.json").read_bytes()
        languages = sorted(path.name for path in directory.iterdir() if path.is_dir())
    except OSError as error:
        raise ConfigError(
            f"{directory} holds no models of Stanza ({error}).\n"
            f"Give the directory that stanza.download(..., model_dir=...) has filled, or none for its own."
        ) from error
    if language not in languages:
        raise ConfigError(
            f"{directory} holds Stanza's models of {', '.join(languages) or 'nothing'}, not of {language}.\n"
            f"Get them with stanza.download({language!r}, model_dir=...), or give another directory."
        )
    return hashlib.sha256(listed).hexdigest()


def _parse(stanza: Any, language: str, model: Path | None, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    where = {} if model is None else {"dir": str(model), "download_method": None}
    try:
        # Stanza adds its splitter of multiword tokens itself where the language has one
        pipeline = stanza.Pipeline(language, processors="tokenize,pos,lemma,depparse", verbose=False, **where)
    except Exception as error:  # Stanza's own, of many kinds: no models, no network
        raise ParserError(f"Stanza cannot load its models for {language}: {error}") from error
    for start in range(0, len(texts), _BATCH):
        part = texts[start : start + _BATCH]
        for text, document in zip(part, pipeline.bulk_process(list(part)), strict=True):
            yield text, f"{document:C}" + "\n\n"
