"""Where quotations begin and end, to the letter."""

from __future__ import annotations

import pytest

from gest_dataset.gender.rules.reported import quoted


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Otec povedal: „Bol som chorý.“", ["„Bol som chorý.“"]),
        ("Řekl: „Byl jsem tam.” A odešel.", ["„Byl jsem tam.”"]),
        ("Rekao je: »Bio sam tu« i otišao.", ["»Bio sam tu«"]),
        ("Он сказал: «Я устал» и ушёл.", ["«Я устал»"]),
        ('Pani: "Bola som tam." A pán: "Bol som tu."', ['"Bola som tam."', '"Bol som tu."']),
        ("Bol som „silný“ a „starý a chorý“ muž.", ["„starý a chorý“"]),
        ("„Bol som chorý.“", []),
        ("Bol som „starý muž bez konca.", []),
        ("Povedal: ‚Bol som chorý.‘", ["‚Bol som chorý.‘"]),
        ("“I was ill,” he said.", ["“I was ill,”"]),
        ("— Устал я, — сказал он. — Пойду.", ["Устал я", "— Пойду."]),
    ],
)
def test_spans_are_those_of_the_quotation_marks(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in quoted(text)] == parts
