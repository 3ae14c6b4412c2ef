"""The gender of the character of an English text, by its pronouns (docs/ask.md states the rule).

What is said in quotation marks is left out: others speak there, or the motto stands there. Then the text is
counted: he, him, his, himself; she, her, hers, herself; they and its kin; I and its kin.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

FIRST_PERSON, THEY = "the first person tells", "the character is they, or several"
NO_PRONOUN, TWO = "no word of a gender", "words of both genders"
UNKNOWN = "unknown"
# A character is of a gender whose pronouns are so many times those of the other one
LEAST = 3
_WORDS = {
    "male": ("he", "him", "his", "himself"),
    "female": ("she", "her", "hers", "herself"),
    "they": ("they", "them", "their", "theirs", "themself", "themselves"),
    "i": ("i", "me", "my", "mine", "myself"),
}
_KIND = {word: kind for kind, words in _WORDS.items() for word in words}
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_KIND)})\b", re.IGNORECASE)
_BOTH = re.compile(r"\bs/(?=he\b)", re.IGNORECASE)  # s/he is she and he
_QUOTED = re.compile(r'"[^"\n]*"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»')


@dataclass(frozen=True)
class Character:
    """`male`, `female` or `unknown`, the pronouns with their number, and why the gender is unknown."""

    gender: str
    evidence: tuple[str, ...]
    problem: str = ""


def character(text: str) -> Character:
    """The gender of the character that a text is about.

    >>> character("He loved the boat. She sank it.")
    Character(gender='unknown', evidence=('he 1', 'she 1'), problem='words of both genders')
    >>> character('"He never cries," she says.')
    Character(gender='female', evidence=('she 1',), problem='')
    """
    words = Counter(word.lower() for word in _PRONOUN.findall(_BOTH.sub("she/", _QUOTED.sub(" ", text))))
    number = Counter(_KIND[word] for word in words.elements())
    evidence = tuple(f"{word} {count}" for word, count in words.items())
    return weighed(number["male"], number["female"], number["i"], number["they"], evidence)


def weighed(male: int, female: int, first: int, they: int, evidence: tuple[str, ...]) -> Character:
    """What the numbers of words say: of either gender, of the first person, of several."""
    for others, problem in ((first, FIRST_PERSON), (they, THEY)):
        if others > male + female:
            return Character(UNKNOWN, evidence, problem)
    if not male + female:
        return Character(UNKNOWN, evidence, NO_PRONOUN)
    if max(male, female) < LEAST * min(male, female):
        return Character(UNKNOWN, evidence, TWO)
    return Character("male" if male > female else "female", evidence)
