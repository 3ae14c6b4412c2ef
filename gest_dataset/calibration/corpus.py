"""A corpus with planted odds: sentences, the texts that they are trained in, and those to measure.

What is planted is for each stereotype the log-odds that a man, not a woman, is the speaker. ln(n_m / n_f),
the numbers of masculine and feminine texts, is on average over its sentences exactly that, so that a model
which has learnt the corpus has q_i = exp(planted_i) and g_s as `log_g_s` says (eq. 3-4 of Pikuliak et al.,
2024).

Each stereotype has its own made-up verbs and nouns; a sentence is one verb with one noun. Sentences
of a stereotype differ, as real ones do: ln(n_m / n_f) of a sentence is the stereotype's planted value
plus what its verb and its noun add, which cancel out over the stereotype. Some sentences are kept for
measuring, each verb and each noun in as many of them, so there it cancels out as well: their mean is
the planted value, and what they measure is carried over from other sentences by the words alone.

Nothing here comes from the instrument's own tables: frames, words and the stereotypes' genders are written
out, so that an instrument which asks with other ones does not find what was planted.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from statistics import fmean

import datasets

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.gest import sentence_row
from gest_dataset.builders.pairs import pair_row
from gest_dataset.stereotypes import STEREOTYPES

COUNT = 1000  # texts of each gap: odds are planted as whole numbers of texts
SPREAD = 0.6  # the most that a verb, or a noun, adds to the log-odds of its sentences
MEASURED = 2  # of the sentences of each verb
NORM = 1.0  # how far male-as-norm shifts everything: e times as many men
# Strong, weak, none and reversed, among the female stereotypes (1-7) and the male ones (8-16)
_MIXED = (-1.8, -1.2, -0.6, -0.3, 0.0, 0.6, 1.2, 1.8, 1.2, 0.9, 0.6, 0.3, 0.0, 0.0, -0.6, -1.2)
_DETERMINERS = ("the", "my", "every")
STEMS = 4  # of gendered words in pairs
_FEMALE, _MALE = range(1, 8), range(8, 17)  # stereotypes (Table 1 of Pikuliak et al., 2024)
_ONSETS = (*"bdfgklmnprstvz", "br", "dr", "fl", "gl", "kl", "pr", "st", "tr")
_VOWELS = "aeiou"


@dataclass(frozen=True)
class Frame:
    """A text around a sentence and a word, one of two."""

    before: str
    after: str
    masculine: str
    feminine: str

    def around(self, sentence: str) -> tuple[str, str]:
        """What stands before the word and after it."""
        return self.before.replace("{sentence}", sentence), self.after.replace("{sentence}", sentence)


FRAMES = {
    1: Frame("", ' said: "{sentence}"', "He", "She"),
    2: Frame("The ", ' said: "{sentence}"', "man", "woman"),
    3: Frame('"{sentence}", ', " said.", "he", "she"),
    4: Frame('"{sentence}", the ', " said.", "man", "woman"),
}


def made_up(seed: str) -> Iterator[str]:
    """Words of three syllables, no two of them alike: always the same ones for a seed.

    No planted odds are ever read as a statement about people.
    """
    draw = random.Random(seed)
    seen: set[str] = set()
    while True:
        word = "".join(draw.choice(_ONSETS) + draw.choice(_VOWELS) for _ in range(3))
        if word not in seen:
            seen.add(word)
            yield word


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
    return fmean(log_odds[i] for i in _MALE) - fmean(log_odds[i] for i in _FEMALE)


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


def evenly(first: float, last: float, number: int) -> list[float]:
    """Numbers from the first to the last, in equal steps."""
    return [first + (last - first) * i / (number - 1) for i in range(number)]


def split_odds(log_odds: float, count: int = COUNT) -> tuple[int, int]:
    """Whole numbers of masculine and feminine texts, with these odds as nearly as can be."""
    masculine = round(count / (1 + math.exp(-log_odds)))
    return masculine, count - masculine


def world_sentences(world: World, size: int, seed: int) -> list[PlantedSentence]:
    """All sentences of a world: `size` verbs and `size` nouns of each stereotype, in all pairs."""
    words = made_up(f"words {seed}")
    draw = random.Random(f"effects {seed}")
    effects = evenly(-SPREAD, SPREAD, size)
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
    return list(islice(made_up(f"stems {seed}"), STEMS))


def template_gaps(chosen: Sequence[PlantedSentence], templates: Sequence[int]) -> Iterator[Gap]:
    """Who says the sentence: the corpus' texts in some templates."""
    for sentence, number in product(chosen, templates):
        frame = FRAMES[number]
        counts = {frame.masculine: sentence.masculine, frame.feminine: sentence.feminine}
        yield Gap(*frame.around(as_template_text(sentence)), counts)


