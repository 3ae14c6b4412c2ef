"""Old names of `plots`, `panel` and `style`, until all callers have changed."""

from typing import Any

from gest_dataset.measures.grid import Estimate
from gest_dataset.report.panel import file_bytes
from gest_dataset.report.plots import draw_dots as mark
from gest_dataset.report.plots import draw_interval, name_rows, ratio_axis, shorten
from gest_dataset.report.plots import draw_legend as legend
from gest_dataset.report.plots import legend_entry as key
from gest_dataset.report.plots import new_figure as canvas
from gest_dataset.report.plots import series_style as series
from gest_dataset.report.style import DASHED, DOTTED, LIGHT, MARKERS, SERIES

cut = shorten


def interval_mark(axes: Any, x: Any, y: Any, *args: Any, **options: Any) -> None:
    x, y = (Estimate(*one) if isinstance(one, tuple) else one for one in (x, y))
    draw_interval(axes, x, y, *args, **options)


def rows_axis(axes: Any, names: Any, colours: Any) -> None:
    name_rows(axes, names, colours)
    axes.set_ylim(0.4, len(names) + 0.6)
    axes.grid(axis="y", visible=False)


__all__ = [
    "DASHED",
    "DOTTED",
    "LIGHT",
    "MARKERS",
    "SERIES",
    "canvas",
    "cut",
    "file_bytes",
    "interval_mark",
    "key",
    "legend",
    "mark",
    "ratio_axis",
    "rows_axis",
    "series",
]
