"""The three figures of reports, studies and sweeps: intervals, scatter, heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
from matplotlib.figure import Figure

from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.report import plots
from gest_dataset.report.style import DASHED, LIGHT
from gest_dataset.statistics.checks import Floats

PER_ROW = 4
_SHADES = (-1.0, -0.5, 0.0, 0.5, 1.0)  # in the legend of a heat map, as parts of the largest value
_OPACITY = 0.75  # of the strongest colour of a heat map


@dataclass(frozen=True)
class Interval:
    """An estimate in a row of an interval figure; rows count from 0 at the top.

    `outer` are the bounds of a wider, thinner interval, `result` is the one whose bands are drawn behind it.
    """

    row: float
    estimate: Estimate
    text: str
    style: dict[str, Any]
    outer: tuple[float, float] | None = None
    result: Result | None = None


@dataclass(frozen=True)
class Dots:
    """Several values with one tooltip in rows of an interval figure, such as those of a published model.

    Thin lines join `low` and `high`, where they are given.
    """

    rows: Any
    values: Any
    text: str
    style: dict[str, Any]
    low: Any = None
    high: Any = None


@dataclass(frozen=True)
class Column:
    """One pair of axes of an interval figure; the horizontal one is logarithmic if it shows ratios.

    `boxes` is a table [values, rows], drawn as box plots.
    """

    title: str
    xlabel: str
    intervals: Sequence[Interval] = ()
    dots: Sequence[Dots] = ()
    null: float | None = None
    ratio: bool = False
    limits: tuple[float, float] | None = None
    ticks: Sequence[float] | None = None
    boxes: Any = None

    @property
    def values(self) -> list[float]:
        """All values that the axis has to show."""
        values = [one.estimate.value for one in self.intervals]
        values += [float(value) for dots in self.dots for value in np.atleast_1d(dots.values)]
        return values if self.null is None else [self.null, *values]


@dataclass(frozen=True)
class Rows:
    """The names and colours of the rows of an interval figure; the first `split` are about women."""

    names: Sequence[str]
    colours: Sequence[str] = ()
    split: int | None = None

    def height(self, inches: float) -> float:
        """The height of a figure with so many inches for a row."""
        return 1.3 + inches * len(self.names)


def interval_figure(
    columns: Sequence[Column],
    rows: Rows,
    height: float,
    entries: Sequence[Any] = (),
    per_row: int = PER_ROW,
    shared_axis: bool = True,
) -> tuple[Figure, str]:
    """Intervals in named rows (a forest plot), and what its caption says about intervals that are cut off.

    `height` is that of one row of axes in inches, `entries` are the legend's.
    """
    per_row = min(plots.axes_per_row(per_row), len(columns))
    lines = math.ceil(len(columns) / per_row)
    figure, axes = plots.new_figure(height * lines, lines, per_row, sharey=True, sharex=shared_axis)
    count = len(rows.names)
    colours = rows.colours or [LIGHT["ink"]] * count
    several = any(column.title for column in columns)
    cut_off = ""
    for position, (ax, column) in enumerate(zip(axes, columns, strict=False)):
        if rows.split is not None:
            middle = count + 0.5 - rows.split
            ax.axhspan(middle, count + 1.2, color=LIGHT["female"], alpha=0.06, linewidth=0)
            ax.axhspan(-0.2, middle, color=LIGHT["male"], alpha=0.05, linewidth=0)
        if column.null is not None:
            ax.axvline(column.null, **DASHED)
        if column.boxes is not None and len(column.boxes):
            _draw_boxes(ax, column.boxes, colours)
        for dots in column.dots:
            heights = count - np.asarray(dots.rows)
            if dots.low is not None:
                ax.hlines(heights, dots.low, dots.high, colors=dots.style["color"], linewidth=1, alpha=0.4)
            plots.draw_dots(ax, dots.values, heights, dots.text, **dots.style)
        for one in column.intervals:
            y = count - one.row
            if one.result is not None:
                plots.draw_bands(ax, one.result, y)
            if one.outer is not None and np.isfinite(one.outer).all():
                outer: dict[str, Any] = {"linewidth": 1.1, "alpha": 0.55, "solid_capstyle": "butt"}
                ax.plot(one.outer, [y, y], color=one.style["color"], **outer)
            plots.draw_interval(ax, one.estimate, y, one.text, **one.style)
        if several:
            title = "\n".join(
                plots.fit_text(line, plots.TITLE_SHARE / per_row) for line in column.title.split("\n")
            )
            ax.set_title(title, loc="left", fontsize=9)
        if position % per_row == 0:
            plots.name_rows(ax, rows.names, colours)
        ax.set_ylim(0.3, count + 0.7)
        ax.grid(axis="y", visible=False)
        ax.tick_params(labelbottom=True)
        ax.set_xlabel(column.xlabel)
        if column.limits:
            ax.set_xlim(*column.limits)
        if column.ticks is not None:
            ax.set_xticks(column.ticks)
        most_ticks = 8 if per_row < 3 else 5
        if column.ratio and not shared_axis:
            cut_off = plots.ratio_axis(ax.xaxis, column.values, most_ticks) or cut_off
    if columns[0].ratio and shared_axis:
        values = [value for column in columns for value in column.values]
        cut_off = plots.ratio_axis(axes[0].xaxis, values, most_ticks)
    for spare in axes[len(columns) :]:
        spare.set_visible(False)
    plots.draw_legend(figure, entries)
    return figure, cut_off


def _draw_boxes(axes: Any, table: Any, colours: Sequence[str]) -> None:
    """A box plot in each row, of a table [values, rows]."""
    grey = {"color": LIGHT["published"]}
    boxes = axes.boxplot(
        table,
        orientation="horizontal",
        positions=range(len(colours), 0, -1),
        widths=0.56,
        patch_artist=True,
        manage_ticks=False,
        flierprops={"marker": "o", "markersize": 3, "markeredgecolor": LIGHT["published"]},
        medianprops={"color": LIGHT["ink"], "linewidth": 1.4},
        whiskerprops=grey,
        capprops=grey,
        boxprops={"edgecolor": LIGHT["published"]},
    )
    for box, colour in zip(boxes["boxes"], colours, strict=True):
        box.set_facecolor(colour)
        box.set_alpha(0.22)


@dataclass(frozen=True)
class Point:
    """A point of a scatter, with a short note next to it; an `Estimate` has its interval drawn."""

    x: float | Estimate
    y: float | Estimate
    text: str
    style: dict[str, Any]
    note: str = ""
    result: Result | None = None


@dataclass(frozen=True)
class Curve:
    """A line of a scatter, with a note at its last point and a band from `low` to `high`."""

    x: Any
    y: Any
    style: dict[str, Any]
    note: str = ""
    low: Any = None
    high: Any = None


@dataclass(frozen=True)
class Scatter:
    """One pair of axes of a scatter figure; `width` is relative to the others.

    `samples` are many unlabelled points: x, y and their style. Scales are linear, log or ratio.
    """

    xlabel: str
    ylabel: str
    points: Sequence[Point] = ()
    curves: Sequence[Curve] = ()
    samples: tuple[Any, Any, dict[str, Any]] | None = None
    title: str = ""
    x_scale: str = "linear"
    y_scale: str = "linear"
    x_null: float | None = None
    y_null: float | None = None
    no_ticks: bool = False
    width: float = 1.0


def scatter_figure(
    scatters: Sequence[Scatter], height: float, entries: Sequence[Any] = (), per_row: int = PER_ROW
) -> tuple[Figure, str]:
    """Points with intervals in both directions, and what its caption says about what is cut off."""
    one_row = len({scatter.width for scatter in scatters}) > 1
    per_row = len(scatters) if one_row else min(plots.axes_per_row(per_row), len(scatters))
    lines = math.ceil(len(scatters) / per_row)
    options: dict[str, Any] = {}
    if one_row:
        options = {"sharey": True, "gridspec_kw": {"width_ratios": [scatter.width for scatter in scatters]}}
    figure, axes = plots.new_figure(height * lines, lines, per_row, **options)
    cut_off = ""
    for ax, scatter in zip(axes, scatters, strict=False):
        for null, draw in ((scatter.x_null, ax.axvline), (scatter.y_null, ax.axhline)):
            if null is not None:
                draw(null, **DASHED)
        if scatter.samples is not None:
            x, y, style = scatter.samples
            ax.plot(x, y, linestyle="", **style)
        for curve in scatter.curves:
            if curve.low is not None:
                color = curve.style["color"]
                ax.fill_between(curve.x, curve.low, curve.high, color=color, alpha=0.2, linewidth=0)
            ax.plot(curve.x, curve.y, **curve.style)
            if curve.note:
                plots.draw_note(ax, curve.note, curve.x[-1], curve.y[-1])
        for point in scatter.points:
            x, y = (one.value if isinstance(one, Estimate) else one for one in (point.x, point.y))
            if point.result is not None:
                plots.draw_bands(ax, point.result, x, across=False)
            plots.draw_interval(ax, point.x, point.y, point.text, **point.style)
            if point.note:
                plots.draw_note(ax, point.note, x, y)
        if scatter.title:
            ax.set_title(plots.fit_text(scatter.title, plots.TITLE_SHARE / per_row), loc="left", fontsize=9.5)
        ax.set_xlabel(scatter.xlabel)
        ax.set_ylabel(scatter.ylabel)
        if scatter.no_ticks:
            ax.set_xticks([])
            ax.set_xlim(-0.7, len(scatter.points) - 0.3)
        for axis, scale, null, name in (
            (ax.xaxis, scatter.x_scale, scatter.x_null, "x"),
            (ax.yaxis, scatter.y_scale, scatter.y_null, "y"),
        ):
            if scale == "log":
                (ax.set_xscale if name == "x" else ax.set_yscale)("log")
            if scale == "ratio":
                points = [point for one in (scatters if one_row else [scatter]) for point in one.points]
                values = [getattr(point, name) for point in points]
                values = [one.value if isinstance(one, Estimate) else one for one in values]
                cut_off = plots.ratio_axis(axis, values if null is None else [null, *values]) or cut_off
    for spare in axes[len(scatters) :]:
        spare.set_visible(False)
    plots.draw_legend(figure, entries)
    return figure, cut_off


def _strongest(name: str) -> str:
    """The strongest shade of a colour of the palette."""
    paper, colour = (np.array(to_rgb(LIGHT[one])) for one in ("paper", name))
    return to_hex(paper + _OPACITY * (colour - paper))


_COLOUR_MAP = LinearSegmentedColormap.from_list(
    "gest", [_strongest("female"), LIGHT["paper"], _strongest("male")]
).with_extremes(bad=LIGHT["line"])


def heat_map(
    values: Floats, rows: Sequence[str], columns: Sequence[str], xlabel: str, largest: float
) -> Figure:
    """A cell for each number, rows from top to bottom, with colours from `-largest` to `largest`."""
    figure, (axes,) = plots.new_figure(1.3 + 0.26 * len(rows))
    height, width = values.shape
    span = largest or 1.0
    axes.pcolormesh(
        np.arange(width + 1),
        np.arange(height, -1, -1) + 0.5,
        np.ma.masked_invalid(values),
        cmap=_COLOUR_MAP,
        vmin=-span,
        vmax=span,
        edgecolor=LIGHT["paper"],
        linewidth=1,
    )
    plots.name_rows(axes, rows, [LIGHT["ink"]] * height)
    axes.set_ylim(0.5, height + 0.5)
    axes.grid(visible=False)
    axes.set_xticks(np.arange(width) + 0.5, columns)
    axes.set_xlabel(xlabel)
    entries = [
        plots.legend_entry(
            format_number(shade * span),
            marker="s",
            markersize=9,
            color=_COLOUR_MAP((shade + 1) / 2),
            markeredgecolor=LIGHT["line"],
        )
        for shade in _SHADES
    ]
    plots.draw_legend(figure, entries, columns=len(entries))
    return figure
