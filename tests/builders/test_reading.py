"""Readers of upstream files, and the splitting of sentences into words."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from gest_dataset.builders.pairs import FIRST_LETTER, PUNCTUATION, WordDifference, differing_word
from gest_dataset.builders.reading import keyword_span, read_csv, stereotype_id
from gest_dataset.builders.words import core, core_span, differing_words
from gest_dataset.errors import DataError

FILE = Path("file.csv")


def test_read_csv(tmp_path: Path) -> None:
    file = tmp_path / "file.csv"
    file.write_text('a,b\n1,"two\nlines"\n3,4\n', encoding="utf-8")
    assert list(read_csv(file)) == [(3, {"a": "1", "b": "two\nlines"}), (4, {"a": "3", "b": "4"})]
    file.write_text("a,b\n1,2\n1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"file\.csv, line 3: 1 fields, expected 2"):
        list(read_csv(file))


def test_stereotype_id() -> None:
    assert stereotype_id("16", FILE, 2) == 16
    for wrong in ("0", "17", "x", "", "-1", "1.0", "²", "٣"):
        with pytest.raises(DataError, match=r"line 2: unknown stereotype"):
            stereotype_id(wrong, FILE, 2)


def test_keyword_span() -> None:
    sentence, (start, end) = keyword_span("Susedia boli <milší> ako obvykle.", FILE, 1)
    assert sentence == "Susedia boli milší ako obvykle."
    assert sentence[start:end] == "milší"
    for wrong in ("none", "<two> of <them>", "<>", "< >", "<a <b>", "a> <b>"):
        with pytest.raises(DataError, match="expected one keyword"):
            keyword_span(wrong, FILE, 1)


def decomposed(text: str) -> str:
    """The text in Unicode form NFD."""
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize(
    ("sentence", "index", "word"),
    [
        ("(well-known), he said", 0, "well-known"),
        ("I  said “don't!”", 2, "don't"),
        ("मैं (थकी) हूँ।", 1, "थकी"),
        ("मैं थकी हूँ।", 2, "हूँ"),  # a vowel sign and a nasal one; `।` ends the sentence
        (decomposed("Bol som „unavené“."), 2, decomposed("unavené")),
        ("เธอเหนื่อย ไม่", 1, "ไม่"),  # a tone mark
        ("אני עֲיֵפָה.", 1, "עֲיֵפָה"),  # points under and between letters
        ("(x²), a_1", 0, "x²"),
        ("نمی‌خواهم، نه", 0, "نمی‌خواهم"),  # a joiner inside
        ("„̈word“", 0, "word"),  # a mark on punctuation belongs to that
        ("a – b", 1, ""),
    ],
)
def test_core_span(sentence: str, index: int, word: str) -> None:
    """Punctuation is left out, combining marks belong to their letter."""
    assert core(sentence, index) == word
    start, end = core_span(sentence, index)
    assert sentence[start:end] == word


def test_words_are_compared_in_normal_form() -> None:
    assert differing_words("I am  glad.", "I am sad.") == [2]
    assert differing_words("I am", "I am so") is None
    assert differing_words("Bol som unavený.", decomposed("Bol som unavený.")) == []
    assert differing_word(decomposed("Šťastný som."), "Šťastná som.") == WordDifference(
        0, decomposed("Šťastný"), "Šťastná"
    )
    assert differing_word("Šťastný som.", decomposed("Sama som.")) == FIRST_LETTER
    assert differing_word("é som.", decomposed("„é“ som.")) == PUNCTUATION
    assert differing_word("मैं थका हूँ।", "मैं थकी हूँ।") == WordDifference(1, "थका", "थकी")
