"""What does not fit into a narrow figure: labels are wrapped, ticks and notes that touch others go."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox, BboxBase

_PER_INCH = 13.0  # letters of a label
_FEWEST = 12  # letters of a line of it
_APART = 8.0  # units of the drawing between two texts


def fit(figure: Figure) -> None:
    """Make every text of a figure fit, as it is laid out at its size."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        inches = axes.get_window_extent().width / figure.dpi
        axes.set_xlabel(textwrap.fill(axes.get_xlabel(), max(_FEWEST, int(inches * _PER_INCH))))
    figure.draw_without_rendering()
    for axes in figure.axes:
        _thin_ticks(axes)
        _thin_notes(axes, figure.bbox)


def _thin_ticks(axes: Axes) -> None:
    """Every second tick, or third, … of the horizontal axis, until no label touches the next one; 1 stays."""
    ticks, boxes = [], []
    for tick, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        place = axes.transData.transform((tick, 0))[0]
        if (
            axes.bbox.x0 - 1 <= place <= axes.bbox.x1 + 1
        ):  # there are ticks beyond the ends, which nobody sees
            ticks.append(tick)
            boxes.append(label.get_window_extent())
    for step in range(1, len(ticks) + 1):
        first = ticks.index(1) % step if 1 in ticks else 0
        if not _touching(boxes[first::step]):
            if step > 1:
                axes.set_xticks(ticks[first::step])
            return


def _touching(boxes: Sequence[Bbox]) -> bool:
    return any(after.x0 - box.x1 < _APART for box, after in pairwise(boxes))


def _thin_notes(axes: Axes, within: BboxBase) -> None:
    """Notes over an earlier one, or beyond the figure, are not drawn: the numbers have all names."""
    kept: list[Bbox] = []
    for note in (child for child in axes.texts if isinstance(child, Annotation)):
        box = note.get_window_extent()
        inside = within.x0 <= box.x0 and box.x1 <= within.x1
        if inside and not any(box.overlaps(other) for other in kept):
            kept.append(box)
        else:
            note.set_visible(False)
