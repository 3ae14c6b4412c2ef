"""A panel of the report: a figure with all that is said of it, and its numbers as a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.report import canvas
from gest_dataset.storage import csv_text

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
        return csv_text(self.columns, self.rows)

    @property
    def shown(self) -> list[list[str]]:
        """The numbers as the page's table shows them."""
        return [[format_number(value) for value in row] for row in self.rows]


OWN, PUBLISHED = "this report", "published"


def own_first(rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Rows that begin with their source: those of the report before the published ones."""
    return sorted(rows, key=lambda row: row[0] != OWN)


def draw_rows(
    axes: Any,
    rows: Sequence[Sequence[Any]],
    labels: Sequence[str],
    colours: Sequence[str],
    column: int,
    symbol: str,
) -> None:
    """An interval for each row, from top to bottom: larger and darker for those of this report.

    Rows begin with their source; value and bounds begin at `column`.
    """
    own = [row[0] == OWN for row in rows]
    for place, (row, label, colour, ours) in enumerate(zip(rows, labels, colours, own, strict=True)):
        estimate = Estimate(*row[column : column + 3])
        told = format_number(estimate.value) if estimate.low is None else estimate
        size = {"markersize": 8, "linewidth": 2.6} if ours else {"markersize": 5.5, "linewidth": 1.6}
        text = f"{label}: {symbol} {told}"
        canvas.interval_mark(axes, estimate, len(rows) - place, text, colour, **size)
    axes.grid(axis="y", visible=False)
    if axes.get_subplotspec().is_first_col():  # the others share its names
        canvas.rows_axis(axes, labels, [canvas.LIGHT["ink" if ours else "quiet"] for ours in own])
