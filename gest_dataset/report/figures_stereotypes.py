"""Old names of `panels_stereotypes`, until all callers have changed."""

from typing import Any

import numpy as np

from gest_dataset.report.figures import _draw_boxes
from gest_dataset.report.panels_stereotypes import COLOURS, NAMES

PLACES = np.arange(16, 0, -1.0)


def stereotype_axis(axes: Any) -> None:
    axes.set_yticks(PLACES, NAMES)
    for text, colour in zip(axes.get_yticklabels(), COLOURS, strict=True):
        text.set_color(colour)


def boxes_of_ranks(axes: Any, table: Any) -> None:
    _draw_boxes(axes, table, COLOURS)
