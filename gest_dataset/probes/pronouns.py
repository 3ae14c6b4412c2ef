"""The gender of the character of an English text, by its pronouns (docs/ask.md states the rule).

Text in quotation marks is left out: there others speak, or the motto is quoted.
"""

import re
from collections import Counter
from pathlib import Path

from gest_dataset.probes.prompts import Reading
from gest_dataset.storage import read_yaml

FIRST_PERSON, THEY = "told in the first person", "the character is *they*, or there are several"
NO_PRONOUN, TWO = "no gendered word", "words of both genders"
UNKNOWN = "unknown"
MIN_RATIO = 3  # a gender wins with this many times the pronouns of the other one
_WORDS: dict[str, list[str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
_GROUPS = {word: group for group, words in _WORDS.items() for word in words}
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_GROUPS)})\b", re.IGNORECASE)
_BOTH = re.compile(r"\bs/(?=he\b)", re.IGNORECASE)  # s/he is she and he
_QUOTED = re.compile(r'"[^"\n]*"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»')


def character(text: str) -> Reading:
    """The gender of the character that a text is about, and the words that show it with their counts.

    >>> character("He loved the boat. She sank it.").problem
    'words of both genders'
    >>> character('"He never cries," she says.').evidence
    ('she 1',)
    """
    words = Counter(word.lower() for word in _PRONOUN.findall(_BOTH.sub("she/", _QUOTED.sub(" ", text))))
    counts = Counter(_GROUPS[word] for word in words.elements())
    evidence = tuple(f"{word} {count}" for word, count in words.items())
    return decide(counts["male"], counts["female"], counts["i"], counts["they"], evidence)


def decide(male: int, female: int, first: int, they: int, evidence: tuple[str, ...]) -> Reading:
    """The gender that the numbers of words of each gender, of the first person and of *they* show."""
    for count, problem in ((first, FIRST_PERSON), (they, THEY)):
        if count > male + female:
            return Reading(UNKNOWN, problem=problem, evidence=evidence)
    if not male + female:
        return Reading(UNKNOWN, problem=NO_PRONOUN, evidence=evidence)
    if max(male, female) < MIN_RATIO * min(male, female):
        return Reading(UNKNOWN, problem=TWO, evidence=evidence)
    return Reading("male" if male > female else "female", evidence=evidence)
