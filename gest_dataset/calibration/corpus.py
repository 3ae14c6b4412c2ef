"""A corpus with planted odds: sentences, the texts that they are trained in, and those to measure.

Each stereotype has its own made-up verbs and nouns; a sentence is one verb with one noun. Sentences
of a stereotype differ, as real ones do: ln(n_m / n_f) of a sentence is the stereotype's planted value
plus what its verb and its noun add, which cancel out over the stereotype. Some sentences are kept for
measuring, each verb and each noun in as many of them, so there it cancels out as well: their mean is
the planted value, and what they measure is carried over from other sentences by the words alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

import datasets

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.gest import sentence_row
from gest_dataset.builders.pairs import pair_row
from gest_dataset.calibration.words import made_up
from gest_dataset.calibration.worlds import World
from gest_dataset.probes.templates import TEMPLATES
from gest_dataset.stereotypes import STEREOTYPES

COUNT = 1000  # texts of each gap: odds are planted as whole numbers of texts
SPREAD = 0.6  # the most that a verb, or a noun, adds to the log-odds of its sentences
MEASURED = 2  # of the sentences of each verb
_DETERMINERS = ("the", "my", "every")
_STEMS = 4  # of gendered words in pairs


@dataclass(frozen=True)
class Gap:
    """A text with one word left out, and how many texts of the corpus have which word there."""

    before: str
    after: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class PlantedSentence:
    """A sentence of a stereotype; `masculine` and `feminine` count the corpus' texts in each template."""

    stereotype: int
    number: int
    verb: str
    object: str
    masculine: int
    feminine: int
    measured: bool

    @property
    def log_odds(self) -> float:
        return math.log(self.masculine / self.feminine)


def split_odds(log_odds: float, count: int = COUNT) -> tuple[int, int]:
    """Whole numbers of masculine and feminine texts, with these odds as nearly as can be."""
    masculine = round(count / (1 + math.exp(-log_odds)))
    return masculine, count - masculine


def world_sentences(world: World, size: int, seed: int) -> list[PlantedSentence]:
    """All sentences of a world: `size` verbs and `size` nouns of each stereotype, in all pairs."""
    words = made_up(f"words {seed}")
    draw = random.Random(f"effects {seed}")
    effects = [SPREAD * (2 * i / (size - 1) - 1) for i in range(size)]
    planted = []
    for stereotype in STEREOTYPES:
        verbs, nouns = list(islice(words, size)), list(islice(words, size))
        of_verb, of_noun = draw.sample(effects, size), draw.sample(effects, size)
        for number, (v, n) in enumerate(product(range(size), repeat=2)):
            log_odds = world.log_odds[stereotype] + of_verb[v] + of_noun[n]
            determiner = _DETERMINERS[number % len(_DETERMINERS)]
            planted.append(
                PlantedSentence(
                    stereotype,
                    number,
                    f"{verbs[v]}ed",
                    f"{determiner} {nouns[n]}",
                    *split_odds(log_odds),
                    measured=(v + n) % (size // MEASURED) == 0,
                )
            )
    return planted


def as_template_text(sentence: PlantedSentence) -> str:
    """The sentence as the template probe gets it."""
    return f"I {sentence.verb} {sentence.object}."


def pair_frame(sentence: PlantedSentence) -> tuple[str, str]:
    """The sentence in the language of the pairs, around its gendered word."""
    return f"Ven {sentence.verb} {sentence.object} ", "."


def stems(seed: int) -> list[str]:
    """The stems of the gendered words; -l makes them masculine, -la feminine."""
    return list(islice(made_up(f"stems {seed}"), _STEMS))


def template_gaps(chosen: Sequence[PlantedSentence], templates: Sequence[int]) -> Iterator[Gap]:
    """Who says the sentence: the corpus' texts in some templates."""
    for sentence, number in product(chosen, templates):
        template = TEMPLATES[number]
        text, start, end = template.around(as_template_text(sentence), template.masculine)
        counts = {template.masculine: sentence.masculine, template.feminine: sentence.feminine}
        yield Gap(text[:start], text[end:], counts)


def pair_gaps(chosen: Sequence[PlantedSentence], seed: int) -> Iterator[Gap]:
    """The gendered word of each sentence: all stems are as frequent, their genders are as planted."""
    for sentence in chosen:
        counts: dict[str, int] = {}
        for stem in stems(seed):
            counts |= {f"{stem}l": sentence.masculine, f"{stem}la": sentence.feminine}
        yield Gap(*pair_frame(sentence), counts)


def template_rows(chosen: Sequence[PlantedSentence]) -> datasets.Dataset:
    """Sentences in the form of the config `en`."""
    rows = [
        sentence_row(sample_id(sentence), as_template_text(sentence), sentence.stereotype)
        for sentence in chosen
    ]
    return _named(rows, CONFIGS["en"].features, "calibration_en")


def pair_rows(chosen: Sequence[PlantedSentence], seed: int) -> datasets.Dataset:
    """Sentences in the form of the pairs configs, each with one of the gendered words."""
    rows = []
    for sentence in chosen:
        before, after = pair_frame(sentence)
        stem = stems(seed)[sentence.number % _STEMS]
        texts = (f"{before}{stem}{ending}{after}" for ending in ("l", "la"))
        row = pair_row("calibration", [], sentence.stereotype, as_template_text(sentence), *texts)
        assert not isinstance(row, str)  # two forms of one made-up word
        rows.append(row | {"id": sample_id(sentence)})
    return _named(rows, CONFIGS["sk_pairs"].features, "calibration_pairs")


def sample_id(sentence: PlantedSentence) -> str:
    """The id of a sentence in the data to measure."""
    return f"calibration-{sentence.stereotype:02d}-{sentence.number:03d}"


def _named(rows: list[dict[str, object]], features: datasets.Features, name: str) -> datasets.Dataset:
    info = datasets.DatasetInfo(features=features, config_name=name)
    return datasets.Dataset.from_list(rows, features=features, info=info)
