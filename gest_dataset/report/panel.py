"""A panel of the report: a figure with all that is said of it, and its numbers as a table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from gest_dataset.measures.words import shown
from gest_dataset.printable import csv_cell
from gest_dataset.report import canvas

_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class Panel:
    """One figure of the page.

    `name` is its anchor and the stem of its files: small letters, digits and dashes. `figure` is drawn
    on a `canvas.canvas`; `alt` says what there is to see for those who do not see it; `columns` and
    `rows` are the numbers behind the figure, all of them.
    """

    name: str
    title: str
    figure: Figure
    caption: str
    alt: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"The name of a panel is small letters, digits and dashes: {self.name!r}")

    @property
    def svg(self) -> str:
        """The figure as an element of the page."""
        return canvas.inline_svg(self.figure, self.name, self.title, self.alt)

    @property
    def csv(self) -> str:
        """The numbers, in full."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([[csv_cell(value) for value in row] for row in (self.columns, *self.rows)])
        return buffer.getvalue()

    @property
    def shown(self) -> list[list[str]]:
        """The numbers as the page's table shows them."""
        return [[shown(value) for value in row] for row in self.rows]


OWN, PUBLISHED = "this report", "published"


def own_first(rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Rows that begin with their source: those of the report before the published ones."""
    return sorted(rows, key=lambda row: row[0] != OWN)
