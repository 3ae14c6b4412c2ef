"""One table of the languages that the data sets speak, and those that a user has added to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from gest_dataset import home
from gest_dataset.errors import ConfigError
from gest_dataset.storage import folder_lock, write_json

ADDED = "languages"  # their folder in the home
_TEXTS = ("name", "iso3", "script", "family")  # of an added one: nobody's translations of it are pinned
_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # of BCP 47


@dataclass(frozen=True)
class Language:
    """An ISO 639-1 code, its English name, and the systems whose GEST translations exist.

    `in_part`: upstream has translated some of the sentences only. `iso3` is the code of ISO 639-3,
    `script` that of ISO 15924; together, `slk_Latn`, they are the language's code in FLORES-200 and
    NLLB (whose only Serbian is Cyrillic). DeepL, Google and Amazon take the code of ISO 639-1.
    `family` is that of the language's kin, such as Slavic.
    """

    code: str
    name: str
    iso3: str
    systems: tuple[str, ...] = ()
    in_part: bool = False
    script: str = "Latn"
    family: str = ""


_ALL = ("amazon", "deepl", "google", "nllb")

_BUILT_IN: dict[str, Language] = {
    language.code: language
    for language in (
        Language("en", "English", "eng", family="Germanic"),
        Language("de", "German", "deu", family="Germanic"),
        Language("fr", "French", "fra", family="Romance"),
        Language("es", "Spanish", "spa", family="Romance"),
        Language("tr", "Turkish", "tur", family="Turkic"),
        Language("be", "Belarusian", "bel", ("google", "nllb"), script="Cyrl", family="Slavic"),
        Language("ru", "Russian", "rus", _ALL, script="Cyrl", family="Slavic"),
        Language("uk", "Ukrainian", "ukr", _ALL, script="Cyrl", family="Slavic"),
        Language("hr", "Croatian", "hrv", ("amazon", "google", "nllb"), family="Slavic"),
        Language("sl", "Slovenian", "slv", _ALL, family="Slavic"),
        Language("sr", "Serbian", "srp", ("amazon", "google", "nllb"), script="Cyrl", family="Slavic"),
        Language("cs", "Czech", "ces", _ALL, family="Slavic"),
        Language("pl", "Polish", "pol", _ALL, family="Slavic"),
        Language("sk", "Slovak", "slk", _ALL, family="Slavic"),
        Language("bg", "Bulgarian", "bul", ("google",), in_part=True, script="Cyrl", family="Slavic"),
    )
}

LANGUAGES: dict[str, Language] = {}

# The nine target languages of GEST, in the papers' order; Bulgarian is only partly translated.
SLAVIC = ("be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk")
STEREOSET = ("en", "de", "fr", "es", "tr")
SOURCE = "en"  # what is translated


def target_languages(names: str) -> list[str]:
    """The codes of a list with commas; `slavic` stands for the nine of GEST.

    >>> target_languages("bg,slavic")
    ['bg', 'be', 'ru', 'uk', 'hr', 'sl', 'sr', 'cs', 'pl', 'sk']
    """
    codes = [code for name in names.split(",") for code in (SLAVIC if name == "slavic" else [name.strip()])]
    for code in codes:
        if code not in LANGUAGES or code == SOURCE:
            offered = ", ".join(["slavic", *(code for code in LANGUAGES if code != SOURCE)])
            raise ConfigError(f"There is no target language {code!r}. Choose from {offered}.")
    return list(dict.fromkeys(codes))


def keep(language: Language, replace: bool = False) -> Language:
    """Add a language for good, in this process and in those to come.

    One of this package cannot be changed; another one that was added gives way where `replace` says so.
    """
    there = LANGUAGES.get(language.code)
    if there == language:
        return language
    if language.code in _BUILT_IN:
        raise ConfigError(f"{language.code} is {_BUILT_IN[language.code].name}, which is there already.")
    if not _CODE.fullmatch(language.code):
        raise ConfigError(f"{language.code!r} is no code of a language, such as hi or pt-BR.")
    if there is not None and not replace:
        raise ConfigError(f"{language.code} was added with other facts: {there}. Replace it, or take these.")
    with folder_lock(home.home()):
        facts = {key: getattr(language, key) for key in _TEXTS}
        write_json(home.home() / ADDED / language.code / home.FACTS, facts)
    refresh()
    return language


def is_added(code: str) -> bool:
    """Whether a language was added by a user."""
    return code in LANGUAGES and code not in _BUILT_IN


def forget(code: str) -> None:
    """Take an added language away."""
    if not is_added(code):
        raise ConfigError(f"No language {code!r} was added.")
    home.remove(ADDED, code)
    refresh()


def refresh() -> None:
    """Read again what is added: what an import does."""
    LANGUAGES.clear()
    LANGUAGES.update(_BUILT_IN | home.added(ADDED, _language)[0])


def _language(code: str, facts: home.Facts) -> Language:
    if not _CODE.fullmatch(code) or code in _BUILT_IN:
        raise facts.broken(f"{code!r} is no new code of a language")
    texts: dict[str, Any] = {key: facts.text(key) for key in _TEXTS}
    return Language(code, **texts)


refresh()
