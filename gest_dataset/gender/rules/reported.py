"""Where a text gives somebody else's words: evidence in there is not the speaker's."""

from __future__ import annotations

import re
from collections.abc import Iterator

_QUOTES = (
    ("„", '“”"'),
    ("“", "”"),
    ("”", "”"),
    ("«", "»"),
    ("»", "«"),
    ("‚", "‘’"),
    ('"', '"'),
)
_DIALOGUE = re.compile(
    r"^\s*[—–-]\s*(?P<first>[^—–]+?)[,.!?…]\s*[—–]\s*(?P<teller>[^—–]+)(?P<rest>.*)$", re.S
)
_WORDS = re.compile(r"\w+")


def quoted(text: str) -> list[tuple[int, int]]:
    """The spans of quotations of at least two words, and of the speech in a dialogue with dashes.

    A text that is one quotation is the speaker's own, and so is a word in scare quotes.
    """
    spans = list(_quotations(text))
    dialogue = _DIALOGUE.match(text)
    if dialogue:
        spans += [dialogue.span("first"), dialogue.span("rest")]
    outside = "".join(
        letter for place, letter in enumerate(text) if not any(a <= place < b for a, b in spans)
    )
    return spans if _WORDS.search(outside) else []


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        closing = next((closing for opening, closing in _QUOTES if text[start] == opening), "")
        end = min((text.find(c, start + 1) for c in closing if c in text[start + 1 :]), default=-1)
        if end < 0:
            start += 1
            continue
        if len(_WORDS.findall(text[start:end])) > 1:
            yield start, end + 1
        start = end + 1
