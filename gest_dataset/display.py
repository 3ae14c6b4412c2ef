"""Escape names and texts that others wrote, so that terminals, pages, figures and spreadsheets can show them.

Control characters, marks that reverse the direction of writing, and what XML or UTF-8 cannot hold become
escapes like those of JSON.
"""

import re
from typing import Any

_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_FORMULA = re.compile(r"(?![+-](inf|[\d.]+(e[+-]?\d+)?)$)[=+@\t\n-]")  # not a number with a sign


def printable(text: str) -> str:
    r"""Escape invisible characters, except line ends and tabs.

    >>> printable("m\x1b[31mred\u202e\n\udc80")
    'm\\u001b[31mred\\u202e\n\\udc80'
    """
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    r"""Escape line ends and tabs too, so that a name cannot pass for a message of this package.

    >>> one_line("model\nerror: none")
    'model\\u000aerror: none'
    """
    return printable(text).replace("\n", "\\u000a").replace("\t", "\\u0009")


def csv_cell(value: Any) -> Any:
    """A cell of a CSV file: None and nan are empty, and no text is a formula to a spreadsheet.

    >>> csv_cell("=1+1"), csv_cell("-0.5"), csv_cell(-0.5), csv_cell(None)
    ("'=1+1", '-0.5', -0.5, '')
    """
    if value is None or value != value:
        return ""
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if _FORMULA.match(value) else printable(value)
