"""Checks that a text is a translation into the new language.

The bounds were set on real translations: of GEST's 103,847 translations into ten Slavic languages none is
taken for English, and none for another script except Amazon's 3,565 Serbian ones, which are in Latin letters.
Of StereoSet's 67,648 German, French, Spanish and Turkish sentences, which are full of names, 0.2 % are taken
for English.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache

import regex

from gest_dataset.gender.texts import MAX_LENGTH, is_garbled

EMPTY = "empty"
TOO_LONG = f"longer than {MAX_LENGTH:,} characters"
GARBLED = "garbled: decoded with a wrong encoding"
ENGLISH = "still English"
SCRIPT = "in another script"

_MAX_SOURCE_WORDS = 0.5  # share of words that are in the source: names, *stand-up*, *model*
_MAX_ENGLISH_WORDS = 0.6  # share of words that occur in GEST: *a*, *on*, *me*
_MIN_SCRIPT_LETTERS = 0.5  # share of letters in the script; names may be in another one
_LETTER = regex.compile(r"\p{L}")
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*")
STRAIGHT_QUOTES = str.maketrans("’‘“”", "''\"\"")
# Codes of ISO 15924 for which Unicode has other scripts
_UNICODE_SCRIPTS = {
    "Jpan": ("Hira", "Kana", "Hani"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",),
    "Hant": ("Hani",),
}


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return list(_WORD.findall(text.translate(STRAIGHT_QUOTES).lower()))


def find_problem(text: str, source: str, script: str, english: Container[str]) -> str | None:
    """The reason why a text is not a translation of its source, or None; `english` holds English words."""
    letters = _LETTER.findall(text)
    if not letters:
        return EMPTY
    if len(text) > MAX_LENGTH:
        return TOO_LONG
    if is_garbled(text):
        return GARBLED
    in_text, in_source = words(text), set(words(source))
    number = len(in_text) or 1
    if (
        sum(word in in_source for word in in_text) / number > _MAX_SOURCE_WORDS
        or sum(word in english for word in in_text) / number > _MAX_ENGLISH_WORDS
    ):
        return ENGLISH
    in_script = sum(_script_pattern(script).match(letter) is not None for letter in letters)
    return SCRIPT if in_script / len(letters) < _MIN_SCRIPT_LETTERS else None


def is_script(code: str) -> bool:
    """Whether Unicode has letters of that script."""
    try:
        _script_pattern(code)
    except regex.error:
        return False
    return True


@cache
def _script_pattern(script: str) -> regex.Pattern[str]:
    names = _UNICODE_SCRIPTS.get(script, (script,))
    return regex.compile("[" + "".join(rf"\p{{Script={name}}}" for name in names) + "]")
