"""What is wrong with a text that should be in the new language.

The bounds were set on real translations. Of 103,847 in ten Slavic languages (GEST's own) none is taken for
English, and none for another script but the 3,565 that Amazon has written in Latin letters where Serbian is
expected in Cyrillic. Of 67,648 sentences of StereoSet in German, French, Spanish and Turkish, which are full
of names, 0.2 % are taken for English.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache

import regex

from gest_dataset.custom.sentences import words
from gest_dataset.gender.texts import MAX_LENGTH, is_garbled

EMPTY = "empty"
TOO_LONG = f"longer than {MAX_LENGTH:,} characters"
GARBLED = "garbled: decoded with a wrong encoding"
ENGLISH = "still English"
SCRIPT = "another script"

_OF_ITS_SOURCE = 0.5  # the most words that a translation has from its source: names, *stand-up*, *model*
_OF_ENGLISH = 0.6  # the most words that are words of GEST as well: *a*, *on*, *me*
_OF_THE_SCRIPT = 0.5  # the fewest letters of the script: names may be in another
_LETTER = regex.compile(r"\p{L}")
# What ISO 15924 has one code for and Unicode several scripts
_SCRIPTS = {
    "Jpan": ("Hira", "Kana", "Hani"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",),
    "Hant": ("Hani",),
}
# Scripts that are written without spaces between words
UNSPACED = frozenset({"Thai", "Laoo", "Khmr", "Mymr", "Hans", "Hant", "Hani", "Jpan", "Tibt"})


def problem(text: str, source: str, script: str, english: Container[str]) -> str | None:
    """The reason why a text is no translation of its source, or None; `english` are words of English."""
    own = words(text)
    if not _LETTER.search(text):
        return EMPTY
    if len(text) > MAX_LENGTH:
        return TOO_LONG
    if is_garbled(text):
        return GARBLED
    kept, known = set(words(source)), len(own) or 1
    if (
        sum(word in kept for word in own) / known > _OF_ITS_SOURCE
        or sum(word in english for word in own) / known > _OF_ENGLISH
    ):
        return ENGLISH
    letters = _LETTER.findall(text)
    fitting = sum(_letter_of(script).match(letter) is not None for letter in letters)
    return SCRIPT if fitting / len(letters) < _OF_THE_SCRIPT else None


def is_script(code: str) -> bool:
    """Whether Unicode has letters of that script."""
    try:
        _letter_of(code)
    except regex.error:
        return False
    return True


@cache
def _letter_of(script: str) -> regex.Pattern[str]:
    names = _SCRIPTS.get(script, (script,))
    return regex.compile("[" + "".join(rf"\p{{Script={name}}}" for name in names) + "]")
