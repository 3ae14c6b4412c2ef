"""What a measurement on translations needs, checked before the first sentence is translated."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gest_dataset.data.rows import fingerprint_of
from gest_dataset.errors import ConfigError
from gest_dataset.gender import Detection, TextWarning, detect, languages
from gest_dataset.gender.grammar import rules_hash
from gest_dataset.gender.parsers import open_parser
from gest_dataset.languages import LANGUAGES
from gest_dataset.translation import open_translator
from gest_dataset.translation.samples import aligned_lines, checked_limit, lines_of
from gest_dataset.translation.translator import Translation, Translator
from gest_dataset.translation.work import ask

if TYPE_CHECKING:
    import torch

# What a system may begin with: GEST's own translations of 2023, which are a config
SNAPSHOT = "published:"
_HERE = "hf:"  # models that translate on this machine


@dataclass(frozen=True)
class Setup:
    """A system with its translator, a parser and its model.

    Two kinds of systems have no translator: published translations, and a text that is aligned with GEST,
    whose `lines` are here.

    `settings` is all that the numbers depend on, as JSON knows it; `store` and `cache` are where
    translations and parses are kept (None: below `$HF_HOME/gest`); `device` is where a model of
    Hugging Face translates (None: nothing runs here).
    """

    system: str
    language: str
    translator: Translator | None
    parser: str
    model: Path | None
    limit: int | None
    settings: dict[str, Any]
    store: str | Path | None = None
    cache: str | Path | None = None
    device: torch.device | None = None
    lines: Sequence[str] | None = None

    def ask(self, texts: Sequence[str]) -> dict[str, Translation]:
        """Translations by text; an error where the translator has not got to the end."""
        if self.translator is None:
            raise ConfigError(
                f"{self.system} is a snapshot that nothing can be asked of: choose a translator, or a table "
                f"that also holds the prompts."
            )
        return ask(texts, self.translator, self.language, self.store)

    def genders(self, texts: Sequence[str]) -> list[Detection]:
        """The gender of each text; what is wrong with one is in its `problem`, without a warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TextWarning)
            return detect(texts, self.language, self.parser, self.model, cache=self.cache)


def set_up(
    system: str,
    language: str,
    *,
    parser: str = "udpipe",
    model: str | Path | None = None,
    limit: int | None = None,
    store: str | Path | None = None,
    cache: str | Path | None = None,
    device: str = "auto",
    **loading: Any,
) -> Setup:
    """Open translator and parser; what is missing is an error here.

    `system` is one of `translation.SPELLINGS`, or `published:` and a system of the config
    LANGUAGE_translations. `model` is the parser's (docs/gender.md); `device` and `loading` are for
    `open_translator`.
    """
    if language not in languages():
        raise ConfigError(
            f"There are no rules for the language {language!r}; choose one of {', '.join(languages())}."
        )
    checked_limit(limit)
    path = Path(model).expanduser() if model is not None else None
    translator, lines = None, None
    data, named = f"{language}_translations", _snapshot(system, language)
    text = lines_of(system.replace("{language}", language))
    if text is not None:
        lines = aligned_lines(text, limit)
        data, named = "en", (f"file:{text.name}", _hash(lines), "")
    elif named is None:
        translator = open_translator(system, language, device=device, **loading)
        data, named = "en", (translator.name, translator.revision, translator.settings)
    settings = {
        **dict(zip(("system", "revision", "translator"), named, strict=True)),
        "language": language,
        "parser": open_parser(parser, language, path).signature,
        "limit": limit,
        "data": data,
        "data_fingerprint": fingerprint_of(data),
        **({"rules": rules} if (rules := rules_hash(language)) else {}),
    }
    place = _device(system, device)
    return Setup(system, language, translator, parser, path, limit, settings, store, cache, place, lines)


def _hash(lines: Sequence[str]) -> str:
    return f"sha256:{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:16]}"


def _device(system: str, device: str) -> torch.device | None:
    if not system.startswith(_HERE):
        return None
    from gest_dataset.models.device import pick_device  # brings torch

    return pick_device(device)


def _snapshot(system: str, language: str) -> tuple[str, str, str] | None:
    """How published translations are called in the settings: name, revision, translator; else None."""
    if not system.startswith(SNAPSHOT):
        return None
    name, offered = system.removeprefix(SNAPSHOT), LANGUAGES[language].systems
    if name not in offered:
        raise ConfigError(
            f"No translations to {LANGUAGES[language].name} by {name!r} are published; choose one of "
            f"{', '.join(offered)}."
        )
    return system, "", ""