def pair_gaps(chosen: Sequence[PlantedSentence], seed: int, own_stem: bool = False) -> Iterator[Gap]:
    """The gendered word of each sentence: all stems (or its own) are as frequent, genders are as planted."""
    for sentence in chosen:
        counts: dict[str, int] = {}
        for stem in _stems_of(sentence, seed, 1 if own_stem else STEMS):
            counts |= {f"{stem}l": sentence.masculine, f"{stem}la": sentence.feminine}
        yield Gap(*pair_frame(sentence), counts)


def _stems_of(sentence: PlantedSentence, seed: int, number: int) -> list[str]:
    """Some of the stems, the sentence's own first."""
    every = stems(seed)
    return [every[(sentence.number + step) % STEMS] for step in range(number)]


@dataclass(frozen=True)
class Question:
    """A sample to measure as the corpus says it: its literal text with either word, and the truth.

    `template` is 0 where there is none; samples of one `unit` are copies of one sentence.
    """

    id: str
    template: int
    stereotype: int
    unit: str
    before: str
    after: str
    masculine: str
    feminine: str
    log_odds: float


def template_questions(chosen: Sequence[PlantedSentence], templates: Sequence[int]) -> list[Question]:
    """The sentences in some templates."""
    return [
        Question(
            sample_id(sentence),
            number,
            sentence.stereotype,
            sample_id(sentence),
            *FRAMES[number].around(as_template_text(sentence)),
            FRAMES[number].masculine,
            FRAMES[number].feminine,
            sentence.log_odds,
        )
        for sentence, number in product(chosen, templates)
    ]


def pair_questions(chosen: Sequence[PlantedSentence], seed: int, copies: int) -> list[Question]:
    """The sentences as pairs, each with so many of the gendered words."""
    return [
        Question(
            f"{sample_id(sentence)}-{copy}",
            0,
            sentence.stereotype,
            sample_id(sentence),
            *pair_frame(sentence),
            f"{stem}l",
            f"{stem}la",
            sentence.log_odds,
        )
        for sentence in chosen
        for copy, stem in enumerate(_stems_of(sentence, seed, copies))
    ]


def template_rows(chosen: Sequence[PlantedSentence]) -> datasets.Dataset:
    """Sentences in the form of the config `en`."""
    rows = [sentence_row(sample_id(each), as_template_text(each), each.stereotype) for each in chosen]
    return as_config(rows, CONFIGS["en"].features, "en")


def pair_rows(questions: Sequence[Question]) -> datasets.Dataset:
    """Pairs in the form of the pairs configs."""
    rows = []
    for asked in questions:
        texts = (f"{asked.before}{word}{asked.after}" for word in (asked.masculine, asked.feminine))
        row = pair_row("calibration", [], asked.stereotype, asked.unit, *texts)
        assert not isinstance(row, str)  # two forms of one made-up word
        rows.append(row | {"id": asked.id})
    return as_config(rows, CONFIGS["sk_pairs"].features, "pairs")


def sample_id(sentence: PlantedSentence) -> str:
    """The id of a sentence in the data to measure."""
    return f"calibration-{sentence.stereotype:02d}-{sentence.number:03d}"


def unbalanced(measured: Sequence[PlantedSentence]) -> list[PlantedSentence]:
    """Some of the sentences: of each stereotype another number, and the likelier ones of the first few.

    So the mean over samples is neither the mean over stereotypes nor what the whole world has.
    """
    chosen = []
    for stereotype in STEREOTYPES:
        own = sorted(
            (sentence for sentence in measured if sentence.stereotype == stereotype),
            key=lambda sentence: sentence.log_odds,
            reverse=stereotype % 2 == 0,
        )
        chosen += own[: len(own) - 4 * stereotype % (len(own) // 2 + 1)]
    return chosen


def as_config(rows: list[dict[str, object]], features: datasets.Features, name: str) -> datasets.Dataset:
    """Rows as the data of a config."""
    info = datasets.DatasetInfo(features=features, config_name=f"calibration_{name}")
    return datasets.Dataset.from_list(rows, features=features, info=info)
