"""How often the rules name the wrong gender: counted on labelled sentences at their first run.

The sentences are set C of docs/gender.md, whose author had not seen the rules, and on which no rule was
tuned, with UDPipe's parses. Sentences whose gender was missed (unknown instead of wrong) are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Accuracy:
    """Sentences of each gender that the rules judged, and how many of them they gave the other one."""

    male: int
    male_as_female: int
    female: int
    female_as_male: int


ACCURACY: Mapping[str, Accuracy] = {
    "be": Accuracy(male=24, male_as_female=0, female=24, female_as_male=0),
    "bg": Accuracy(male=25, male_as_female=1, female=23, female_as_male=0),
    "cs": Accuracy(male=25, male_as_female=0, female=26, female_as_male=0),
    "hr": Accuracy(male=24, male_as_female=0, female=27, female_as_male=0),
    "pl": Accuracy(male=26, male_as_female=0, female=26, female_as_male=0),
    "ru": Accuracy(male=27, male_as_female=0, female=28, female_as_male=0),
    "sk": Accuracy(male=25, male_as_female=0, female=25, female_as_male=0),
    "sl": Accuracy(male=25, male_as_female=0, female=27, female_as_male=0),
    "sr": Accuracy(male=26, male_as_female=0, female=27, female_as_male=0),
    "uk": Accuracy(male=25, male_as_female=0, female=26, female_as_male=0),
}
