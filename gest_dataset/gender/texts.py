"""Texts that no rule should see: empty, still English, or garbled by a wrong encoding."""

from __future__ import annotations

import re

import regex

LONGEST = 10_000  # characters: a parser takes seconds for these, and ever more memory for more
_LETTER = regex.compile(r"\p{L}")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)?")
# words that no Slavic language has
_ENGLISH = frozenset(
    [
        "the",
        "i'm",
        "i've",
        "i'll",
        "i'd",
        "was",
        "am",
        "are",
        "have",
        "of",
        "and",
        "that",
        "not",
        "with",
        "for",
        "it",
        "you",
        "they",
        "been",
        "had",
        "has",
        "were",
        "would",
        "this",
        "always",
        "never",
        "people",
        "because",
        "when",
        "feel",
        "very",
        "like",
        "my",
        "is",
        "his",
        "her",
        "their",
        "our",
        "your",
        "be",
        "don't",
        "can't",
        "couldn't",
        "wanted",
        "felt",
        "made",
        "get",
        "got",
        "could",
        "should",
        "who",
        "what",
        "how",
    ]
)
# letters of Latin-1 or Windows-1252 in the places where UTF-8 of Slavic letters puts them
_GARBLED = re.compile(
    "\ufffd|[ÃÂÄÅÐÑ][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2013-\u2122]|â€"
)
_CYRILLIC_ONLY = frozenset({"be", "ru", "uk", "bg"})


def problem(text: str, language: str) -> str:
    """What is wrong with a text, in words for people; nothing is the empty string."""
    if not _LETTER.search(text):
        return "empty"
    if len(text) > LONGEST:
        return f"too long: more than {LONGEST:,} characters"
    if _GARBLED.search(text):
        return "garbled: decoded with a wrong encoding"
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in words)
    if language in _CYRILLIC_ONLY and not _CYRILLIC.search(text):
        return "not translated: no Cyrillic letter"
    if (english >= 2 and english >= 0.3 * len(words)) or words[0] in {"i'm", "i've"}:
        return "not translated: English"
    return ""
