"""What can be wrong with a translation of StereoSet, as far as a rule sees it.

Section 5.1 of Oeztuerk et al. (2023): all data sets were checked for punctuation errors and for the placement
of BLANK. A kind of problem either leaves its sample out, because the config has no place for it, or is for a
person to look at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import regex

from gest_dataset.builders.stereoset import BLANK, CANDIDATES, word_in_place

MISSING = "no translation"
LOST = "BLANK is lost, or there are more"
SAME_CANDIDATES = "two candidates are the same"
NOT_IN_PLACE = "the word cannot be found in its sentence"
JOINED = "BLANK is a part of a word"
BEHIND = "BLANK stands behind the end of the sentence"
END = "another mark at the end"
PUNCTUATION = "punctuation is doubled, torn off or not closed"
UNTRANSLATED = "the same as the English text"
MARKED = "the word has punctuation, the English one has none"
CAPITAL = "the word begins with a capital letter, the English one does not"
# Whether a sample that has it is left out
KINDS: dict[str, bool] = {
    **dict.fromkeys((MISSING, LOST, SAME_CANDIDATES, NOT_IN_PLACE), True),
    **dict.fromkeys((JOINED, BEHIND, END, PUNCTUATION, UNTRANSLATED, MARKED, CAPITAL), False),
}

_CAPITALS = frozenset({"de"})  # where nouns begin with one
_WORDS = 4  # a shorter text may be the same in two languages: a name, "No, no!"
# The marks that end a sentence, in all scripts, and what they are here
_ENDS = {
    **dict.fromkeys(".。．।։።", "."),
    **dict.fromkeys("?？؟;", "?"),
    **dict.fromkeys("!！", "!"),
    "…": "…",
}
_CLOSING = regex.compile(r"[\s\p{Pe}\p{Pf}\p{Pi}\"'’]+$")
# of a script with spaces between words
_LETTER = r"[[\p{L}\p{M}\p{N}\-]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"
_JOINED = regex.compile(rf"(?V1){_LETTER}{BLANK}|{BLANK}{_LETTER}")
_BEHIND = regex.compile(rf"[.!?…।。][\"'”»“]?\s+{BLANK}\W*$")
_BROKEN = regex.compile(r"\s[,.](?!\.|\d)|[,;:]\s*[,;:.]|(?<!\.)\.\.(?!\.)|[!?]\.(?!\.)")
_BRACKETS = (("(", ")"), ("[", "]"))
_QUOTES = ('"', "“”„", "«»")  # which one opens, languages do not agree on
_PUNCTUATION = regex.compile(r"[.,;:!?…。।]")


def of_sentence(source: str, made: str) -> Iterator[str]:
    """The kinds of problems of a translated sentence."""
    if len(source.split()) >= _WORDS and made.casefold() == source.casefold():
        yield UNTRANSLATED
    if _end(made) != _end(source):
        yield END
    if _is_broken(made) and not _is_broken(source):
        yield PUNCTUATION


def of_context(source: str, made: str) -> Iterator[str]:
    """Those of a sentence with BLANK in it."""
    if made.count(BLANK) != source.count(BLANK):
        yield LOST
        return
    yield from of_sentence(source, made)
    if _JOINED.search(made) and not _JOINED.search(source):
        yield JOINED
    if _BEHIND.search(made) and not _BEHIND.search(source):
        yield BEHIND


def of_word(source: str, made: str, language: str) -> Iterator[str]:
    """Those of a word that is put into the place of BLANK."""
    if BLANK in made:
        yield NOT_IN_PLACE
    if _PUNCTUATION.search(made) and not _PUNCTUATION.search(source):
        yield MARKED
    if language not in _CAPITALS and made[:1].isupper() and not source[:1].isupper():
        yield CAPITAL


def of_candidates(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Fields of a whole row with the kinds of problems that they have together."""
    within = "stereotype_word" in row
    fields = {name: f"{name}_word" if within else name for name in CANDIDATES.values()}
    texts = Counter(row[field].casefold() for field in fields.values())
    for name, field in fields.items():
        if texts[row[field].casefold()] > 1:
            yield field, SAME_CANDIDATES
        if within and word_in_place(row["context"], row[name]) != row[field]:
            yield field, NOT_IN_PLACE


def _end(text: str) -> str:
    """The mark at the end of a sentence; quotation marks and brackets behind it do not count.

    >>> _end("“Stop!”"), _end("Wait ..."), _end("No end")
    ('!', '…', '')
    """
    text = _CLOSING.sub("", text)
    return "…" if text.endswith("..") else _ENDS.get(text[-1:], "")


def _is_broken(text: str) -> bool:
    unclosed = any(text.count(left) != text.count(right) for left, right in _BRACKETS)
    odd = any(sum(map(text.count, quotes)) % 2 for quotes in _QUOTES)
    return unclosed or odd or _BROKEN.search(text) is not None
