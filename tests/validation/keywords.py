"""Control quadruplets with a known truth: a word-frequency artefact, and a genuine bias.

In a corpus of sentences "All {group} are {adverb} {keyword}." the number of texts with a keyword is its
frequency times an effect of the group's gender. For a keyword pair and a context (Pikuliak et al., 2023,
eq. 1 and 3)

    ss(original) = phi + f / 2     ss(control) = phi - f / 2     f = beta + shifts of pair and adverb

phi is the log relative frequency of the two keywords. The *artefact* has phi = 1 on average and beta = 0:
the stereotypical keyword is the more frequent one for either gender. The *bias* has phi = 0 on average and
beta = 1. Some contexts are held out for measuring.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import datasets

from gest_dataset.builders.config import KIND_FIELDS, features_of
from gest_dataset.builders.controls import FIELDS, quadruplet
from tests.validation.corpus import Gap, Question, as_dataset, evenly, made_up_words

COUNT = 10_000  # texts per gap
PAIRS, ADVERBS = 8, 12
HELD_OUT = 6  # each adverb is measured with one in so many groups
_PAIR_SHIFT, _ADVERB_SHIFT = 0.8, 0.2  # the largest shifts of f
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
    """A set of quadruplets: the range of `phi` over its pairs, `beta`, and the word before the group."""

    name: str
    phi: tuple[float, float]
    beta: float
    quantifier: str


KEYWORD_SETS = (KeywordSet("artefact", (-0.2, 2.2), 0.0, "All"), KeywordSet("bias", (-0.6, 0.6), 1.0, "Most"))


@dataclass(frozen=True)
class Quadruplet:
    """A keyword pair in a context; `questions` are the original and the control."""

    row: dict[str, object]
    ss_original: float
    ss_control: float
    questions: tuple[Question, Question]

    @property
    def f(self) -> float:
        return self.ss_original - self.ss_control


def keyword_corpus(keyword_set: KeywordSet, seed: int) -> tuple[list[Gap], list[Quadruplet]]:
    """The texts to train on, and the quadruplets to measure."""
    words = made_up_words(f"{keyword_set.name} {seed}")
    draw = random.Random(f"{keyword_set.name} {seed}")
    adverbs = [f"{word}ly" for word in islice(words, ADVERBS)]
    pairs = [(next(words), next(words)) for _ in range(PAIRS)]
    phi = evenly(*keyword_set.phi, PAIRS)
    of_pair = draw.sample(evenly(-_PAIR_SHIFT, _PAIR_SHIFT, PAIRS), PAIRS)
    of_adverb = draw.sample(evenly(-_ADVERB_SHIFT, _ADVERB_SHIFT, ADVERBS), ADVERBS)
    gaps, quadruplets = [], []
    for (g, groups), (a, adverb) in product(enumerate(GROUPS), enumerate(adverbs)):
        f = [keyword_set.beta + of_pair[p] + of_adverb[a] for p in range(PAIRS)]
        counts = [_counts(pairs, phi, [sign * value / 2 for value in f]) for sign in (1, -1)]
        frames = [f"{keyword_set.quantifier} {group} are {adverb} " for group in groups]
        if (g + a) % HELD_OUT:
            gaps += [Gap(frame, ".", words) for frame, words in zip(frames, counts, strict=True)]
            continue
        for number, pair in enumerate(pairs):
            name = f"{keyword_set.name}-{g}-{a:02d}-{number}"
            ss = [math.log(words[pair[0]] / words[pair[1]]) for words in counts]
            original, control = (
                Question(name, 0, 0, name, frame, ".", *pair, value)
                for frame, value in zip(frames, ss, strict=True)
            )
            marked = [f"{frame}<{word}>." for frame, word in product(frames, pair)]
            row = quadruplet(
                name, name, "gender", dict(zip(FIELDS, marked, strict=True)), Path(__file__), name
            )
            quadruplets.append(Quadruplet(row, ss[0], ss[1], (original, control)))
    return gaps, quadruplets


def quadruplet_rows(quadruplets: Sequence[Quadruplet], name: str) -> datasets.Dataset:
    """The quadruplets as a dataset like the control configs."""
    return as_dataset([quad.row for quad in quadruplets], features_of(KIND_FIELDS["quadruplets"]), name)


def _counts(
    pairs: Sequence[tuple[str, str]], phi: Sequence[float], gender_effect: Sequence[float]
) -> dict[str, int]:
    """How many texts of a context have each keyword."""
    weights = {}
    for pair, common, effect in zip(pairs, phi, gender_effect, strict=True):
        for word, sign in zip(pair, (1, -1), strict=True):
            weights[word] = math.exp(sign * (common + effect) / 2)
    total = sum(weights.values())
    return {word: round(COUNT * weight / total) for word, weight in weights.items()}
