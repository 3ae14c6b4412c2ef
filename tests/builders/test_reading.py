"""Strict readers: what is not as expected is an error with file, line and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from gest_dataset.builders.reading import keyword_span, read_csv, read_lines, row_number, stereotype_id
from gest_dataset.builders.words import core, core_span, differing_words
from gest_dataset.errors import DataError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.csv"


def test_records_come_with_their_lines(file: Path) -> None:
    file.write_text('a,b\n1,"two\nlines"\n3,4\n', encoding="utf-8")
    records = list(read_csv(file, ("a", "b")))
    assert records == [(3, {"a": "1", "b": "two\nlines"}), (4, {"a": "3", "b": "4"})]


def test_line_separators_inside_a_field_are_text(file: Path) -> None:
    file.write_text("a,b\n1,x\u2028y\x85z\n", encoding="utf-8")
    assert list(read_csv(file, ("a", "b"))) == [(2, {"a": "1", "b": "x\u2028y\x85z"})]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a,b,c\n1,2,3\n", r"line 1: unexpected column 'c'"),
        (b"a\n1\n", r"line 1: missing column 'b'"),
        (b"b,a\n1,2\n", r"line 1: columns in another order"),
        (b"", r"line 1: missing column 'a', 'b'"),
        (b"a,b\n1,2\n1\n", r"line 3: 1 fields, expected 2"),
        (b'a,b\n1,"2"3\n', r"line 2: .*expected"),
        (b"a,b\n1,\xff\n", r"line 2: not UTF-8"),
    ],
)
def test_broken_tables(file: Path, content: bytes, reason: str) -> None:
    file.write_bytes(content)
    with pytest.raises(DataError, match=rf"file\.csv, {reason}"):
        list(read_csv(file, ("a", "b")))


def test_blank_lines_are_passed_over(file: Path) -> None:
    file.write_text("one\r\n\r\n  \ntwo\n")
    assert list(read_lines(file)) == [(1, "one"), (4, "two")]


def test_stereotypes_are_1_to_16(file: Path) -> None:
    assert stereotype_id("16", file, 2) == 16
    for wrong in ("0", "17", "x", "", "-1", "1.0", "9" * 5000, "²", "٣"):
        with pytest.raises(DataError, match=r"line 2: unknown stereotype"):
            stereotype_id(wrong, file, 2)


def test_keyword_span_points_at_the_keyword(file: Path) -> None:
    sentence, (start, end) = keyword_span("Susedia boli <milší> ako obvykle.", file, 1)
    assert sentence == "Susedia boli milší ako obvykle."
    assert sentence[start:end] == "milší"
    for wrong in ("none", "<two> of <them>", "<>", "< >", "<a <b>", "a> <b>"):
        with pytest.raises(DataError, match="expected one keyword"):
            keyword_span(wrong, file, 1)


def test_words_and_their_cores() -> None:
    assert differing_words("I am  glad.", "I am sad.") == [2]
    assert differing_words("I am", "I am so") is None
    assert core("(well-known), he said", 0) == "well-known"
    assert core("a – b", 1) == ""
    start, end = core_span("I  said “don't!”", 2)
    assert "I  said “don't!”"[start:end] == "don't"


def test_row_numbers_are_short_and_of_plain_digits(file: Path) -> None:
    assert row_number("0012", file, 2) == 12
    for wrong in ("", "-1", "²", "٣", "9" * 5000):
        with pytest.raises(DataError, match=r"line 2: .* is not a number"):
            row_number(wrong, file, 2)
