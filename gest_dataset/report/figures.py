"""The figures of reports, studies and sweeps: charts with marks (intervals or a scatter)."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from gest_dataset.display import printable
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.report.labels import shorten
from gest_dataset.report.panel import baseline_copies, file_bytes
from gest_dataset.report.style import BOXES, DASHED, FIT, LAYOUT, LIGHT, RC, STYLES, TOOLTIP

PER_ROW = 4


@dataclass(frozen=True)
class Mark:
    """A dot, or several with one tooltip (or none); an `Estimate` has its interval drawn.

    In a chart with named rows, y is the number of a row, from 0 at the top. `low` and `high` are the ends of
    thin lines, `note` is a short label, and `result` is the one whose bands are drawn behind the mark.
    """

    x: Any
    y: Any
    text: str
    style: dict[str, Any]
    note: str = ""
    low: Any = None
    high: Any = None
    result: Result | None = None


@dataclass(frozen=True)
class Curve:
    """A line with a note at its last point and a band from `low` to `high`."""

    x: Any
    y: Any
    style: dict[str, Any]
    note: str = ""
    low: Any = None
    high: Any = None


@dataclass(frozen=True)
class Chart:
    """One pair of axes, with their settings by matplotlib's names.

    `ratio` is the axis, x or y, that is logarithmic with readable ticks. A null is a dashed line. `boxes` is
    a table [values, rows] of box plots.
    """

    axes: Mapping[str, Any]
    marks: Sequence[Mark] = ()
    title: str = ""
    x_null: float | None = None
    y_null: float | None = None
    ratio: str = ""
    curves: Sequence[Curve] = ()
    boxes: Any = None

    def values(self, axis: str) -> list[float]:
        """All values that an axis, x or y, has to show."""
        null: float | None = getattr(self, f"{axis}_null")
        places = [getattr(mark, axis) for mark in self.marks]
        values = [np.atleast_1d(one.value if isinstance(one, Estimate) else one).tolist() for one in places]
        return sum(values, [] if null is None else [null])


@dataclass(frozen=True)
class Rows:
    """The names and colours of the rows of charts; the first `split` are about women."""

    names: Sequence[str]
    colours: Sequence[str] = ()
    split: int | None = None


def draw_charts(
    charts: Sequence[Chart],
    height: float,
    entries: Sequence[Any] = (),
    rows: Rows | None = None,
    per_row: int = PER_ROW,
    shared_axis: bool = False,
) -> tuple[Figure, str]:
    """A figure of one chart or several, and what its caption says about intervals that are cut off.

    `height` is that of one row of charts in inches, `entries` are the legend's. Charts with named `rows` (a
    forest plot) share them; with `shared_axis` they share the horizontal axis.
    """
    per_row = min(axes_per_row(per_row), len(charts))
    lines = math.ceil(len(charts) / per_row)
    with rc_context(RC):
        figure = _NotebookFigure(figsize=(LAYOUT.get().width, height * lines), layout="constrained")
        grid = figure.subplots(lines, per_row, squeeze=False, sharex=shared_axis, sharey=rows is not None)
    axes = list(grid.flat)
    for position, (ax, chart) in enumerate(zip(axes, charts, strict=False)):
        if rows is not None:
            _draw_rows(ax, rows, named=position % per_row == 0)
        _draw_chart(ax, chart, rows)
        title = [fit_text(line, FIT["title_share"] / per_row) for line in chart.title.split("\n")]
        ax.set_title("\n".join(title), loc="left", fontsize=9)
    cut_off = ""
    for ax, chart in zip(axes, charts, strict=False):
        if chart.ratio == "x":
            values = [value for one in (charts if shared_axis else [chart]) for value in one.values("x")]
            cut_off = ratio_axis(ax.xaxis, values, 5 if per_row >= 3 else 8) or cut_off
        elif chart.ratio == "y":
            cut_off = ratio_axis(ax.yaxis, chart.values("y")) or cut_off
    for spare in axes[len(charts) :]:
        spare.set_visible(False)
    draw_legend(figure, entries)
    return figure, cut_off


def _draw_rows(axes: Axes, rows: Rows, named: bool) -> None:
    """The names of the rows, and the grounds of stereotypes about women and about men."""
    count = len(rows.names)
    if rows.split is not None:
        middle = count + 0.5 - rows.split
        axes.axhspan(middle, count + 1.2, color=LIGHT["female"], alpha=0.06, linewidth=0)
        axes.axhspan(-0.2, middle, color=LIGHT["male"], alpha=0.05, linewidth=0)
    if named:
        names = [fit_text(name, FIT["row_name_share"]) for name in rows.names]
        axes.set_yticks(range(count, 0, -1), names)
        for tick, colour in zip(axes.get_yticklabels(), rows.colours or [LIGHT["ink"]] * count, strict=True):
            tick.set_color(colour)
    axes.set_ylim(0.3, count + 0.7)
    axes.grid(axis="y", visible=False)
    axes.tick_params(labelbottom=True)


def _draw_chart(axes: Axes, chart: Chart, rows: Rows | None) -> None:
    if rows is not None and chart.boxes is not None and len(chart.boxes):
        boxes = axes.boxplot(chart.boxes, positions=range(len(rows.names), 0, -1), **BOXES)
        for box, colour in zip(boxes["boxes"], rows.colours, strict=True):
            box.set_facecolor(colour)
    for null, line in ((chart.x_null, axes.axvline), (chart.y_null, axes.axhline)):
        if null is not None:
            line(null, **DASHED)
    for curve in chart.curves:
        if curve.low is not None:
            color = curve.style["color"]
            axes.fill_between(curve.x, curve.low, curve.high, color=color, alpha=0.2, linewidth=0)
        axes.plot(curve.x, curve.y, **curve.style)
        if curve.note:
            draw_note(axes, curve.note, curve.x[-1], curve.y[-1])
    for mark in chart.marks:
        _draw_mark(axes, mark, len(rows.names) if rows else None)
    axes.set(**chart.axes)


def _draw_mark(axes: Axes, mark: Mark, rows: int | None) -> None:
    style = {"marker": "o", "markeredgecolor": LIGHT["paper"], "linewidth": 2.6, **mark.style}
    line = {"color": style["color"], "linewidth": style["linewidth"], "solid_capstyle": "butt"}
    (x, *x_bounds), (y, *y_bounds) = (
        place if isinstance(place, Estimate) else (place,) for place in (mark.x, mark.y)
    )
    if rows is not None:
        y = rows - np.asarray(y)
    if mark.result is not None:
        draw_bands(axes, mark.result, x if rows is None else y, across=rows is not None)
    if mark.low is not None:
        finite = np.isfinite(mark.low) & np.isfinite(mark.high)
        low, high = (np.where(finite, end, math.nan) for end in (mark.low, mark.high))
        axes.hlines(y, low, high, colors=style["color"], linewidth=1.1, alpha=0.5)
    if x_bounds and not any(map(math.isnan, x_bounds)):
        axes.plot(x_bounds, [y] * 2, **line)
    if y_bounds and not any(map(math.isnan, y_bounds)):
        axes.plot([x] * 2, y_bounds, **line)
    (dots,) = axes.plot(x, y, linestyle="", **style)
    if mark.text:
        dots.set_url(f"{TOOLTIP}{printable(mark.text)}")
    if mark.note:
        draw_note(axes, mark.note, x, y)


# --- axes, marks and texts


class _NotebookFigure(Figure):
    """A figure that a notebook displays without pyplot."""

    def _repr_svg_(self) -> str:
        return file_bytes(self, "svg").decode()


def axes_per_row(most: int) -> int:
    """How many axes a row holds in this layout, if it holds `most` on a page."""
    return max(1, int(most * LAYOUT.get().share))


def fit_text(text: str, share: float) -> str:
    """The text, cut to this share of the figure's width."""
    return shorten(text, int(share * LAYOUT.get().width * FIT["letters"]))


