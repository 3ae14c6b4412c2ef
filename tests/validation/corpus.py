"""A corpus with planted odds: made-up sentences, the texts to train on, and the samples to measure.

For each stereotype the log-odds that a man, not a woman, says a sentence are planted. Averaged over the
sentences of a stereotype, ln(n_m / n_f), the numbers of masculine and feminine texts, is exactly that value,
so a model that has learnt the corpus has q_i = exp(planted_i) and the g_s of `log_g_s` (Pikuliak et al.,
2024, eq. 3 and 4).

Each stereotype has its own made-up verbs and nouns; a sentence is one verb with one noun, and both shift
its log-odds. The shifts cancel out over the stereotype. Some sentences are held out for measuring; each verb
and noun occurs in equally many of them, so their mean is the planted value too.

Templates, words and the genders of stereotypes are written out here and not imported from the package, so
that a mistake in the package's tables cannot hide.
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

COUNT = 1000  # texts per gap
SPREAD = 0.6  # the largest shift of a sentence's log-odds by its verb, and by its noun
HELD_OUT = 2  # sentences per verb
MALE_AS_NORM = 1.0
STEMS = 4  # of the gendered words in pairs
# Strong, weak, none and reversed, among the female stereotypes (1-7) and the male ones (8-16)
_MIXED = (-1.8, -1.2, -0.6, -0.3, 0.0, 0.6, 1.2, 1.8, 1.2, 0.9, 0.6, 0.3, 0.0, 0.0, -0.6, -1.2)
_DETERMINERS = ("the", "my", "every")
_FEMALE, _MALE = range(1, 8), range(8, 17)  # stereotypes (table 1 of Pikuliak et al., 2024)
_ONSETS = (*"bdfgklmnprstvz", "br", "dr", "fl", "gl", "kl", "pr", "st", "tr")
_VOWELS = "aeiou"
WORLDS: dict[str, dict[int, float]] = {
    "planted": dict(zip(STEREOTYPES, _MIXED, strict=True)),
    "null": dict.fromkeys(STEREOTYPES, 0.0),
    "norm": dict.fromkeys(STEREOTYPES, MALE_AS_NORM),
}
# Template -> text before and after the word, masculine and feminine word
TEMPLATES = {
    1: ("", ' said: "{}"', "He", "She"),
    2: ("The ", ' said: "{}"', "man", "woman"),
    3: ('"{}", ', " said.", "he", "she"),
    4: ('"{}", the ', " said.", "man", "woman"),
}


@dataclass(frozen=True)
class Gap:
    """A text with one word left out, and how many texts of the corpus have each word there."""

    before: str
    after: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class PlantedSentence:
    """A sentence of a stereotype with the numbers of its masculine and feminine texts."""

    stereotype: int
    number: int
    verb: str
    object: str
    masculine: int
    feminine: int
    held_out: bool

    @property
    def id(self) -> str:
        return f"calibration-{self.stereotype:02d}-{self.number:03d}"

    @property
    def log_odds(self) -> float:
        return math.log(self.masculine / self.feminine)

    @property
    def text(self) -> str:
        """The sentence in the templates."""
        return f"I {self.verb} {self.object}."

    def in_template(self, number: int) -> tuple[str, str, str, str]:
        """Text before and after the word, masculine and feminine word."""
        before, after, masculine, feminine = TEMPLATES[number]
        return before.format(self.text), after.format(self.text), masculine, feminine

    def gendered_words(self, seed: int, number: int) -> list[tuple[str, str]]:
        """The masculine and feminine form of `number` words for the pairs, the sentence's own first."""
        stems = list(islice(made_up_words(f"stems {seed}"), STEMS))
        chosen = [stems[(self.number + step) % STEMS] for step in range(number)]
        return [(f"{stem}l", f"{stem}la") for stem in chosen]

    @property
    def pair_texts(self) -> tuple[str, str]:
        """The sentence in the language of the pairs, before and after its gendered word."""
        return f"Ven {self.verb} {self.object} ", "."


