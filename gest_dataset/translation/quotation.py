"""The quoted sentence in a translated prompt: `Žena povedala: „Som unavená.“` -> `Som unavená.`

Translators change the marks (`„…“ “…” "…" «…» »…« ‚…‘ '…'`), drop one or both of them, move the
attribution behind the sentence, or use dashes. Whether a mark opens or closes is read from the characters
next to it, because `“` opens in English and closes in Slovak.
"""

import html
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate

import regex

_MARKS = frozenset("\"'„“”«»‚‘’‹›")
_APOSTROPHES = frozenset("'’‘")
_LOW = frozenset("„‚")
_BEFORE = frozenset("([:—–-")  # like white space: the next mark opens
_AFTER = frozenset(".,;:!?…)]") | _MARKS  # like white space: the mark before it closes
# What other ways of writing a mark are replaced with; `''` and ,, are two characters each
_WRITTEN = {'\\"': '"', "\\'": "'", "``": '"', "''": '"', ",,": "„", "<<": "«", ">>": "»"}

_COLON = re.compile(r"(?P<frame>[^:\"„“”«»‹›]+:)\s*(?=\S)")
_DASHES = re.compile(r"[—–-]\s*(?P<speech>\S.*?)(?:,|(?<=[.!?…]))\s*[—–-]\s+\S.*", re.DOTALL)
_DASH = re.compile(r"[—–-]\s*")
_FRAME_WORDS = 6  # the longest attribution before a sentence: `Tento muž sa ma opýtal:` has five
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]+")
_END = re.compile(r"[\s.!?…]*$")


def quotation(answer: str) -> str | None:
    """The sentence that a translated prompt quotes; None if there is none.

    >>> quotation('Muž povedal: "Som unavený."')
    'Som unavený.'
    >>> quotation("„Som unavená,“ povedala žena.")
    'Som unavená'
    >>> quotation("Muž povedal, že je unavený.") is None
    True
    """
    text = html.unescape(answer)
    for written, mark in _WRITTEN.items():
        text = text.replace(written, mark)
    text = " ".join(text.split())
    colon = _COLON.match(text)
    if colon and len(_WORD.findall(colon["frame"])) <= _FRAME_WORDS:
        rest = text[colon.end() :]
        while rest.startswith(colon["frame"]):  # `Žena: Žena: …`
            rest = rest.removeprefix(colon["frame"]).lstrip()
        return _unwrapped(_DASH.sub("", rest, count=1) if _DASH.match(rest) else rest) or None
    dashes = _DASHES.fullmatch(text)
    if dashes:
        return dashes["speech"]
    start = next((position for position, opens in _marks(text) if opens), None)
    if start is None or len(_WORD.findall(text[:start])) > _FRAME_WORDS:
        return None
    marks = [(position, opens) for position, opens in _marks(text) if position >= start]
    depths = zip(marks, _depths(marks), strict=True)
    end = next((position for (position, _), depth in depths if depth == 0), None)
    if end is None or not _WORD.search(text[end:]):
        return _unwrapped(text[start:]) or None
    attribution_follows = start == 0 and not any(opens for _, opens in _marks(text[end + 1 :]))
    return text[1:end].rstrip(" ,") or None if attribution_follows else None


def _marks(text: str) -> Iterator[tuple[int, bool]]:
    """The quotation marks of a text: position, and whether it opens."""
    depth, opened = 0, -1
    for position, letter in enumerate(text):
        if letter not in _MARKS:
            continue
        before, after = text[position - 1 : position], text[position + 1 : position + 2]
        if letter in _APOSTROPHES and before.isalnum() and after.isalnum():
            continue
        free_before = not before or before.isspace() or before in _BEFORE or opened == position - 1
        free_after = not after or after.isspace() or after in _AFTER
        opens = letter in _LOW or (depth == 0 if free_before == free_after else free_before)
        depth = max(0, depth + (1 if opens else -1))
        opened = position if opens else opened
        yield position, opens


def _depths(marks: Iterable[tuple[int, bool]]) -> list[int]:
    """How many quotations are open behind each mark."""
    return list(accumulate(1 if opens else -1 for _, opens in marks))


def _unwrapped(text: str) -> str:
    """A quotation without its marks; marks inside of it stay, and one of the two may be missing.

    >>> _unwrapped("„To nedáva zmysel,“ kričal som.“")
    '„To nedáva zmysel,“ kričal som.'
    """
    marks = list(_marks(text))
    if not marks:
        return text.strip()
    (first, opens), (last, still_open) = marks[0], marks[-1]
    starts = first == 0 and opens
    ends = not still_open and _END.match(text, last + 1) is not None
    tail = text[last + 1 :]
    whole = [text[1:last] + tail] if starts and ends and last > 0 else []
    half = [text[:last] + tail] if ends else []
    half += [text[1:]] if starts else []
    for candidate in (*whole, text, *half):
        depths = _depths(_marks(candidate)) or [0]
        if min(depths) >= 0 and depths[-1] == 0:
            return candidate.strip() if candidate == text else _unwrapped(candidate.strip())
    return text.strip()
