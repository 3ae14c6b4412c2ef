"""Words of a sentence, as the rules of pairs and controls see them: runs without white space."""

from __future__ import annotations

import re

_WORD = re.compile(r"\S+")
_CORE = re.compile(r"\w(?:.*\w)?", re.DOTALL)


def differing_words(left: str, right: str) -> list[int] | None:
    """The indices of the words that differ, or None where the numbers of words do."""
    first, second = left.split(), right.split()
    if len(first) != len(second):
        return None
    return [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]


def core_span(sentence: str, index: int) -> tuple[int, int]:
    """Where a word starts and ends, without the punctuation around it; empty if it is all that.

    >>> core_span('He said "stop!" twice.', 2)
    (9, 13)
    """
    word = next(m for i, m in enumerate(_WORD.finditer(sentence)) if i == index)
    core = _CORE.search(word[0])
    if core is None:
        return word.start(), word.start()
    return word.start() + core.start(), word.start() + core.end()


def core(sentence: str, index: int) -> str:
    """A word without the punctuation around it."""
    start, end = core_span(sentence, index)
    return sentence[start:end]
