"""Frames that give a sentence a speaker: `„…,“ povedal.` and `„…,“ povedala.`

The words and the quotation marks are EuroGEST's (Rowe et al., 2025). `frames.json` has ours for the languages
that it lacks (Serbian in both of its scripts) and for English, whose frames stand in EuroGEST's code. The
final full stop is ours as well: without one *povedal* is the beginning of *povedala*, and never less likely.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex

from gest_dataset.builders.reading import File, read_text
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.storage import parse_json

_FOLDER = "JacquelineRowe/EuroGEST/evaluate_models/configs"
SCAFFOLDS, MARKS, CODES = (
    f"{_FOLDER}/{name}.json" for name in ("prompt_scaffolds", "punc_map", "supported_languages")
)
# Who speaks -> the masculine and the feminine entry of EuroGEST's scaffolds
KINDS = {"pronoun": ("he said", "she said"), "noun": ("the man said", "the woman said")}
_OWN: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_name("frames.json").read_text(encoding="utf-8")
)
_CYRILLIC = regex.compile(r"\p{Cyrillic}")
# What a sentence loses at its ends before it is quoted; an apostrophe may belong to its last word
_EDGES = ' \t\n\u00a0.,;:!?…"“”„‟«»‹›–—-'

Span = tuple[int, int]


@dataclass(frozen=True)
class Frame:
    """Quotation marks, and what is said behind them by a man and by a woman."""

    opening: str
    closing: str
    masculine: str
    feminine: str

    @property
    def tells_gender(self) -> bool:
        """Whether both sides have words of their own: *va dir* beside *va dir ella* may be anybody."""
        return all(start < end for start, end in _differing(self.masculine, self.feminine))

    def around(self, sentence: str) -> tuple[tuple[str, Span], tuple[str, Span]]:
        """The sentence as a man and as a woman says it, each with the span of the words that differ.

        >>> Frame("„", ",“", "povedal", "povedala").around("Mám hlad.")
        (('„Mám hlad,“ povedal.', (12, 19)), ('„Mám hlad,“ povedala.', (12, 20)))
        """
        quoted = f"{self.opening}{sentence.strip(_EDGES)}{self.closing} "
        masculine, feminine = (
            (f"{quoted}{said}.", (len(quoted) + start, len(quoted) + end))
            for said, (start, end) in zip(
                (self.masculine, self.feminine), _differing(self.masculine, self.feminine), strict=True
            )
        )
        return masculine, feminine


def _differing(left: str, right: str) -> tuple[Span, Span]:
    """Where two texts differ, in whole words, without those that they begin and end with together."""
    first, second = left.split(" "), right.split(" ")
    most = min(len(first), len(second))
    before = next((i for i in range(most) if first[i] != second[i]), most)
    after = next((i for i in range(most - before) if first[-1 - i] != second[-1 - i]), most - before)

    def span(words: Sequence[str]) -> Span:
        start = sum(len(word) + 1 for word in words[:before])
        differing = words[before : len(words) - after]
        return (start, start + len(" ".join(differing))) if differing else (start - 1, start - 1)

    return span(first), span(second)


def sources_of(language: str) -> tuple[str, ...]:
    """The upstream files that a language's frames are read from; none where the frames are ours."""
    return () if language in _OWN else (SCAFFOLDS, MARKS, CODES)


def frames_of(language: str, files: Mapping[str, File], kind: str = "pronoun") -> list[Frame]:
    """A language's frames, one for each of its scripts; those that tell no gender are refused."""
    if language in _OWN:
        found = [Frame(own["opening"], own["closing"], *own[kind]) for own in _OWN[language]]
    else:
        found = [_eurogest(language, files, kind)]
    for frame in found:
        if not frame.tells_gender:
            raise ConfigError(_without_gender(language, frame, files))
    return found


def frame_for(sentence: str, frames: Sequence[Frame]) -> Frame:
    """The frame in the script of a sentence, where a language has two."""
    cyrillic = _CYRILLIC.search(sentence) is not None
    return next(
        (frame for frame in frames if (_CYRILLIC.search(frame.masculine) is not None) == cyrillic), frames[0]
    )


def named(files: Mapping[str, File]) -> dict[str, str]:
    """EuroGEST's name of each language, by its code."""
    names = _table(files[CODES])
    return {_text(code, files[CODES], name): name for name, code in names.items()}


def _eurogest(language: str, files: Mapping[str, File], kind: str) -> Frame:
    names = named(files)
    if language not in names:
        raise ConfigError(f"EuroGEST has no frames for {language!r}; it has {', '.join(sorted(names))}.")
    name = names[language]
    marks = _table(files[MARKS]).get(name)
    if not isinstance(marks, list) or len(marks) != 2:
        raise DataError.at(files[MARKS], name, f"expected two quotation marks, found {marks!r}")
    opening, closing = (_text(mark, files[MARKS], name) for mark in marks)
    scaffolds = _table(files[SCAFFOLDS])
    said = []
    for side in KINDS[kind]:
        entry = scaffolds.get(side)
        words = entry.get(name) if isinstance(entry, dict) else None
        said.append(_text(words, files[SCAFFOLDS], f"{side}, {name}").strip())
    return Frame(opening, closing, *said)


def _without_gender(language: str, frame: Frame, files: Mapping[str, File]) -> str:
    told = (
        f"EuroGEST's frames of {language!r} do not tell a man from a woman: {frame.masculine!r} and "
        f"{frame.feminine!r}."
    )
    for other in KINDS:
        offered = _eurogest(language, files, other)
        if offered.tells_gender:
            return (
                f"{told}\nTake those with {offered.masculine!r} and {offered.feminine!r}: --frames {other}."
            )
    return f"{told} It has no others, so its neutral sentences cannot be asked."


def _table(path: File) -> dict[str, Any]:
    try:
        content = parse_json(read_text(path))
    except ValueError as error:
        raise DataError.at(path, "file", f"no JSON ({error})") from error
    if not isinstance(content, dict):
        raise DataError.at(path, "file", "expected a JSON object")
    return content


def _text(value: object, path: File, place: str) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise DataError.at(path, place, f"expected a text, found {value!r}")
