"""Rules that find problems in a translation of StereoSet.

Section 5.1 of Öztürk et al. (2023) checked punctuation and the place of BLANK. Some problems make a sample
unusable; the others are listed for a person to check.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import regex

from gest_dataset.builders.stereoset import BLANK, CANDIDATES, word_in_place

MISSING = "no translation"
LOST = "BLANK is missing, or there are too many"
SAME_CANDIDATES = "two candidates are the same"
NOT_IN_PLACE = "the word is not found in its sentence"
JOINED = "BLANK is part of a word"
AFTER_END = "BLANK comes after the end of the sentence"
END = "different punctuation at the end"
PUNCTUATION = "punctuation is doubled, detached or unbalanced"
UNTRANSLATED = "same as the English text"
EXTRA_PUNCTUATION = "the word has punctuation, the English one has none"
CAPITAL = "the word has a capital letter, the English one has none"
# Whether a sample with the problem is left out
PROBLEMS: dict[str, bool] = {
    **dict.fromkeys((MISSING, LOST, SAME_CANDIDATES, NOT_IN_PLACE), True),
    **dict.fromkeys((JOINED, AFTER_END, END, PUNCTUATION, UNTRANSLATED, EXTRA_PUNCTUATION, CAPITAL), False),
}

_CAPITALIZED = frozenset({"de"})  # languages with capitalized nouns
_MIN_WORDS = 4  # shorter texts can be the same in two languages: names, "No, no!"
# The marks that end a sentence in any script
_ENDS = {
    **dict.fromkeys(".。．।։።", "."),
    **dict.fromkeys("?？؟;", "?"),
    **dict.fromkeys("!！", "!"),
    "…": "…",
}
_CLOSING = regex.compile(r"[\s\p{Pe}\p{Pf}\p{Pi}\"'’]+$")
# letters of scripts with spaces between words
_LETTER = r"[[\p{L}\p{M}\p{N}\-]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"
_JOINED = regex.compile(rf"(?V1){_LETTER}{BLANK}|{BLANK}{_LETTER}")
_AFTER_END = regex.compile(rf"[.!?…।。][\"'”»“]?\s+{BLANK}\W*$")
_BROKEN = regex.compile(r"\s[,.](?!\.|\d)|[,;:]\s*[,;:.]|(?<!\.)\.\.(?!\.)|[!?]\.(?!\.)")
_BRACKETS = (("(", ")"), ("[", "]"))
_QUOTES = ('"', "“”„", "«»")  # languages differ in which one opens
_PUNCTUATION = regex.compile(r"[.,;:!?…।。]")


def check_text(field: str, source: str, translation: str, language: str) -> Iterator[str]:
    """The problems of a translated field of a sample: a sentence, a context, a word or the target."""
    if not translation.strip():
        yield MISSING
    elif field.endswith("_word"):
        if BLANK in translation:
            yield NOT_IN_PLACE
        if _PUNCTUATION.search(translation) and not _PUNCTUATION.search(source):
            yield EXTRA_PUNCTUATION
        if language not in _CAPITALIZED and translation[:1].isupper() and not source[:1].isupper():
            yield CAPITAL
    elif translation.count(BLANK) != source.count(BLANK):
        yield LOST
    elif field != "target":
        if len(source.split()) >= _MIN_WORDS and translation.casefold() == source.casefold():
            yield UNTRANSLATED
        if _end_mark(translation) != _end_mark(source):
            yield END
        for kind, is_wrong in (
            (PUNCTUATION, _is_broken),
            (JOINED, _JOINED.search),
            (AFTER_END, _AFTER_END.search),
        ):
            if is_wrong(translation) and not is_wrong(source):
                yield kind


def check_candidates(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The problems of a row's candidates together, with their fields."""
    within = "stereotype_word" in row
    fields = {name: f"{name}_word" if within else name for name in CANDIDATES.values()}
    texts = Counter(row[field].casefold() for field in fields.values())
    for name, field in fields.items():
        if texts[row[field].casefold()] > 1:
            yield field, SAME_CANDIDATES
        if within and word_in_place(row["context"], row[name]) != row[field]:
            yield field, NOT_IN_PLACE


def _end_mark(text: str) -> str:
    """The mark at the end of a sentence, before quotation marks and brackets.

    >>> _end_mark("“Stop!”"), _end_mark("Wait ..."), _end_mark("No end")
    ('!', '…', '')
    """
    text = _CLOSING.sub("", text)
    return "…" if text.endswith("..") else _ENDS.get(text[-1:], "")


def _is_broken(text: str) -> bool:
    unbalanced = any(text.count(left) != text.count(right) for left, right in _BRACKETS)
    odd = any(sum(map(text.count, quotes)) % 2 for quotes in _QUOTES)
    return unbalanced or odd or _BROKEN.search(text) is not None
