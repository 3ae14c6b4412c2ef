"""Drawing helpers of all figures: axes, marks with tooltips, intervals with their bands, legends."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from gest_dataset.display import printable
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.report.style import LIGHT, MARKERS, RC, SERIES, current_layout

# Ticks of a logarithmic axis within a decade, from fine to coarse; the first that fits is used
_STEPS: tuple[tuple[float, ...], ...] = (
    (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 9.5),
    (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8),
    (1, 2, 3, 5),
    (1, 3),
    (1,),
)
TOOLTIP = "tooltip:"
TITLE_SHARE = 0.73  # of the figure's width is for the titles of one row of axes
_LETTERS_PER_INCH = 12.0
_NOTE_LETTERS_PER_INCH = 5.5
_LABEL_LETTERS_PER_INCH = 13.0
_ROW_NAME_SHARE = 0.45  # of the figure's width at most is for the names of rows
_SHORTEST = 12  # letters of a name in a legend, or of a line of an axis label
_TICK_GAP = 8.0  # between the labels of two ticks
_LEGEND_MARGIN = 10.0
_ZONE: dict[str, Any] = {"color": LIGHT["line"], "linewidth": 15}
_BASELINE: dict[str, Any] = {"color": LIGHT["quiet"], "linewidth": 7, "alpha": 0.35}


class _NotebookFigure(Figure):
    """A figure that a notebook displays without pyplot."""

    def _repr_svg_(self) -> str:
        from gest_dataset.report.panel import file_bytes  # a cycle: panels draw with this module

        return file_bytes(self, "svg").decode()


def new_figure(height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure as wide as the layout, `height` inches high, and its axes row by row."""
    with rc_context(RC):
        figure = _NotebookFigure(figsize=(current_layout().width, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def axes_per_row(most: int) -> int:
    """How many axes a row holds in this layout, if it holds `most` on a page."""
    return max(1, int(most * current_layout().share))


def shorten(text: str, length: int) -> str:
    """The text, cut to `length` letters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def fit_text(text: str, share: float) -> str:
    """The text, cut to this share of the figure's width."""
    return shorten(text, int(share * current_layout().width * _LETTERS_PER_INCH))


def series_style(number: int) -> dict[str, Any]:
    """Colour and marker of a run; runs that share a colour have different markers."""
    marker = number + number // len(SERIES)
    return {"color": SERIES[number % len(SERIES)], "marker": MARKERS[marker % len(MARKERS)]}


def draw_dots(axes: Axes, x: Any, y: Any, text: str, **style: Any) -> None:
    """One dot or several, with a tooltip."""
    (dots,) = axes.plot(x, y, linestyle="", **style)
    dots.set_url(f"{TOOLTIP}{printable(text)}")


def draw_interval(
    axes: Axes,
    x: float | Estimate,
    y: float | Estimate,
    text: str,
    color: str,
    linewidth: float = 2.6,
    **dot: Any,
) -> None:
    """A dot with a tooltip, and the intervals of the coordinates that have one."""
    x_value, *x_bounds = x if isinstance(x, Estimate) else (x,)
    y_value, *y_bounds = y if isinstance(y, Estimate) else (y,)
    line: Any = {"color": color, "linewidth": linewidth, "solid_capstyle": "butt"}
    if x_bounds and not any(map(math.isnan, x_bounds)):
        axes.plot(x_bounds, [y_value] * 2, **line)
    if y_bounds and not any(map(math.isnan, y_bounds)):
        axes.plot([x_value] * 2, y_bounds, **line)
    style = {"color": color, "marker": "o", "markeredgecolor": LIGHT["paper"], **dot}
    draw_dots(axes, x_value, y_value, text, **style)


def draw_note(axes: Axes, text: str, x: float, y: float, fontsize: float = 8) -> None:
    """A short label next to a point, wrapped where the figure is narrow."""
    style: Any = {"textcoords": "offset points", "fontsize": fontsize, "color": LIGHT["quiet"]}
    lines = textwrap.fill(text, int(_NOTE_LETTERS_PER_INCH * current_layout().width))
    axes.annotate(lines, (x, y), (5, 4), annotation_clip=True, **style).set_in_layout(False)


def draw_bands(axes: Axes, result: Result, position: float, across: bool = True) -> None:
    """The zone of negligible effects and the random baseline, behind the interval of a result."""
    baseline = result.get("null", {})
    for bounds, style in (
        ((result["zone_low"], result["zone_high"]), _ZONE),
        ((baseline.get("low", math.nan), baseline.get("high", math.nan)), _BASELINE),
    ):
        if not any(map(math.isnan, bounds)):
            ends = (bounds, [position] * 2) if across else ([position] * 2, bounds)
            axes.plot(*ends, solid_capstyle="butt", zorder=0.6, **style)


def band_entries(results: Sequence[Result]) -> list[Line2D]:
    """Legend entries for the bands of some results; none for no results."""
    if not results:
        return []
    entries = [legend_entry("negligible effects", **{**_ZONE, "linewidth": 9}, solid_capstyle="butt")]
    copies = _baseline_sizes(results)
    if copies:
        entries.append(legend_entry(f"{copies} untrained copies", **_BASELINE, solid_capstyle="butt"))
    return entries


def band_caption(results: Sequence[Result]) -> str:
    """The sentences of a caption that explain the bands."""
    copies = _baseline_sizes(results)
    baseline = f" Narrow dark band: {copies} untrained copies of the model." if copies else ""
    return f"Light band: the zone of negligible effects.{baseline}"


def _baseline_sizes(results: Sequence[Result]) -> str:
    sizes = {len(result["null"]["values"]) for result in results if "null" in result}
    return " or ".join(map(str, sorted(sizes)))


def legend_entry(label: str, **style: Any) -> Line2D:
    """A mark for the legend, with a line if the style has a `linewidth`."""
    return Line2D([], [], label=label, **{"linestyle": "-" if "linewidth" in style else "", **style})


def draw_legend(figure: Figure, entries: Sequence[Any], columns: int = 4) -> None:
    """One legend above all axes, in as many columns as fit; names that are too long are cut."""
    if not entries:
        return
    names = [str(entry.get_label()) for entry in entries]
    longest = max(map(len, names))
    tries = [(number, longest) for number in range(columns, 0, -1)]
    tries += [(1, letters) for letters in range(longest - 2, _SHORTEST, -2)]
    with rc_context(RC):
        for number, letters in tries:
            legend = figure.legend(
                handles=list(entries),
                labels=[shorten(name, letters) for name in names],
                loc="outside upper left",
                ncols=number,
                handletextpad=0.5,
            )
            if legend.get_window_extent().width <= figure.bbox.width - _LEGEND_MARGIN:
                return
            legend.remove()
    raise ValueError(f"A legend of {len(names)} names does not fit into {figure.get_figwidth()} inches.")


def name_rows(axes: Axes, names: Sequence[str], colours: Sequence[str], per_row: int = 1) -> None:
    """Name the rows from top to bottom, the last one at 1; `per_row` axes in a row have their own names."""
    texts = [fit_text(name, _ROW_NAME_SHARE / per_row) for name in names]
    axes.set_yticks(range(len(names), 0, -1), texts)
    for tick, colour in zip(axes.get_yticklabels(), colours, strict=True):
        tick.set_color(colour)


def ratio_axis(axis: Any, values: Sequence[float], most_ticks: int = 8) -> str:
    """Make an axis logarithmic, with readable ticks, showing all `values` and some room around them.

    Intervals that reach far beyond the values are cut off; the returned sentence says so.
    """
    across = axis.axis_name == "x"
    axes: Axes = axis.axes
    get_limits, set_limits, set_scale = (
        (axes.get_xlim, axes.set_xlim, axes.set_xscale)
        if across
        else (axes.get_ylim, axes.set_ylim, axes.set_yscale)
    )
    set_scale("log")
    low, high = whole = sorted(get_limits())
    positive = [value for value in values if 0 < value < math.inf]
    if positive:
        room = max(math.sqrt(max(positive) / min(positive)), 2.0)
        low, high = max(low, min(positive) / room), min(high, max(positive) * room)
        set_limits(low, high)
    for steps in _STEPS:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
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
        axes.set_xlabel(
            textwrap.fill(axes.get_xlabel(), max(_SHORTEST, int(inches * _LABEL_LETTERS_PER_INCH)))
        )
    figure.draw_without_rendering()
    for axes in figure.axes:
        _thin_ticks(axes)
        _thin_notes(axes, figure)


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
        if all(after.x0 - box.x1 >= _TICK_GAP for box, after in pairwise(boxes[first::step])):
            if step > 1:
                axes.set_xticks(ticks[first::step])
            return


def _thin_notes(axes: Axes, figure: Figure) -> None:
    """Hide notes that overlap an earlier one or leave the figure."""
    drawn: list[Any] = []
    for note in (child for child in axes.texts if isinstance(child, Annotation)):
        box = note.get_window_extent()
        inside = figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        if inside and not any(box.overlaps(other) for other in drawn):
            drawn.append(box)
        else:
            note.set_visible(False)
