"""Where a sentence ends: a light rule for all scripts, on the classes of Unicode's annex 29.

A sentence ends with a mark of the classes STerm or ATerm (`.`, `?`, `।`, `。` …) and what closes behind it,
where white space and no small letter follow; full-width marks need no space. It does not end behind what is
likely an abbreviation, an initial or an ordinal (`Dr.`, `J.`, `z.B.`, `1.`): two sentences in one do less
harm to next-sentence pairs than half a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

_END = regex.compile(
    r"(?P<word>[\p{L}\p{M}\p{N}.]*)(?P<mark>[\p{Sentence_Break=STerm}\p{Sentence_Break=ATerm}…]+)"
    r"\p{Sentence_Break=Close}*(?:\s+(?!\p{Ll})|(?<=[。．！？｡]\p{Sentence_Break=Close}*))"
)
_SHORT = regex.compile(r"\p{Lu}\p{L}{0,2}|\d{1,2}|.*\..*")


def split(text: str) -> Iterator[str]:
    """The sentences of a text; none crosses the end of a line.

    >>> list(split("Dr. J. Smith came on 1. June. He said: “No!” Then he left."))
    ['Dr. J. Smith came on 1. June.', 'He said: “No!”', 'Then he left.']
    """
    for line in text.splitlines():
        start = 0
        for end in _END.finditer(line):
            if end["mark"] == "." and _SHORT.fullmatch(end["word"]):
                continue
            yield from _stripped(line[start : end.end()])
            start = end.end()
        yield from _stripped(line[start:])


def _stripped(sentence: str) -> Iterator[str]:
    if sentence := sentence.strip():
        yield sentence
