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
_PIECES = (
    b"",
    b"\x00",
    b"\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x00" * 64,
    b"\n",
    b"\r",
    b"\n\n",
    b"\t",
    b",",
    b'"',
    b"'",
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
    b"#",
    b"# text =\n",
    b"\\ud800",
    b"\xef\xbb\xbf",
    b"version https://git-lfs.github.com/spec/v1\n",
    "²".encode(),  # a digit that is no number
    "٣".encode(),  # an Arabic three
    "\u2028".encode(),
    "\x85".encode(),
    b"\x1b[2J",
    "e\u0301".encode(),
)
_DEEP = "a list in a list in a list"
_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**31,
    10**30,
    0.5,
    float("nan"),
    float("inf"),
    "",
    "0",
    "a",
    "\ud800",
    "\x1b[2J\x00",
    "{word}",
    [],
    [[]],
    ["a"],
    {},
    {"a": None},
    _DEEP,
)


@dataclass(frozen=True)
class Edit:
    """One change: its kind, position, length, and the number of the inserted piece."""

    kind: str
    position: int
    length: int
    piece: int


def _flip(content: bytes, edit: Edit) -> bytes:
    at = edit.position % len(content)
    return content[:at] + bytes([content[at] ^ 1 << edit.length % 8]) + content[at + 1 :]


def _cut(content: bytes, edit: Edit) -> bytes:
    return content[: edit.position % len(content)]


def _drop(content: bytes, edit: Edit) -> bytes:
    at = edit.position % len(content)
    return content[:at] + content[at + edit.length :]


def _double(content: bytes, edit: Edit) -> bytes:
    at = edit.position % len(content)
    return content[: at + edit.length] + content[at:]


def _put(content: bytes, edit: Edit) -> bytes:
    at = edit.position % len(content)
    return content[:at] + _PIECES[edit.piece % len(_PIECES)] + content[at:]


def _over(content: bytes, edit: Edit) -> bytes:
    at, piece = edit.position % len(content), _PIECES[edit.piece % len(_PIECES)]
    return content[:at] + piece + content[at + len(piece) :]


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


_EDITS: Mapping[str, Callable[[bytes, Edit], bytes]] = {
    "flip": _flip,
    "cut": _cut,
    "drop": _drop,
    "double": _double,
    "put": _put,
    "over": _over,
    "cell": _cell,
    "lines": _lines,
    "value": _value,
}
BYTES = ("flip", "cut", "drop", "double", "put", "over")
TABLE = (*BYTES, "cell", "lines", "cell", "lines")
JSON = (*BYTES, "value", "value", "value", "value")


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
