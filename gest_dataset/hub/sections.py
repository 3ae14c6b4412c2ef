"""Sections of a card that are ours, between marks; all other text stays as it is, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BEGIN = "<!-- gest push: begin {key} (each push writes this part anew, up to its end) -->"
_END = "<!-- gest push: end {key} -->"


@dataclass(frozen=True)
class Block:
    """One of our sections. An `optional` one is put into a card that is new, and not into one that is there.

    It is written anew all the same where a card has it.
    """

    key: str
    text: str
    optional: bool = False

    @property
    def marked(self) -> str:
        """With its marks, as it stands in a card."""
        return f"{_BEGIN.format(key=self.key)}\n{self.text}\n{_END.format(key=self.key)}"

    @property
    def pattern(self) -> re.Pattern[str]:
        """Where a card has it, whatever stands in it."""
        begin, end = (re.escape(mark.format(key=self.key)) for mark in (_BEGIN, _END))
        return re.compile(rf"^{begin}\r?\n.*?^{end}(?=\r?$)", re.DOTALL | re.MULTILINE)


def with_blocks(text: str, blocks: Sequence[Block], newline: str = "\n") -> str:
    """The text with our sections: those it has in their places, new ones behind the one that comes before.

    Where none comes before, they are put behind everything that is there.
    """
    is_new = not text.strip()
    after = ""  # what ends the last line where ours come last
    end = None  # of the last of our sections that has been passed
    for block in blocks:
        ours = block.marked.replace("\n", newline)
        if found := block.pattern.search(text):
            text = f"{text[: found.start()]}{ours}{text[found.end() :]}"
            end = found.start() + len(ours)
        elif is_new or not block.optional:
            if end is None:
                between = "" if not text or text.endswith("\n") else newline
                text = f"{text}{between}{newline}{ours}"
                end, after = len(text), newline
            else:
                text = f"{text[:end]}{newline * 2}{ours}{text[end:]}"
                end += len(newline) * 2 + len(ours)
    return text + after
