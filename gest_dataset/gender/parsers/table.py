"""The table of parsers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gest_dataset.errors import ConfigError
from gest_dataset.gender.parsers import bulgarian, conllu, stanza, trankit, udpipe
from gest_dataset.gender.parsers.parser import Parser
from gest_dataset.languages import LANGUAGES

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
    if model is not None:
        _check_language(model, language)
    return PARSERS[name](language, model)


def _check_language(model: Path, language: str) -> None:
    """Neither UDPipe nor Trankit writes a language into a model: only its name may tell.

    `cs.udpipe`, `cs_pdt.udpipe` and, as the published ones are called, `czech-pdt-ud-2.5-191206.udpipe`.
    """
    first, behind = re.match(r"([a-z]*)(.?)", model.name.lower()).groups()  # type: ignore[union-attr]
    for other in LANGUAGES.values():
        named = first == other.name.lower() or (first == other.code and behind in ("", ".", "_"))
        if named and other.code != language:
            raise ConfigError(
                f"{model} is a model of {other.name}, by its name, and the language is {language!r}: give a "
                f"model of {LANGUAGES[language].name}. If it is one, give it another name."
            )
