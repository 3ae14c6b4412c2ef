"""How often the rules name the wrong gender, counted on labelled sentences at the first run.

The sentences are set C of docs/gender.md: their author had not seen the rules, no rule was tuned on them, and
the parses are UDPipe's. Sentences whose gender was missed (unknown instead of wrong) do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Accuracy:
    """The sentences of each gender that the rules judged, and how many of them got the other gender."""

    male: int
    male_as_female: int
    female: int
    female_as_male: int


_COUNTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
ACCURACY = {language: Accuracy(*counts) for language, counts in _COUNTS.items()}
