"""Made-up words, so that no planted odds are ever read as a statement about people."""

from __future__ import annotations

import random
from collections.abc import Iterator

_ONSETS = (*"bdfgklmnprstvz", "br", "dr", "fl", "gl", "kl", "pr", "st", "tr")
_VOWELS = "aeiou"


def made_up(seed: str) -> Iterator[str]:
    """Words of three syllables, no two of them alike: always the same ones for a seed."""
    draw = random.Random(seed)
    seen: set[str] = set()
    while True:
        word = "".join(draw.choice(_ONSETS) + draw.choice(_VOWELS) for _ in range(3))
        if word not in seen:
            seen.add(word)
            yield word
