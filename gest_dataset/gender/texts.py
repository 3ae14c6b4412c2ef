"""Texts before a parser: those that no rule should see, and Serbian in Cyrillic, written in Latin letters.

No rule should see what is empty, still English, or garbled by a wrong encoding.
"""

from __future__ import annotations

import re

import regex

table = lambda words: frozenset(words.split(" "))

LONGEST = 10_000  # characters: a parser takes seconds for these, and ever more memory for more
_LETTER = regex.compile(r"\p{L}")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)?")
# words that no Slavic language has
_ENGLISH = table(
    "the i'm i've i'll i'd was am are have of and that not with for it you they been had has were would"
    " this always never people because when feel very like my is his her their our your be don't can't"
    " couldn't wanted felt made get got could should who what how"
)
# letters of Latin-1 or Windows-1252 in the places where UTF-8 of Slavic letters puts them
_GARBLED = re.compile(
    "\ufffd|[ÃÂÄÅÐÑ][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2013-\u2122]|â€"
)
_CYRILLIC_ONLY = table("be ru uk bg")


def is_garbled(text: str) -> bool:
    """Whether a text was decoded with a wrong encoding."""
    return _GARBLED.search(text) is not None


def problem(text: str, language: str) -> str:
    """What is wrong with a text, in words for people; nothing is the empty string."""
    if not _LETTER.search(text):
        return "empty"
    if len(text) > LONGEST:
        return f"too long: more than {LONGEST:,} characters"
    if is_garbled(text):
        return "garbled: decoded with a wrong encoding"
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in words)
    if language in _CYRILLIC_ONLY and not _CYRILLIC.search(text):
        return "not translated: no Cyrillic letter"
    if (english >= 2 and english >= 0.3 * len(words)) or words[0] in {"i'm", "i've"}:
        return "not translated: English"
    return ""


_SERBIAN_LETTERS = "а б в г д ђ е ж з и ј к л љ м н њ о п р с т ћ у ф х ц ч џ ш"
_LATIN_LETTERS = "a b v g d đ e ž z i j k l lj m n nj o p r s t ć u f h c č dž š"
SERBIAN = dict(zip(_SERBIAN_LETTERS.split(), _LATIN_LETTERS.split(), strict=True))


def to_latin(text: str) -> tuple[str, list[int]]:
    """The text in Latin letters, and for every position in it (and its end) the one in the text.

    >>> to_latin("Љубав")
    ('Ljubav', [0, 0, 1, 2, 3, 4, 5])
    """
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        latin = SERBIAN.get(letter.lower(), letter)
        if latin is not letter and letter.isupper():
            latin = latin.capitalize()
        letters.append(latin)
        places.extend([place] * len(latin))
    return "".join(letters), [*places, len(text)]
