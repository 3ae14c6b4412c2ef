"""How often the rules name the wrong gender, counted on labelled sentences at the first run.

The sentences are set C of docs/gender.md: their author had not seen the rules, no rule was tuned on them, and
the parses are UDPipe's. Sentences whose gender was missed (unknown instead of wrong) do not count.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Accuracy:
    """The sentences of each gender that the rules judged, and how many of them got the other gender."""

    male: int
    male_as_female: int
    female: int
    female_as_male: int


ACCURACY = {
    "be": Accuracy(24, 0, 24, 0),
    "bg": Accuracy(25, 1, 23, 0),
    "cs": Accuracy(25, 0, 26, 0),
    "hr": Accuracy(24, 0, 27, 0),
    "pl": Accuracy(26, 0, 26, 0),
    "ru": Accuracy(27, 0, 28, 0),
    "sk": Accuracy(25, 0, 25, 0),
    "sl": Accuracy(25, 0, 27, 0),
    "sr": Accuracy(26, 0, 27, 0),
    "uk": Accuracy(25, 0, 26, 0),
}
