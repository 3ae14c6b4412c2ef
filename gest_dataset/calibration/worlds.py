"""What is planted: for each stereotype the log-odds that a man, not a woman, is the speaker.

A world is a corpus to come. In it ln(n_m / n_f), the numbers of masculine and feminine texts, is on
average over the sentences of stereotype i exactly its planted log-odds, so that a model which has
learnt the corpus has q_i = exp(planted_i) and g_s as `planted_g_s` says (eq. 3-4 of Pikuliak et al.,
2024).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gest_dataset.statistics.weights import gender_means
from gest_dataset.stereotypes import STEREOTYPES

# Strong, weak, none and reversed, among the female stereotypes (1-7) and the male ones (8-16)
_MIXED = (-1.8, -1.2, -0.6, -0.3, 0.0, 0.6, 1.2, 1.8, 1.2, 0.9, 0.6, 0.3, 0.0, 0.0, -0.6, -1.2)
NORM = 1.0  # how far male-as-norm shifts everything: e times as many men


@dataclass(frozen=True)
class World:
    """A corpus to come: its name, and the planted log-odds by stereotype."""

    name: str
    title: str
    log_odds: Mapping[int, float]


WORLDS = {
    world.name: world
    for world in (
        World("planted", "Planted stereotypes", dict(zip(STEREOTYPES, _MIXED, strict=True))),
        World("null", "Nothing planted", dict.fromkeys(STEREOTYPES, 0.0)),
        World("norm", "Male as norm, no stereotypes", dict.fromkeys(STEREOTYPES, NORM)),
    )
}


def strength(stereotype: int, log_odds: float) -> str:
    """In words what is planted: odds of 2.5 and more are strong."""
    if log_odds == 0:
        return "none"
    if (log_odds > 0) != (STEREOTYPES[stereotype].gender == "male"):
        return "reversed"
    return "strong" if abs(log_odds) >= math.log(2.5) else "weak"


def log_g_s(log_odds: Mapping[int, float]) -> float:
    """ln g_s of log-odds by stereotype: the mean of the male ones minus that of the female ones."""
    female, male = gender_means([log_odds[i] for i in STEREOTYPES])
    return male - female
