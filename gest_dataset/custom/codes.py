"""Names, scripts and other codes of a language, from its code."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import langcodes

from gest_dataset.custom.checks import is_script
from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES, SOURCE, Language


def language_of(
    code: str, name: str | None = None, family: str | None = None, script: str | None = None
) -> Language:
    """The language of a code of ISO 639-1, ISO 639-3 or BCP 47; the other arguments override its facts."""
    code = _normalise(code)
    tag = langcodes.Language.get(code)
    if tag.language == SOURCE:
        raise ConfigError("GEST is in English; add a language that it is translated to.")
    language = LANGUAGES.get(code) or Language(
        code, tag.display_name(), tag.to_alpha3(), script=str(tag.maximize().script or "")
    )
    language = replace(
        language,
        name=name or language.name,
        family=language.family if family is None else family,
        script=script or language.script,
    )
    if not is_script(language.script):
        raise ConfigError(f"{language.script!r} is not a script of ISO 15924. Use --script, such as Deva.")
    return language


def _normalise(code: str) -> str:
    """The canonical form of a code: `hi` for `hin` and `HI`."""
    with suppress(LookupError, ValueError):  # langcodes cannot parse it
        standard = langcodes.standardize_tag(code)
        if langcodes.Language.get(standard).is_valid():
            return str(standard)
    suggestion = ""
    with suppress(LookupError):
        suggestion = f" Did you mean {langcodes.find(code).to_tag()!r}?"
    raise ConfigError(
        f"{code!r} is not a language code.{suggestion} Use ISO 639-1 (hi), ISO 639-3 (bho) or BCP 47 (pt-BR)."
    )
