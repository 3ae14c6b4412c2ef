"""Whether the texts of a figure fit: none is cut off, none lies over another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from matplotlib.axes import Axes
from matplotlib.text import Text

from gest_dataset.report import Panel
from gest_dataset.report.figures import fit_figure


def check(panel: Panel) -> None:
    """Fit a figure as its file does, and look at what came of it."""
    fit_figure(panel.figure)
    panel.figure.draw_without_rendering()
    right = panel.figure.bbox.x1 + 1
    drawn = [axes for axes in panel.figure.axes if axes.get_visible()]
    for axes in drawn:
        for text in (axes.xaxis.label, title(axes), *axes.get_yticklabels(), *visible(axes.texts)):
            box = text.get_window_extent()
            assert not text.get_text() or (box.x0 >= -1 and box.x1 <= right), (panel.name, text)
        labels = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
        shown_ones = [box for box in labels if axes.bbox.x0 - 1 <= (box.x0 + box.x1) / 2 <= axes.bbox.x1 + 1]
        assert shown_ones, panel.name
        for box, after in pairwise(shown_ones):
            assert box.x1 < after.x0, panel.name
    around = [text for axes in drawn for text in (axes.xaxis.label, title(axes)) if text.get_text()]
    for one, other in combinations(around, 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent()), (panel.name, one, other)
    first_row = [axes for axes in drawn if axes.get_subplotspec().is_first_row()]
    # names leave room for what they are the names of
    assert sum(axes.get_position().width for axes in first_row) > 0.35, panel.name
    for legend in panel.figure.legends:
        assert legend.get_window_extent().x1 <= right, panel.name


def title(axes: Axes) -> Text:
    """The title of axes, which stands on the left."""
    wanted = axes.get_title(loc="left")
    return next(
        (text for text in axes.get_children() if isinstance(text, Text) and text.get_text() == wanted),
        axes.title,
    )


def visible(texts: Sequence[Text]) -> list[Text]:
    return [text for text in texts if text.get_visible()]