def spaced_offsets(number: int, reach: float) -> list[float]:
    """Offsets at equal distances, from `-reach` to `reach`; 0 for a single one."""
    return np.linspace(-reach, reach, number).tolist() if number > 1 else [0.0]


def draw_note(axes: Axes, text: str, x: float, y: float) -> None:
    """A short label next to a point, wrapped where the figure is narrow."""
    style: Any = {"textcoords": "offset points", "fontsize": 8, "color": LIGHT["quiet"]}
    lines = textwrap.fill(text, int(FIT["note_letters"] * LAYOUT.get().width))
    axes.annotate(lines, (x, y), (5, 4), annotation_clip=True, **style).set_in_layout(False)


def draw_bands(axes: Axes, result: Result, position: float, across: bool) -> None:
    """The zone of negligible effects, the placebo band and the random baseline, behind an interval."""
    zone = {"low": result["zone_low"], "high": result["zone_high"]}
    for name, band in (("zone", zone), ("placebo", result.get("placebo")), ("baseline", result.get("null"))):
        if band:
            bounds = band["low"], band["high"]
            ends = (bounds, [position] * 2) if across else ([position] * 2, bounds)
            axes.plot(*ends, solid_capstyle="butt", zorder=0.6, **STYLES[name])


def band_entries(results: Sequence[Result]) -> list[Line2D]:
    """Legend entries for the bands of some results; none for no results."""
    if not results:
        return []
    bands = {"negligible effects": {**STYLES["zone"], "linewidth": 9}}
    if any("placebo" in result for result in results):
        bands["placebo words"] = STYLES["placebo"]
    if copies := baseline_copies(results):
        bands[f"{copies} untrained copies"] = STYLES["baseline"]
    return [legend_entry(name, **style, solid_capstyle="butt") for name, style in bands.items()]


