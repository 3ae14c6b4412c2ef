"""Placebo words: words that do not differ in gender and fit into the slots of templates (`placebo.yaml`).

Their contrasts show how far a model moves words between stereotypes for reasons other than gender
(`statistics.placebo`). The lists are sorted by frequency, so that neighbours are equally frequent.
"""

from collections.abc import Callable
from pathlib import Path

import yaml

from gest_dataset.probes.queries import Placebo

WORDS: dict[str, list[str]] = yaml.safe_load(
    Path(__file__).with_name("placebo.yaml").read_text(encoding="utf-8")
)
CLASSES = {"names": ("male_names", "female_names"), "nouns": ("roles", "male_nouns", "female_nouns")}
LEAST_PAIRS = 40  # fewer have no reliable 95 % quantile
_ENOUGH_PAIRS, _LARGEST_DISTANCE = 200, 5


def find_pairs(kind: str, token: Callable[[str], int | None]) -> Placebo | None:
    """Pairs of neighbours in the lists of a kind, among the words with a `token`; None if they are too few.

    Neighbours at distance 1 and 2 are paired, and more distant ones while there are too few pairs.
    """
    lists = []
    indices: dict[int, int] = {}
    for name in CLASSES[kind]:
        ids = dict.fromkeys(filter(None, map(token, WORDS[name])))
        lists.append([indices.setdefault(number, len(indices)) for number in ids if number not in indices])
    pairs: list[tuple[int, int]] = []
    for distance in range(1, _LARGEST_DISTANCE + 1):
        if distance <= 2 or len(pairs) < _ENOUGH_PAIRS:
            pairs += [pair for words in lists for pair in zip(words, words[distance:], strict=False)]
    return Placebo(tuple(indices), tuple(pairs)) if len(pairs) >= LEAST_PAIRS else None
