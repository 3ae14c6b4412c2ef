"""Readers of upstream files, and the splitting of sentences into words."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from gest_dataset.builders.pairs import FIRST_LETTER, PUNCTUATION, WordDifference, differing_word
from gest_dataset.builders.reading import keyword_span, read_csv, stereotype_id
from gest_dataset.builders.words import core, core_span, differing_words
from gest_dataset.errors import DataError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.csv"


def test_read_csv_yields_records_with_line_numbers(file: Path) -> None:
    file.write_text('a,b\n1,"two\nlines"\n3,4\n', encoding="utf-8")
    records = list(read_csv(file))
    assert records == [(3, {"a": "1", "b": "two\nlines"}), (4, {"a": "3", "b": "4"})]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a,b\n1,2\n1\n", r"line 3: 1 fields, expected 2"),
        (b'a,b\n1,"2"3\n', r"line 2: .*expected"),
    ],
)
def test_read_csv_reports_the_line_of_an_error(file: Path, content: bytes, reason: str) -> None:
    file.write_bytes(content)
    with pytest.raises(DataError, match=rf"file\.csv, {reason}"):
        list(read_csv(file))


def test_stereotype_id(file: Path) -> None:
    assert stereotype_id("16", file, 2) == 16
    for wrong in ("0", "17", "x", "", "-1", "1.0", "²", "٣"):
        with pytest.raises(DataError, match=r"line 2: unknown stereotype"):
            stereotype_id(wrong, file, 2)


def test_keyword_span(file: Path) -> None:
    sentence, (start, end) = keyword_span("Susedia boli <milší> ako obvykle.", file, 1)
    assert sentence == "Susedia boli milší ako obvykle."
    assert sentence[start:end] == "milší"
    for wrong in ("none", "<two> of <them>", "<>", "< >", "<a <b>", "a> <b>"):
        with pytest.raises(DataError, match="expected one keyword"):
            keyword_span(wrong, file, 1)


def test_words_without_punctuation() -> None:
    assert differing_words("I am  glad.", "I am sad.") == [2]
    assert differing_words("I am", "I am so") is None
    assert core("(well-known), he said", 0) == "well-known"
    assert core("a – b", 1) == ""
    start, end = core_span("I  said “don't!”", 2)
    assert "I  said “don't!”"[start:end] == "don't"


def decomposed(text: str) -> str:
    """The text in Unicode form NFD."""
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize(
    ("sentence", "index", "word"),
    [
        ("मैं थका हूँ।", 1, "थका"),  # ends with a vowel sign
        ("मैं (थकी) हूँ।", 1, "थकी"),
        ("मैं थकी हूँ।", 2, "हूँ"),  # a vowel sign and a nasal one; `।` ends the sentence
        (decomposed("Bol som „unavené“."), 2, decomposed("unavené")),
        (decomposed("Élan, é!"), 1, decomposed("é")),
        ("เธอเหนื่อย ไม่", 1, "ไม่"),  # a tone mark
        ("אני עֲיֵפָה.", 1, "עֲיֵפָה"),  # points under and between letters
        ("(x²), a_1", 0, "x²"),
        ("(x²), a_1", 1, "a_1"),
        ("نمی‌خواهم، نه", 0, "نمی‌خواهم"),  # a joiner inside
        ("„̈word“", 0, "word"),  # a mark on punctuation belongs to that
        ("a – b", 1, ""),
    ],
)
def test_core_span_keeps_combining_marks(sentence: str, index: int, word: str) -> None:
    assert core(sentence, index) == word
    start, end = core_span(sentence, index)
    assert sentence[start:end] == word


def test_words_are_compared_in_normal_form() -> None:
    assert differing_words("Bol som unavený.", decomposed("Bol som unavený.")) == []
    assert differing_words("Bol som unavený.", decomposed("Bol som unavená.")) == [2]
    assert differing_word(decomposed("Šťastný som."), "Šťastná som.") == WordDifference(
        0, decomposed("Šťastný"), "Šťastná"
    )
    assert differing_word("Šťastný som.", decomposed("Sama som.")) == FIRST_LETTER
    assert differing_word("é som.", decomposed("„é“ som.")) == PUNCTUATION


def test_vowel_signs_are_not_punctuation() -> None:
    assert differing_word("मैं थका हूँ।", "मैं थकी हूँ।") == WordDifference(1, "थका", "थकी")
    assert differing_word("मैं थका हूँ।", "मैं थका, हूँ।") == PUNCTUATION
