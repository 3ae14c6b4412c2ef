"""Gender-swapped pairs: a masculine and a feminine translation that differ in one word.

The rules are those of section 4.3 of Pikuliak et al. (2024): the two variants differ in exactly one word,
and the two forms of that word start with the same letter. Users may allow more words in their languages.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.builders.config import Dropped, Files, Row
from gest_dataset.builders.gest import ids_by_text, read_sentences, stereotype_cells
from gest_dataset.builders.reading import read_csv, stereotype_id
from gest_dataset.builders.words import composed, core, differing_words, same
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES
from gest_dataset.storage import read_yaml

_SYSTEMS = {"AmazonTranslate": "amazon", "DeepL": "deepl", "GoogleTranslate": "google", "NLLB": "nllb"}

# Reasons why two variants are not a pair, in the order in which the rules are applied
SAME = "the variants are the same"
WORD_COUNT = "different numbers of words"
SEVERAL_WORDS = "more than one word differs"
PUNCTUATION = "only punctuation differs"
FIRST_LETTER = "different first letters"
RULES = (SAME, WORD_COUNT, SEVERAL_WORDS, PUNCTUATION, FIRST_LETTER)
MERGED = "merged with the same pair"


@dataclass(frozen=True)
class WordDifference:
    """The word that differs between two variants: its index and its two forms.

    If several words differ, the forms are the texts from the first to the last of them.
    """

    word_index: int
    masculine_word: str
    feminine_word: str


def differing_word(
    masculine: str, feminine: str, first_letter: bool = True, max_words: int = 1
) -> WordDifference | str:
    """The one differing word of two variants (or up to `max_words`), or the rule that they break.

    The forms are reported without punctuation around them. `first_letter` applies the rule of the paper for
    languages whose endings show the gender; elsewhere the word may be an article or a pronoun (*el, la*).

    >>> differing_word("Som emotívny.", "Som emotívna.")
    WordDifference(word_index=1, masculine_word='emotívny', feminine_word='emotívna')
    >>> differing_word("Bol som rád.", "Chcela som rád.")
    'different first letters'
    """
    differing = differing_words(masculine, feminine)
    if differing is None:
        return WORD_COUNT
    if not differing:
        return SAME
    if len(differing) > max_words:
        return SEVERAL_WORDS if max_words == 1 else f"more than {max_words} words differ"
    words = [(core(masculine, index), core(feminine, index)) for index in differing]
    if any(same(*forms) for forms in words):
        return PUNCTUATION
    if first_letter and any(composed(man)[:1] != composed(woman)[:1] for man, woman in words):
        return FIRST_LETTER
    first, last = differing[0], differing[-1]
    return WordDifference(first, core(masculine, first, last), core(feminine, first, last))


def pair_id(language: str, stereotype: int, source: str, masculine: str, feminine: str) -> str:
    """An id that depends on the pair alone, so that new pairs never renumber old ones."""
    text = "\n".join((str(stereotype), source, masculine, feminine))
    return f"{language}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def pair_row(
    sentence_id: str | None,
    language: str,
    systems: Sequence[str],
    stereotype: int,
    source: str,
    masculine: str,
    feminine: str,
    *,
    first_letter: bool = True,
    max_words: int = 1,
) -> Row | str:
    """A row of a config of pairs, or the rule that the two variants break."""
    difference = differing_word(masculine, feminine, first_letter, max_words)
    if isinstance(difference, str):
        return difference
    return {
        "id": pair_id(language, stereotype, source, masculine, feminine),
        "sentence_id": sentence_id,
        "language": language,
        "systems": systems,
        "source": source,
        "masculine": masculine,
        "feminine": feminine,
        "masculine_word": difference.masculine_word,
        "feminine_word": difference.feminine_word,
        "word_index": difference.word_index,
        **stereotype_cells(stereotype),
    }


def merge_rows(rows: Iterable[Row | str], dropped: Dropped) -> list[Row]:
    """Merge rows with the same id into one with all their systems; count the rules that other rows break."""
    merged: dict[str, Row] = {}
    for row in rows:
        if isinstance(row, str):
            dropped[row] += 1
        elif row["id"] in merged:
            dropped[MERGED] += 1
            first = merged[row["id"]]
            first["systems"] = sorted({*first["systems"], *row["systems"]})
        else:
            merged[row["id"]] = row
    return list(merged.values())


def read_pairs(language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the pairs of one language; the same pair of several systems is one row.

    `files` are GEST 1.0, whose texts upstream uses as keys, and the variants in all languages.
    """
    ids, file = ids_by_text(read_sentences(files[:1], dropped)), files[1]

    def rows() -> Iterator[Row | str]:
        for line, cells in read_csv(file):
            if cells["language"] not in LANGUAGES or cells["translator"] not in _SYSTEMS:
                problem = f"unknown language {cells['language']!r} or translator {cells['translator']!r}"
                raise DataError.at(file, line, problem)
            if cells["language"] == language:
                stereotype, source = stereotype_id(cells["stereotype"], file, line), cells["original"]
                systems, sentence_id = [_SYSTEMS[cells["translator"]]], ids.get((source, stereotype))
                facts = (sentence_id, language, systems, stereotype, source)
                yield pair_row(*facts, cells["male"], cells["female"])

    yield from merge_rows(rows(), dropped)


# Table 7 of the paper: the number of pairs by system, before pairs of several systems are merged
YIELDS = read_yaml(Path(__file__).with_name("pair_yields.json"))
