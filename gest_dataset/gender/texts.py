"""Texts before parsing: those that the rules cannot judge, and Serbian in Cyrillic as Latin letters."""

import re

import regex

MAX_LENGTH = 10_000  # characters: parsers take seconds for these, and more and more memory for longer texts
EMPTY = "empty"
TOO_LONG = f"too long: more than {MAX_LENGTH:,} characters"
GARBLED = "garbled: decoded with a wrong encoding"
_LETTER = regex.compile(r"\p{L}")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)?")
_ENGLISH = (  # words of no Slavic language
    "the i'm i've i'll i'd was am are have of and that not with for it you they been had has were would"
    " this always never people because when feel very like my is his her their our your be don't can't"
    " couldn't wanted felt made get got could should who what how"
)
_ENGLISH_WORDS = frozenset(_ENGLISH.split())
# letters of Latin-1 or Windows-1252 where UTF-8 of Slavic letters puts them
_GARBLED = re.compile(
    "\ufffd|[ÃÂÄÅÐÑ][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2013-\u2122]|â€"
)
_CYRILLIC_ONLY = frozenset({"be", "bg", "ru", "uk"})
_CYRILLIC_LETTERS = "а б в г д ђ е ж з и ј к л љ м н њ о п р с т ћ у ф х ц ч џ ш"
_LATIN_LETTERS = "a b v g d đ e ž z i j k l lj m n nj o p r s t ć u f h c č dž š"
_SERBIAN = dict(zip(_CYRILLIC_LETTERS.split(), _LATIN_LETTERS.split(), strict=True))


def damage(text: str) -> str:
    """The reason why a text is no sentence in any language, or the empty string."""
    if not _LETTER.search(text):
        return EMPTY
    if len(text) > MAX_LENGTH:
        return TOO_LONG
    return GARBLED if _GARBLED.search(text) else ""


def problem(text: str, language: str) -> str:
    """The reason why the rules cannot judge a text, or the empty string."""
    if damaged := damage(text):
        return damaged
    if language in _CYRILLIC_ONLY and not _CYRILLIC.search(text):
        return "not translated: no Cyrillic letter"
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH_WORDS for word in words)
    if (english >= 2 and english >= 0.3 * len(words)) or words[0] in {"i'm", "i've"}:
        return "not translated: English"
    return ""


def to_latin(text: str) -> tuple[str, list[int]]:
    """Serbian text in Latin letters, and for every position in it (and its end) the position in the text.

    >>> to_latin("Љубав")
    ('Ljubav', [0, 0, 1, 2, 3, 4, 5])
    """
    letters: list[str] = []
    positions: list[int] = []
    for position, letter in enumerate(text):
        latin = _SERBIAN.get(letter.lower(), letter)
        if latin is not letter and letter.isupper():
            latin = latin.capitalize()
        letters.append(latin)
        positions.extend([position] * len(latin))
    return "".join(letters), [*positions, len(text)]
