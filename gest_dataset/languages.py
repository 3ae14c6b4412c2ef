"""The languages of the datasets, and those that a user added."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset import added_data
from gest_dataset.errors import ConfigError

FOLDER = "languages"
_STORED = ("name", "iso3", "script", "family")  # the fields of a custom language
_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # BCP 47


@dataclass(frozen=True)
class Language:
    """A language and the systems that translated GEST to it.

    The `code` is ISO 639-1. `iso3` (ISO 639-3) and `script` (ISO 15924), as in `slk_Latn`, are the code in
    FLORES-200 and NLLB. With `in_part`, upstream translated only some of the sentences.
    """

    code: str
    name: str
    iso3: str
    systems: Sequence[str] = ()
    in_part: bool = False
    script: str = "Latn"
    family: str = ""


_TABLE = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_BUILT_IN = {code: Language(code, **entry) for code, entry in _TABLE.items()}
LANGUAGES: dict[str, Language] = {}

# The nine target languages of GEST in the order of the papers; Bulgarian is translated only in part
SLAVIC = ("be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk")
STEREOSET = ("en", "de", "fr", "es", "tr")
SOURCE = "en"  # the language that translations start from


def source_language(code: str) -> Language:
    """A language to translate from: Finnish, Estonian and Hungarian have no gender, and no data here."""
    others = {"et": Language("et", "Estonian", "est"), "fi": Language("fi", "Finnish", "fin")}
    offered = others | {"hu": Language("hu", "Hungarian", "hun")} | LANGUAGES
    if code not in offered:
        raise ConfigError(f"There is no source language {code!r}. Choose from {', '.join(offered)}.")
    return offered[code]


def target_languages(names: str, source: str = SOURCE) -> list[str]:
    """The codes in a comma-separated list; `slavic` stands for the nine languages of GEST.

    >>> target_languages("bg,slavic")
    ['bg', 'be', 'ru', 'uk', 'hr', 'sl', 'sr', 'cs', 'pl', 'sk']
    """
    codes = [code for name in names.split(",") for code in (SLAVIC if name == "slavic" else [name.strip()])]
    for code in codes:
        if code not in LANGUAGES or code == source:
            offered = ", ".join(["slavic", *(code for code in LANGUAGES if code != source)])
            raise ConfigError(f"There is no target language {code!r}. Choose from {offered}.")
    return list(dict.fromkeys(codes))


def add(language: Language, replace: bool = False) -> Language:
    """Store a language for this process and later ones; one that differs is replaced only with `replace`."""
    code, existing = language.code, LANGUAGES.get(language.code)
    if existing == language:
        return language
    if code in _BUILT_IN:
        raise ConfigError(f"{code} ({_BUILT_IN[code].name}) is built in and cannot be changed.")
    if not _CODE.fullmatch(code):
        raise ConfigError(f"{code!r} is not a language code such as hi or pt-BR.")
    if existing and not replace:
        raise ConfigError(f"{code} already exists as {existing.name}. Use --replace to replace it.")
    added_data.write(FOLDER, code, {key: getattr(language, key) for key in _STORED})
    refresh()
    return language


def remove(code: str) -> None:
    """Remove a language that a user added."""
    added_data.remove(FOLDER, code)
    refresh()


def refresh() -> None:
    """Load the custom languages again."""
    LANGUAGES.clear()
    LANGUAGES.update(_BUILT_IN | added_data.read_all(FOLDER, _language)[0])


def _language(folder: Path, metadata: dict[str, Any]) -> Language:
    if not _CODE.fullmatch(folder.name) or folder.name in _BUILT_IN:
        raise ValueError(f"{folder.name!r} is not a code for a custom language")
    return Language(folder.name, **{key: metadata[key] for key in _STORED})


refresh()
