"""Frames that quote a sentence with a gendered speaker: `„…,“ povedal.` and `„…,“ povedala.`

The words and the quotation marks are those of EuroGEST (Rowe et al., 2025). `frames.json` has those of the
languages that EuroGEST lacks (Serbian in both scripts) and of English. The final full stop is ours: without
it *povedal* would be a prefix of *povedala*, and never less likely.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex

from gest_dataset.builders.config import File
from gest_dataset.builders.reading import read_text
from gest_dataset.errors import ConfigError
from gest_dataset.storage import read_yaml

_FOLDER = "JacquelineRowe/EuroGEST/evaluate_models/configs"
SCAFFOLDS, MARKS, CODES = (
    f"{_FOLDER}/{name}.json" for name in ("prompt_scaffolds", "punc_map", "supported_languages")
)
# Kind of speaker -> the masculine and the feminine entry of EuroGEST's scaffolds
KINDS = {"pronoun": ("he said", "she said"), "noun": ("the man said", "the woman said")}
_BUILT_IN: dict[str, list[dict[str, Any]]] = read_yaml(Path(__file__).with_name("frames.json"))
_CYRILLIC = regex.compile(r"\p{Cyrillic}")
# Stripped from a sentence before it is quoted; an apostrophe may belong to its last word
_EDGES = ' \t\n\u00a0.,;:!?…"“”„‟«»‹›–—-'

Span = tuple[int, int]


@dataclass(frozen=True)
class Frame:
    """Quotation marks, and the words for a man and for a woman who speaks."""

    opening: str
    closing: str
    masculine: str
    feminine: str

    @property
    def shows_gender(self) -> bool:
        """Whether both sides have words of their own: with *va dir* and *va dir ella* only one has."""
        return all(start < end for start, end in _differing_spans(self.masculine, self.feminine))

    def quote(self, sentence: str) -> tuple[tuple[str, Span], tuple[str, Span]]:
        """The sentence as a man and as a woman says it, each with the span of the words that differ.

        >>> Frame("„", ",“", "povedal", "povedala").quote("Mám hlad.")
        (('„Mám hlad,“ povedal.', (12, 19)), ('„Mám hlad,“ povedala.', (12, 20)))
        """
        quoted = f"{self.opening}{sentence.strip(_EDGES)}{self.closing} "
        masculine, feminine = (
            (len(quoted) + start, len(quoted) + end)
            for start, end in _differing_spans(self.masculine, self.feminine)
        )
        return (f"{quoted}{self.masculine}.", masculine), (f"{quoted}{self.feminine}.", feminine)


def _differing_spans(left: str, right: str) -> tuple[Span, Span]:
    """The spans of two texts without the words that both begin with and the words that both end with."""
    first, second = left.split(" "), right.split(" ")
    shorter = min(len(first), len(second))
    before = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    rest = shorter - before
    after = next((i for i in range(rest) if first[-1 - i] != second[-1 - i]), rest)

    def span(words: Sequence[str]) -> Span:
        start = sum(len(word) + 1 for word in words[:before])
        differing = words[before : len(words) - after]
        return (start, start + len(" ".join(differing))) if differing else (start - 1, start - 1)

    return span(first), span(second)


def frame_sources(language: str) -> tuple[str, ...]:
    """The upstream files with a language's frames; none if its frames are in `frames.json`."""
    return () if language in _BUILT_IN else (SCAFFOLDS, MARKS, CODES)


def read_frames(language: str, files: Mapping[str, File], kind: str = "pronoun") -> list[Frame]:
    """Read a language's frames, one for each script. Frames that do not show the gender are an error."""
    if language in _BUILT_IN:
        frames = [Frame(entry["opening"], entry["closing"], *entry[kind]) for entry in _BUILT_IN[language]]
    else:
        frames = [_eurogest_frame(language, files, kind)]
    blind = next((frame for frame in frames if not frame.shows_gender), None)
    if blind is not None:
        others = [other for other in KINDS if _eurogest_frame(language, files, other).shows_gender]
        advice = f"Use --frames {others[0]}." if others else "It has no other frames."
        raise ConfigError(
            f"EuroGEST's {kind} frames in {language!r} do not distinguish a man from a woman: "
            f"{blind.masculine!r} and {blind.feminine!r}. {advice}"
        )
    return frames


def choose_frame(sentence: str, frames: Sequence[Frame]) -> Frame:
    """The frame in the script of the sentence, for languages with two scripts."""
    by_script = {bool(_CYRILLIC.search(frame.masculine)): frame for frame in frames}
    return by_script.get(bool(_CYRILLIC.search(sentence)), frames[0])


def _eurogest_frame(language: str, files: Mapping[str, File], kind: str) -> Frame:
    scaffolds, marks, codes = (json.loads(read_text(files[key])) for key in (SCAFFOLDS, MARKS, CODES))
    name = {code: name for name, code in codes.items()}.get(language)
    if name is None:
        raise ConfigError(
            f"EuroGEST has no frames for {language!r}, only for {', '.join(sorted(codes.values()))}."
        )
    opening, closing = marks[name]
    masculine, feminine = (scaffolds[side][name].strip() for side in KINDS[kind])
    return Frame(opening, closing, masculine, feminine)
