"""Damages files: bytes as disks and networks do, JSON values and table cells as people and programs do.

A damage is a list of edits, which are plain data, so that hypothesis can shrink and repeat an example.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

# taken modulo the length of the content; larger than every file of the tests
_POSITIONS = st.integers(0, 2**24 - 1)
_PIECES = [
    *(
        b"",
        b"\x00",
        b"\xff",
        b"\xff" * 7 + b"\x7f",
        b"\x00" * 64,
        b"\n",
        b"\r",
        b"\n\n",
        b"\t",
        b",",
        b'"',
        b"'",
    ),
    *(
        b"-",
        b"-1",
        b"0",
        b"9" * 25,
        b"9" * 5000,
        b"1.5",
        b"1-",
        b"null",
        b"{",
        b"}",
        b"[" * 100_000,
        b"<",
        b">",
    ),
    *(b"#", b"# text =\n", b"\\ud800", b"version https://git-lfs.github.com/spec/v1\n", b"\x1b[2J"),
    # a superscript, an Arabic three, a line separator, next line, a mark for byte order, a combining accent
    *(text.encode() for text in ("²", "٣", "\u2028", "\x85", "\ufeff", "e\u0301")),
]
_DEEP = "a list in a list in a list"
_VALUES: list[Any] = [
    *(None, True, 0, -1, 2**31, 10**30, 0.5, float("nan"), float("inf")),
    *("", "0", "a", "\ud800", "\x1b[2J\x00", "{word}", _DEEP, [], [[]], ["a"], {}, {"a": None}),
]


@dataclass(frozen=True)
class Edit:
    """One change: its kind, position, length, and the number of the inserted piece."""

    kind: str
    position: int
    length: int
    piece: int


def _bytes(content: bytes, edit: Edit) -> bytes:
    """Flip a bit, cut, drop, double, insert or overwrite bytes."""
    at, piece = edit.position % len(content), _PIECES[edit.piece % len(_PIECES)]
    before, after = content[:at], content[at:]
    changed = {
        "flip": bytes([content[at] ^ 1 << edit.length % 8]) + content[at + 1 :],
        "cut": b"",
        "drop": content[at + edit.length :],
        "double": after[: edit.length] + after,
        "insert": piece + after,
        "overwrite": piece + content[at + len(piece) :],
    }
    return before + changed[edit.kind]


def _cell(content: bytes, edit: Edit) -> bytes:
    """Replace one cell of a CSV or TSV table."""
    lines = content.split(b"\n")
    line = edit.position % len(lines)
    separator = b"\t" if b"\t" in lines[line] else b","
    cells = lines[line].split(separator)
    cells[edit.length % len(cells)] = _PIECES[edit.piece % len(_PIECES)]
    lines[line] = separator.join(cells)
    return b"\n".join(lines)


def _lines(content: bytes, edit: Edit) -> bytes:
    """Swap two lines."""
    lines = content.split(b"\n")
    here, there = edit.position % len(lines), edit.length % len(lines)
    lines[here], lines[there] = lines[there], lines[here]
    return b"\n".join(lines)


def _value(content: bytes, edit: Edit) -> bytes:
    """Replace or delete one value of a JSON document."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):  # no longer JSON after an earlier edit
        return content
    spots = _spots({"": whole})
    holder, key = spots[edit.position % len(spots)]
    number = edit.piece % (len(_VALUES) + 1)
    if number < len(_VALUES):
        holder[key] = _VALUES[number]
    elif holder is not spots[0][0]:
        del holder[key]
    text = json.dumps(spots[0][0][""])
    return text.replace(json.dumps(_DEEP), "[" * 100_000 + "]" * 100_000).encode()


def _spots(holder: Any) -> list[tuple[Any, Any]]:
    """All (container, key) pairs of a JSON document, the outermost first."""
    keys = holder if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
    spots = [(holder, key) for key in keys]
    return spots + [spot for _, key in list(spots) for spot in _spots(holder[key])]


BYTES = ("flip", "cut", "drop", "double", "insert", "overwrite")
TABLE = (*BYTES, "cell", "lines", "cell", "lines")
JSON = (*BYTES, "value", "value", "value", "value")
_EDITS: Mapping[str, Callable[[bytes, Edit], bytes]] = {
    **dict.fromkeys(BYTES, _bytes),
    "cell": _cell,
    "lines": _lines,
    "value": _value,
}


def edits(kinds: Sequence[str]) -> st.SearchStrategy[list[Edit]]:
    """One to three edits of the given kinds."""
    edit = st.builds(
        Edit,
        kind=st.sampled_from(kinds),
        position=_POSITIONS,
        length=st.integers(0, 255),
        piece=st.integers(0, 255),
    )
    return st.lists(edit, min_size=1, max_size=3)


def damaged(content: bytes, damage: Sequence[Edit]) -> bytes:
    """The content after its edits."""
    for edit in damage:
        content = _EDITS[edit.kind](content, edit) if content else content
    return content
