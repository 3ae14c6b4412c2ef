"""What the code of a language says of it: its name, its script, its codes elsewhere."""

from __future__ import annotations

from contextlib import suppress

import langcodes

from gest_dataset.custom.checks import is_script
from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES, SOURCE, Language


def language_of(
    code: str, name: str | None = None, family: str | None = None, script: str | None = None
) -> Language:
    """A language by its code of ISO 639-1, ISO 639-3 or BCP 47; what is told besides comes first.

    One that is in the table is as it is there.
    """
    known = _standard(code)
    own = LANGUAGES.get(known)
    tag = langcodes.Language.get(known)
    told = own or Language(
        known, tag.display_name(), tag.to_alpha3(), script=str(tag.maximize().script or ""), family=""
    )
    if known == SOURCE or tag.language == SOURCE:
        raise ConfigError("GEST is in English: add a language that it is translated to.")
    found = Language(
        known,
        name or told.name,
        told.iso3,
        told.systems,
        told.in_part,
        script or told.script,
        told.family if family is None else family,
    )
    if not is_script(found.script):
        raise ConfigError(
            f"{found.script!r} is no script of Unicode: give its code of ISO 15924 (--script), such as Deva."
        )
    return found


def _standard(code: str) -> str:
    """The code as it is written: `hi` for hin and HI."""
    with suppress(LookupError, ValueError):  # what langcodes cannot parse is none
        standard = langcodes.standardize_tag(code)
        if langcodes.Language.get(standard).is_valid():
            return str(standard)
    meant = ""
    with suppress(LookupError):
        meant = f" {code} is {langcodes.find(code).to_tag()}."
    raise ConfigError(
        f"{code!r} is no code of a language: give one of ISO 639-1 (hi), ISO 639-3 (bho) or BCP 47 "
        f"(pt-BR).{meant}"
    )
