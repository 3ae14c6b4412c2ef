"""The parser that finds the gender of a first person, or of a character, in what a model has written."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gest_dataset.errors import ConfigError
from gest_dataset.gender import Detection, TextWarning, detect, languages
from gest_dataset.gender.characters import characters
from gest_dataset.gender.parsers import open_parser
from gest_dataset.probes.pronouns import Character

UDPIPE = "udpipe"  # what reads answers where nothing else is said
_ELSE = "not in this language"
_OTHERS = ("not translated: English", "not translated: no Cyrillic letter")


@dataclass(frozen=True)
class Parsing:
    """A language, the name of a parser and its model (docs/gender.md); `signature` says which it is."""

    language: str
    parser: str
    model: Path | None
    signature: str

    def genders(self, texts: Sequence[str]) -> list[Detection]:
        """The gender of each text; why there is none is in its `problem`, without a warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TextWarning)
            found = detect(texts, self.language, self.parser, self.model)
        return [replace(one, problem=_told(one.problem)) for one in found]

    def characters(self, texts: Sequence[str]) -> list[Character]:
        """The gender of whom each text is about."""
        found = characters(texts, self.language, self.parser, self.model)
        return [replace(one, problem=_told(one.problem)) for one in found]


def _told(problem: str) -> str:
    """What is no translation is written in another language."""
    return _ELSE if problem in _OTHERS else problem


def parsing(language: str, parser: str = UDPIPE, model: str | Path | None = None) -> Parsing:
    """A parser that is there; what is missing is an error here, before a model is asked."""
    if language not in languages():
        raise ConfigError(
            f"There are no rules for the language {language!r}; choose one of {', '.join(languages())}."
        )
    path = Path(model).expanduser() if model is not None else None
    return Parsing(language, parser, path, open_parser(parser, language, path).signature)
