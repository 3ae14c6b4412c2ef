"""Files in a new language for the sentences of the test mirror: what a user would bring.

The texts are made of a few real forms that differ in gender; that they say something else than the English
sentence does not matter to what is tested.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.translation.sentences import GestSentence, gest_sentences


@dataclass(frozen=True)
class Forms:
    """A sentence of the language with a place for the word that has a gender, and some pairs of its forms."""

    script: str
    frame: str
    pairs: Sequence[tuple[str, str]]


# Devanagari's vowel signs are marks; Arabic and Hebrew are written from right to left; `vi` is not gendered,
# and its letters have two marks each
_TEXTS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
LANGUAGES = {code: Forms(**forms) for code, forms in _TEXTS.items()}


def variants_of(code: str) -> list[tuple[GestSentence, str, str]]:
    """Every sentence of GEST with a masculine and a feminine text: the same ones where it is there twice."""
    forms = LANGUAGES[code]
    places: dict[str, int] = {}
    made = []
    for sentence in gest_sentences():
        place = places.setdefault(sentence.text, len(places))
        masculine, feminine = forms.pairs[place % len(forms.pairs)]
        made.append((sentence, forms.frame.format(masculine), forms.frame.format(feminine)))
    return made


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return path


def translations_file(path: Path, code: str) -> Path:
    """A user's first file."""
    rows = [(sentence.text, masculine) for sentence, masculine, _ in variants_of(code)]
    return write_csv(path, ["source", "translation"], rows)


def variants_file(path: Path, code: str) -> Path:
    """A user's second file."""
    rows = [(sentence.text_1_0, *texts) for sentence, *texts in variants_of(code)]
    return write_csv(path, ["source", "masculine", "feminine"], rows)
