"""Gender-swapped pairs: one translation in both grammatical genders, one word apart.

The rules are section 4.3 of Pikuliak et al. (2024): the two variants differ in exactly one word,
and the two forms of that word start with the same letter. Their accuracy is in its Table 5.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from datasets import List, Value

from gest_dataset.builders.config import STEREOTYPE, STEREOTYPE_GENDER, Config, Dropped, Field, Files, Row
from gest_dataset.builders.families import PAIRS
from gest_dataset.builders.gest import DATA
from gest_dataset.builders.reading import filled, one_of, read_csv, stereotype_id
from gest_dataset.builders.translations import SYSTEM
from gest_dataset.builders.words import composed, core, differing_words, same
from gest_dataset.languages import LANGUAGES, SLAVIC
from gest_dataset.stereotypes import STEREOTYPES

VARIANTS = f"{DATA}/gender_variants.csv"
_COLUMNS = ("translator", "language", "original", "stereotype", "male", "female")
_TRANSLATORS = {"AmazonTranslate": "amazon", "DeepL": "deepl", "GoogleTranslate": "google", "NLLB": "nllb"}

# Why two sentences are no pair, in the order in which the rules are applied
SAME = "the variants are the same"
WORD_COUNT = "another number of words"
SEVERAL_WORDS = "more than one word differs"
PUNCTUATION = "only punctuation differs"
FIRST_LETTER = "another first letter"
RULES = (SAME, WORD_COUNT, SEVERAL_WORDS, PUNCTUATION, FIRST_LETTER)
MERGED = "merged with the same pair"


@dataclass(frozen=True)
class WordDifference:
    """The one word that differs: its place among the words, and its two forms."""

    word_index: int
    masculine_word: str
    feminine_word: str


def differing_word(masculine: str, feminine: str, first_letter: bool = True) -> WordDifference | str:
    """The one differing word of two variants, or the rule that the two break.

    Words are separated by white space; the forms are reported without punctuation around them. The rule of
    the first letter is for languages whose endings show the gender, as those of the paper: elsewhere the
    one word may be an article or a pronoun (*el, la*).

    >>> differing_word("Som emotívny.", "Som emotívna.")
    WordDifference(word_index=1, masculine_word='emotívny', feminine_word='emotívna')
    >>> differing_word("Bol som rád.", "Chcela som rád.")
    'another first letter'
    """
    differing = differing_words(masculine, feminine)
    if differing is None:
        return WORD_COUNT
    if len(differing) != 1:
        return SEVERAL_WORDS if differing else SAME
    (index,) = differing
    masculine_word, feminine_word = core(masculine, index), core(feminine, index)
    if same(masculine_word, feminine_word):
        return PUNCTUATION
    if first_letter and composed(masculine_word)[:1] != composed(feminine_word)[:1]:
        return FIRST_LETTER
    return WordDifference(index, masculine_word, feminine_word)


def pair_id(language: str, stereotype: int, source: str, masculine: str, feminine: str) -> str:
    """An id that depends on the pair alone, so that new pairs never renumber old ones."""
    text = "\n".join((str(stereotype), source, masculine, feminine))
    return f"{language}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def pair_row(
    language: str,
    systems: Sequence[str],
    stereotype: int,
    source: str,
    masculine: str,
    feminine: str,
    *,
    first_letter: bool = True,
) -> Row | str:
    """A row of FIELDS, or the rule that the two variants break."""
    difference = differing_word(masculine, feminine, first_letter)
    if isinstance(difference, str):
        return difference
    return {
        "id": pair_id(language, stereotype, source, masculine, feminine),
        "systems": systems,
        "source": source,
        "masculine": masculine,
        "feminine": feminine,
        "masculine_word": difference.masculine_word,
        "feminine_word": difference.feminine_word,
        "word_index": difference.word_index,
        "stereotype": stereotype,
        "gender": STEREOTYPES[stereotype].gender,
    }


def read_pairs(language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """The pairs of one language, the same pair of several systems merged into one row."""
    path = files[VARIANTS]
    pairs: dict[str, Row] = {}
    for line, cells in read_csv(path, _COLUMNS):
        one_of(cells["language"], list(LANGUAGES), "language", path, line)
        translator = one_of(cells["translator"], list(_TRANSLATORS), "translator", path, line)
        stereotype = stereotype_id(cells["stereotype"], path, line)
        source, masculine, feminine = (
            filled(cells[name], name, path, line) for name in ("original", "male", "female")
        )
        if cells["language"] != language:
            continue
        system = _TRANSLATORS[translator]
        row = pair_row(language, [system], stereotype, source, masculine, feminine)
        if isinstance(row, str):
            dropped[row] += 1
        elif row["id"] in pairs:
            dropped[MERGED] += 1
            pairs[row["id"]]["systems"] = sorted({*pairs[row["id"]]["systems"], system})
        else:
            pairs[row["id"]] = row
    yield from pairs.values()


FIELDS = {
    "id": Field("the language and a digest of the pair's texts: new pairs never renumber old ones"),
    "systems": Field("the translators that gave this pair", List(SYSTEM)),
    "source": Field("the English sentence"),
    "masculine": Field("the translation as a man would say it"),
    "feminine": Field("the same as a woman would say it"),
    "masculine_word": Field("the one word that differs, without punctuation around it"),
    "feminine_word": Field("its feminine form"),
    "word_index": Field("its place among the words, from 0; white space separates words", Value("int32")),
    "stereotype": STEREOTYPE,
    "gender": STEREOTYPE_GENDER,
}

# Table 7 of the paper: the most that a language can have, before pairs of several systems become one
YIELDS = json.loads(Path(__file__).with_name("pair_yields.json").read_text(encoding="utf-8"))


def _config(language: str) -> Config:
    told = f"Gender-swapped pairs in {LANGUAGES[language].name}, one word apart"
    rows = sum(pairs.get(language, 0) for pairs in YIELDS["pairs_per_system_language"].values())
    spoken, read = (language, "en"), partial(read_pairs, language)
    return Config(f"{language}_pairs", PAIRS, told, (VARIANTS,), FIELDS, read, rows, spoken, exact=False)


CONFIGS = [_config(language) for language in SLAVIC]
