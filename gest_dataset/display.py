"""Names and texts of others as data: what is shown of them in a terminal, a page, a drawing, a table.

A model's name, a config, a received run and a translated sentence can hold what a terminal obeys, what
turns the order of the letters round, or what XML and UTF-8 have no place for. Files with data (Parquet,
CSV of translations) hold them as they are; JSON holds them in escapes, which every reader undoes.
"""

from __future__ import annotations

import re
from typing import Any

# Controls, ends of lines that are none to people, turns of direction, halves of letters, no letters at all
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_BREAKS = re.compile(r"[\t\n]")
_FORMULA = ("=", "+", "-", "@", "\t", "\n")


def printable(text: str) -> str:
    r"""A text with escapes for what would not be seen; lines and tabs stay.

    The escapes are those of JSON, so that text that is JSON stays the same JSON. Nothing that comes out
    is special to XML 1.0, so that a drawing with it can be read again.

    >>> printable("m\x1b[31mred\u202e\n\udc80")
    'm\\u001b[31mred\\u202e\n\\udc80'
    """
    return _UNSEEN.sub(_escape, text)


def one_line(text: str) -> str:
    r"""The same for a name, which has no lines: it cannot look like one of our own.

    >>> one_line("model\nerror: none")
    'model\\u000aerror: none'
    """
    return _BREAKS.sub(_escape, printable(text))


def csv_cell(value: Any) -> Any:
    """A cell of a table for people: None and nan are empty, and no text is a formula to a spreadsheet.

    >>> csv_cell("=1+1"), csv_cell("-0.5"), csv_cell(-0.5), csv_cell(None)
    ("'=1+1", '-0.5', -0.5, '')
    """
    if value is None or value != value:
        return ""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _escape(unseen: re.Match[str]) -> str:
    return f"\\u{ord(unseen[0]):04x}"
