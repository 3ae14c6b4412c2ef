"""A parser with its settings, opened before anything expensive starts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.errors import ConfigError
from gest_dataset.gender.characters import characters
from gest_dataset.gender.detect import Detection, TextWarning, detect
from gest_dataset.gender.grammar import languages
from gest_dataset.gender.parsers import open_parser
from gest_dataset.probes.pronouns import Character


@dataclass(frozen=True)
class GenderDetector:
    """Finds genders in texts of one language; `signature` identifies the parser and its model."""

    language: str
    parser: str
    model: Path | None
    signature: str
    cache: str | Path | None = None

    def genders(self, texts: Sequence[str]) -> list[Detection]:
        """The gender of the first person in each text; `problem` says what is wrong, without a warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TextWarning)
            return detect(texts, self.language, self.parser, self.model, cache=self.cache)

    def characters(self, texts: Sequence[str]) -> list[Character]:
        """The gender of the character of each text."""
        return characters(texts, self.language, self.parser, self.model)


def open_detector(
    language: str, parser: str = "udpipe", model: str | Path | None = None, cache: str | Path | None = None
) -> GenderDetector:
    """The detector of a language; an error if its rules, the parser or its model are missing."""
    if language not in languages():
        raise ConfigError(f"There are no rules for {language!r}; choose one of {', '.join(languages())}.")
    path = Path(model).expanduser() if model is not None else None
    return GenderDetector(language, parser, path, open_parser(parser, language, path).signature, cache)