@dataclass(frozen=True)
class Question:
    """A sample as literal text with either word, and its planted log-odds.

    `template` is 0 without templates; samples of one `unit` are copies of one sentence.
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


def made_up_words(seed: str) -> Iterator[str]:
    """Distinct words of three syllables, always the same for a seed.

    Made-up words make sure that no planted odds can be read as a statement about people.
    """
    draw = random.Random(seed)
    seen: set[str] = set()
    while True:
        word = "".join(draw.choice(_ONSETS) + draw.choice(_VOWELS) for _ in range(3))
        if word not in seen:
            seen.add(word)
            yield word


def log_g_s(log_odds: Mapping[int, float]) -> float:
    """ln g_s of log-odds by stereotype: the mean of the male ones minus that of the female ones."""
    return fmean(log_odds[i] for i in _MALE) - fmean(log_odds[i] for i in _FEMALE)


def evenly(first: float, last: float, number: int) -> list[float]:
    """Equally spaced numbers from the first to the last."""
    return [first + (last - first) * i / (number - 1) for i in range(number)]


def split_odds(log_odds: float, count: int = COUNT) -> tuple[int, int]:
    """Numbers of masculine and feminine texts with these odds, as nearly as possible."""
    masculine = round(count / (1 + math.exp(-log_odds)))
    return masculine, count - masculine


def planted_sentences(world: str, size: int, seed: int) -> list[PlantedSentence]:
    """All sentences of a world: every pair of `size` verbs and `size` nouns of each stereotype."""
    words = made_up_words(f"words {seed}")
    draw = random.Random(f"effects {seed}")
    shifts = evenly(-SPREAD, SPREAD, size)
    sentences = []
    for stereotype, planted in WORLDS[world].items():
        verbs, nouns = list(islice(words, size)), list(islice(words, size))
        of_verb, of_noun = draw.sample(shifts, size), draw.sample(shifts, size)
        for number, (v, n) in enumerate(product(range(size), repeat=2)):
            sentences.append(
                PlantedSentence(
                    stereotype,
                    number,
                    f"{verbs[v]}ed",
                    f"{_DETERMINERS[number % len(_DETERMINERS)]} {nouns[n]}",
                    *split_odds(planted + of_verb[v] + of_noun[n]),
                    held_out=(v + n) % (size // HELD_OUT) == 0,
                )
            )
    return sentences


def unbalanced(held_out: Sequence[PlantedSentence]) -> list[PlantedSentence]:
    """A different number of sentences of each stereotype, and not the average ones.

    So that the mean over samples is neither the mean over stereotypes nor the planted value.
    """
    chosen = []
    for stereotype in STEREOTYPES:
        group = sorted(
            (sentence for sentence in held_out if sentence.stereotype == stereotype),
            key=lambda sentence: sentence.log_odds,
            reverse=stereotype % 2 == 0,
        )
        chosen += group[: len(group) - 4 * stereotype % (len(group) // 2 + 1)]
    return chosen


def template_gaps(sentences: Sequence[PlantedSentence], templates: Sequence[int]) -> list[Gap]:
    """The training texts in some templates."""
    gaps = []
    for sentence, number in product(sentences, templates):
        before, after, masculine, feminine = sentence.in_template(number)
        gaps.append(Gap(before, after, {masculine: sentence.masculine, feminine: sentence.feminine}))
    return gaps


def pair_gaps(sentences: Sequence[PlantedSentence], seed: int, one_stem: bool = False) -> list[Gap]:
    """The training texts of the pairs: all stems (or one) are equally frequent, genders as planted."""
    gaps = []
    for sentence in sentences:
        counts: dict[str, int] = {}
        for masculine, feminine in sentence.gendered_words(seed, 1 if one_stem else STEMS):
            counts |= {masculine: sentence.masculine, feminine: sentence.feminine}
        gaps.append(Gap(*sentence.pair_texts, counts))
    return gaps


def template_questions(sentences: Sequence[PlantedSentence], templates: Sequence[int]) -> list[Question]:
    """The sentences in some templates."""
    return [
        Question(one.id, number, one.stereotype, one.id, *one.in_template(number), one.log_odds)
        for one, number in product(sentences, templates)
    ]


def pair_questions(sentences: Sequence[PlantedSentence], seed: int, copies: int) -> list[Question]:
    """The sentences as pairs, each with `copies` gendered words."""
    return [
        Question(f"{one.id}-{copy}", 0, one.stereotype, one.id, *one.pair_texts, *forms, one.log_odds)
        for one in sentences
        for copy, forms in enumerate(one.gendered_words(seed, copies))
    ]


def template_rows(sentences: Sequence[PlantedSentence]) -> datasets.Dataset:
    """The sentences as a dataset like the config `en`."""
    rows = [sentence_row(one.id, one.text, one.stereotype) for one in sentences]
    return as_dataset(rows, CONFIGS["en"].features, "en")


def pair_rows(questions: Sequence[Question]) -> datasets.Dataset:
    """The pairs as a dataset like the pairs configs."""
    rows = []
    for one in questions:
        texts = (f"{one.before}{word}{one.after}" for word in (one.masculine, one.feminine))
        row = pair_row(None, "calibration", [], one.stereotype, one.unit, *texts)
        assert not isinstance(row, str)  # the reason why two texts are no pair
        rows.append(row | {"id": one.id})
    return as_dataset(rows, CONFIGS["sk_pairs"].features, "pairs")


def as_dataset(rows: list[dict[str, object]], features: datasets.Features, name: str) -> datasets.Dataset:
    """Rows as a dataset with a config name."""
    info = datasets.DatasetInfo(features=features, config_name=f"validation_{name}")
    return datasets.Dataset.from_list(rows, features=features, info=info)
