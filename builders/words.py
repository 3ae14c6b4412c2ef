"""Words of a sentence, as the rules of pairs and controls see them: runs without white space.

A word is what Unicode says of it: a letter with its marks is one sign (a vowel sign of Devanagari, an accent
that is a character of its own), and two ways of writing the same sign are the same word. Places are always
those in the sentence as it is.
"""

from __future__ import annotations

import unicodedata

import regex

_WORD = regex.compile(r"\S+")
_SIGN = regex.compile(r"\X")  # a letter with all that belongs to it: a grapheme cluster
_OF_A_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]")


def same(left: str, right: str) -> bool:
    """Whether two texts are the same signs, however their accents are written (Unicode's NFC)."""
    return composed(left) == composed(right)


def composed(text: str) -> str:
    """A text for comparing: letters and accents in one character where there is one (NFC)."""
    return unicodedata.normalize("NFC", text)


def split(sentence: str) -> list[str]:
    """The words of a sentence, with the punctuation around them."""
    return [match[0] for match in _WORD.finditer(sentence)]


def differing_words(left: str, right: str) -> list[int] | None:
    """The indices of the words that differ, or None where the numbers of words do."""
    first, second = split(left), split(right)
    if len(first) != len(second):
        return None
    return [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if not same(a, b)]


def core_span(sentence: str, index: int) -> tuple[int, int]:
    """Where a word starts and ends, without the punctuation around it; empty if it is all that.

    >>> core_span('He said "stop!" twice.', 2)
    (9, 13)
    """
    word = next(match for i, match in enumerate(_WORD.finditer(sentence)) if i == index)
    signs = [sign for sign in _SIGN.finditer(word[0]) if _OF_A_WORD.match(sign[0])]
    if not signs:
        return word.start(), word.start()
    return word.start() + signs[0].start(), word.start() + signs[-1].end()


def core(sentence: str, index: int) -> str:
    """A word without the punctuation around it."""
    start, end = core_span(sentence, index)
    return sentence[start:end]