def legend_entry(label: str, **style: Any) -> Line2D:
    """A mark for the legend, with a line if the style has a `linewidth`."""
    return Line2D([], [], label=label, **{"linestyle": "-" if "linewidth" in style else "", **style})


def draw_legend(figure: Figure, entries: Sequence[Line2D]) -> None:
    """One legend above all axes, in as many columns as fit; names that are too long are cut."""
    if not entries:
        return
    inches, letters, mark = figure.get_figwidth(), FIT["legend_letters"], FIT["legend_mark"]
    names = [shorten(str(entry.get_label()), int((inches - mark) * letters)) for entry in entries]
    columns = int(inches / (max(map(len, names)) / letters + mark))
    columns = min(FIT["legend_columns"], max(1, columns))
    with rc_context(RC):
        figure.legend(list(entries), names, loc="outside upper left", ncols=columns, handletextpad=0.5)


def ratio_axis(axis: Any, values: Sequence[float], most_ticks: int = 8) -> str:
    """Make an axis logarithmic, with readable ticks, showing all `values` and some room around them.

    Intervals that reach far beyond the values are cut off; the returned sentence says so.
    """
    axes, name = axis.axes, axis.axis_name
    axes.set(**{f"{name}scale": "log"})
    low, high = whole = sorted(getattr(axes, f"get_{name}lim")())
    positive = [value for value in values if 0 < value < math.inf]
    if positive:
        room = max(math.sqrt(max(positive) / min(positive)), 2.0)
        low, high = max(low, min(positive) / room), min(high, max(positive) * room)
        axes.set(**{f"{name}lim": (low, high)})
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in FIT["log_ticks"]:
        # Parsed from text, since 7 * 0.1 is not 0.7
        ticks = {float(f"{step}e{decade}") for decade in decades for step in steps}
        ticks = {tick for tick in ticks if low <= tick <= high}
        if len(ticks) <= most_ticks:
            axis.set_ticks(sorted(ticks))
            break
    axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    return "" if [low, high] == whole else "Intervals that reach beyond the axis are cut off there."


def fit_figure(figure: Figure) -> None:
    """Make all texts fit a narrow figure: wrap labels, and drop ticks and notes that overlap others."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        inches = axes.get_window_extent().width / figure.dpi
        letters = max(FIT["shortest_label"], int(inches * FIT["label_letters"]))
        axes.set_xlabel(textwrap.fill(axes.get_xlabel(), letters))
    figure.draw_without_rendering()
    for axes in figure.axes:
        _thin_ticks(axes)
        drawn: list[Any] = []
        for note in (child for child in axes.texts if isinstance(child, Annotation)):
            box = note.get_window_extent()
            inside = figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            if inside and not any(box.overlaps(other) for other in drawn):
                drawn.append(box)
            else:
                note.set_visible(False)


def _thin_ticks(axes: Axes) -> None:
    """Keep every second, third, … tick of the horizontal axis, so that no labels touch; keep 1."""
    ticks, boxes = [], []
    for tick, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        x = axes.transData.transform((tick, 0))[0]
        if axes.bbox.x0 - 1 <= x <= axes.bbox.x1 + 1:
            ticks.append(tick)
            boxes.append(label.get_window_extent())
    for step in range(1, len(ticks) + 1):
        first = ticks.index(1) % step if 1 in ticks else 0
        if all(after.x0 - box.x1 >= FIT["tick_gap"] for box, after in pairwise(boxes[first::step])):
            if step > 1:
                axes.set_xticks(ticks[first::step])
            return
