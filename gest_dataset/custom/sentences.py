"""The sentences of GEST that rows of a user's file are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from gest_dataset.builders.gest import sentence_id
from gest_dataset.builders.words import composed
from gest_dataset.translation.sentences import GestSentence

# Why a row is about no sentence
NO_SOURCE = "no source"
UNKNOWN = "not a sentence of GEST"
DISAGREE = "its id and its source are of two sentences"
STEREOTYPE = "another stereotype than that of the sentence"

_ROW = re.compile(r"[0-9]{1,4}")
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*")
_QUOTES = str.maketrans("’‘“”", "''\"\"")  # what a word processor makes of straight ones


@dataclass(frozen=True)
class Sentences:
    """GEST's sentences, to be found by their text in 1.1 or 1.0, by id, or by the number in the id."""

    all: Sequence[GestSentence]

    @cached_property
    def by_id(self) -> Mapping[str, GestSentence]:
        return {sentence.id: sentence for sentence in self.all}

    @cached_property
    def by_text(self) -> Mapping[str, Sequence[tuple[GestSentence, str]]]:
        """A text can be of two sentences, for two stereotypes; it comes as that release writes it."""
        found: dict[str, dict[str, tuple[GestSentence, str]]] = {}
        for sentence in self.all:
            for text in (sentence.text, sentence.text_1_0):
                found.setdefault(_key(text), {}).setdefault(sentence.id, (sentence, text))
        return {key: list(sentences.values()) for key, sentences in found.items()}

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of all sentences: an English dictionary of the topic."""
        return frozenset(word for sentence in self.all for word in words(sentence.text))

    def find(self, cells: Mapping[str, str]) -> list[tuple[GestSentence, str]] | str:
        """The sentences that a row is about, each with the text that was meant; or why there are none."""
        name, source = cells.get("id", "").strip(), cells.get("source", "").strip()
        if not name and not source:
            return NO_SOURCE
        found = list(self.by_text.get(_key(source), ())) if source else []
        if name and (not source or found):
            own = self.by_id.get(sentence_id(int(name)) if _ROW.fullmatch(name) else name)
            if not source:
                found = [(own, own.text)] if own else []
            elif own is not None:
                found = [pair for pair in found if pair[0] is own]
                if not found:
                    return DISAGREE
        stereotype = cells.get("stereotype", "").strip()
        if found and stereotype:
            found = [pair for pair in found if str(pair[0].stereotype) == stereotype]
            return found or STEREOTYPE
        return found or UNKNOWN


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return list(_WORD.findall(text.translate(_QUOTES).lower()))


def _key(text: str) -> str:
    return " ".join(composed(text).translate(_QUOTES).split())
