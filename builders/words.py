"""Splitting a sentence into words, for the rules of pairs and controls.

Words are separated by white space. A letter and its combining marks are one unit, and texts are compared
in Unicode's form NFC. Offsets always refer to the sentence as it is.
"""

import unicodedata

import regex

_WORD = regex.compile(r"\S+")
_GRAPHEME = regex.compile(r"\X")
_WORD_CHARACTER = regex.compile(r"[\p{L}\p{M}\p{N}_]")


def composed(text: str) -> str:
    """The text in Unicode's form NFC, for comparing."""
    return unicodedata.normalize("NFC", text)


def same(left: str, right: str) -> bool:
    """Whether two texts are equal in form NFC."""
    return composed(left) == composed(right)


def split(sentence: str) -> list[str]:
    """The words of a sentence, with the punctuation around them."""
    return list(_WORD.findall(sentence))


def differing_words(left: str, right: str) -> list[int] | None:
    """The indices of the words that differ, or None if the sentences have different numbers of words."""
    first, second = split(left), split(right)
    if len(first) != len(second):
        return None
    return [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if not same(a, b)]


def core_span(sentence: str, index: int, last: int | None = None) -> tuple[int, int]:
    """The [start, end) of a word without the punctuation around it; empty if it is only punctuation.

    With `last`, it is that from the word `index` to the word `last`.

    >>> core_span('He said "stop!" twice.', 2)
    (9, 13)
    >>> core_span('He said "stop!" twice.', 2, 3)
    (9, 21)
    """
    if last is not None and last > index:
        return core_span(sentence, index)[0], core_span(sentence, last)[1]
    word = list(_WORD.finditer(sentence))[index]
    units = [unit for unit in _GRAPHEME.finditer(word[0]) if _WORD_CHARACTER.match(unit[0])]
    if not units:
        return word.start(), word.start()
    return word.start() + units[0].start(), word.start() + units[-1].end()


def core(sentence: str, index: int, last: int | None = None) -> str:
    """A word (or those up to `last`) without the punctuation around it."""
    start, end = core_span(sentence, index, last)
    return sentence[start:end]
