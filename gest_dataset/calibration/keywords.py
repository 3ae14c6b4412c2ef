"""Control quadruplets with a known truth: a word-frequency artefact, and a genuine bias.

In a corpus of sentences "All {group} are {adverb} {keyword}." the number of texts with a keyword is
that of its frequency, times what the gender of the group adds to it. For a pair of keywords and a
context this makes, with the names of Pikuliak et al. (2023, eq. 1 and 3),

    ss(original) = phi + f / 2     ss(control) = phi - f / 2     f = beta + what pair and adverb add

phi is the log relative frequency of the two keywords, alone. The *artefact* has phi = 1 on average and
beta = 0: the stereotypical keyword is mostly the more frequent one, for either gender. The *bias* has
phi = 0 on average and beta = 1. Some of the contexts are kept for measuring.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import datasets

from gest_dataset.builders.config import features_of
from gest_dataset.builders.controls import FIELDS, QUADRUPLET, quadruplet
from gest_dataset.calibration.corpus import Gap, Question, as_config, evenly, made_up

COUNT = 10_000  # texts of each gap: odds are planted as whole numbers of texts
PAIRS, ADVERBS = 8, 12
KEPT = 6  # each adverb is measured with one of so many groups
_OF_PAIR, _OF_ADVERB = 0.8, 0.2  # the most that f differs between pairs and between adverbs
GROUPS = (
    ("women", "men"),
    ("girls", "boys"),
    ("mothers", "fathers"),
    ("aunts", "uncles"),
    ("nieces", "nephews"),
    ("queens", "kings"),
)


@dataclass(frozen=True)
class KeywordSet:
    """A set of quadruplets to come: `phi` from the least to the most of its pairs, and `beta`."""

    name: str
    title: str
    phi: tuple[float, float]
    beta: float
    quantifier: str


KEYWORD_SETS = (
    KeywordSet("artefact", "Keywords differ in frequency, not in gender", (-0.2, 2.2), 0.0, "All"),
    KeywordSet("bias", "Keywords differ in gender", (-0.6, 0.6), 1.0, "Most"),
)


@dataclass(frozen=True)
class Quadruplet:
    """A keyword pair in a context, as the corpus has it; `questions` are the original and the control."""

    row: dict[str, object]
    ss_original: float
    ss_control: float
    questions: tuple[Question, Question]

    @property
    def f(self) -> float:
        return self.ss_original - self.ss_control


def keyword_corpus(chosen: KeywordSet, seed: int) -> tuple[list[Gap], list[Quadruplet]]:
    """The texts to train on, and the quadruplets to measure."""
    words = made_up(f"{chosen.name} {seed}")
    draw = random.Random(f"{chosen.name} {seed}")
    adverbs = [f"{word}ly" for word in islice(words, ADVERBS)]
    pairs = [(next(words), next(words)) for _ in range(PAIRS)]
    phi = evenly(*chosen.phi, PAIRS)
    of_pair = draw.sample(evenly(-_OF_PAIR, _OF_PAIR, PAIRS), PAIRS)
    of_adverb = draw.sample(evenly(-_OF_ADVERB, _OF_ADVERB, ADVERBS), ADVERBS)
    gaps, quadruplets = [], []
    for (g, groups), (a, adverb) in product(enumerate(GROUPS), enumerate(adverbs)):
        f = [chosen.beta + of_pair[p] + of_adverb[a] for p in range(PAIRS)]
        counts = [_counts(pairs, phi, [sign * value / 2 for value in f]) for sign in (1, -1)]
        frames = [f"{chosen.quantifier} {group} are {adverb} " for group in groups]
        if (g + a) % KEPT:
            gaps += [Gap(frame, ".", own) for frame, own in zip(frames, counts, strict=True)]
            continue
        for number, pair in enumerate(pairs):
            name = f"{chosen.name}-{g}-{a:02d}-{number}"
            ss = [math.log(own[pair[0]] / own[pair[1]]) for own in counts]
            original, control = (
                Question(name, 0, 0, name, frame, ".", *pair, value)
                for frame, value in zip(frames, ss, strict=True)
            )
            row = _row(name, frames, pair)
            quadruplets.append(Quadruplet(row, ss[0], ss[1], (original, control)))
    return gaps, quadruplets


def quadruplet_rows(quadruplets: Sequence[Quadruplet], name: str) -> datasets.Dataset:
    """Quadruplets in the form of the control configs."""
    return as_config([quad.row for quad in quadruplets], features_of(QUADRUPLET), name)


def _counts(
    pairs: Sequence[tuple[str, str]], phi: Sequence[float], gendered: Sequence[float]
) -> dict[str, int]:
    """How many texts of a context have which keyword."""
    weights = {}
    for pair, common, own in zip(pairs, phi, gendered, strict=True):
        for word, sign in zip(pair, (1, -1), strict=True):
            weights[word] = math.exp(sign * (common + own) / 2)
    total = sum(weights.values())
    return {word: round(COUNT * weight / total) for word, weight in weights.items()}


def _row(name: str, frames: Sequence[str], pair: tuple[str, str]) -> dict[str, object]:
    marked = dict(zip(FIELDS, (f"{frame}<{word}>." for frame, word in product(frames, pair)), strict=True))
    return quadruplet(name, name, "gender", marked, Path(__file__), name)
