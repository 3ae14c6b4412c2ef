"""The table of parsers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gest_dataset.errors import ConfigError
from gest_dataset.gender.parsers import bulgarian, conllu, stanza, trankit, udpipe
from gest_dataset.gender.parsers.parser import Parser

PARSERS: dict[str, Callable[[str, Path | None], Parser]] = {
    "udpipe": udpipe.open_parser,
    "conllu": conllu.open_parser,
    "stanza": stanza.open_parser,
    "trankit": trankit.open_parser,
    "forms": bulgarian.open_parser,
}


def open_parser(name: str, language: str, model: Path | None) -> Parser:
    """The parser of this name; what `model` is depends on it (see docs/gender.md)."""
    if name not in PARSERS:
        raise ConfigError(f"There is no parser {name!r}; choose one of {', '.join(PARSERS)}.")
    return PARSERS[name](language, model)
