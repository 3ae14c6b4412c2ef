"""The picture of one result, whatever was measured: what a notebook shows of it.

Of rates, the lines of the measure's grid in each template; of other measures the headline in each template,
with the band of negligible effects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gest_dataset.measures.grid import EMPTY, Estimate, Grid
from gest_dataset.measures.measure import Headline
from gest_dataset.report import canvas
from gest_dataset.report.bands import band_keys, draw_bands
from gest_dataset.report.canvas import DASHED, LIGHT, SERIES, key
from gest_dataset.report.measured import Measured

_PER_ROW = 4
_ROW = 0.27  # inches


def of_result(run: Measured) -> Figure:
    """The picture of a run's result."""
    grids = {number: run.measure.grid(part) for number, part in run.templates.items()}
    first = next(iter(grids.values()))
    return _rates(grids) if first.axis is not None else _headlines(run)


def _headlines(run: Measured) -> Figure:
    """The headline of each template, and of all of them."""
    head = run.measure.headline(run.result)
    parts = {f"template {number}": part for number, part in run.templates.items() if number}
    rows = [(name, part) for name, part in parts.items() if len(parts) > 1] + [(run.label, run.result)]
    figure, (axes,) = canvas.canvas(1.3 + 2 * _ROW * len(rows))
    values = [head.null]
    for place, (name, part) in zip(range(len(rows), 0, -1), rows, strict=True):
        estimate = Estimate.of(part, head.name)
        values.append(estimate.value)
        draw_bands(axes, part, place)
        canvas.interval_mark(
            axes, estimate, place, f"{name}: {head.symbol} {estimate}", SERIES[0], markersize=8
        )
    axes.axvline(head.null, **DASHED)
    canvas.rows_axis(axes, [name for name, _ in rows], [LIGHT["ink"]] * len(rows))
    axes.set_xlabel(f"{head.symbol} (dashed: none)")
    _scale(axes, head, values)
    canvas.legend(figure, band_keys([run.result]))
    return figure


def _scale(axes: Axes, head: Headline, values: Sequence[float]) -> None:
    known = [value for value in values if not math.isnan(value)]
    if head.ratio:
        canvas.ratio_axis(axes.xaxis, known)


def _rates(grids: dict[int, Grid]) -> Figure:
    """The lines of each template's grid from top to bottom, with one colour for each of its headings."""
    per_row = min(canvas.in_a_row(_PER_ROW), len(grids))
    lines = math.ceil(len(grids) / per_row)
    longest = max(len(grid.lines) for grid in grids.values())
    figure, axes = canvas.canvas(lines * (0.9 + _ROW * longest), lines, per_row, sharex=True, sharey=True)
    headings = next(iter(grids.values())).headings
    values: list[float] = []
    for ax, (number, grid) in zip(axes, grids.items(), strict=False):
        for place, line in zip(range(len(grid.lines), 0, -1), grid.lines, strict=True):
            colours = [LIGHT[line.gender or "ink"]] if len(headings) == 1 else SERIES
            for estimate, colour in zip(line.estimates, colours, strict=False):
                if estimate is not EMPTY and not math.isnan(estimate.value):
                    values.append(estimate.value)
                    text = f"{line.name.strip()}: {estimate}"
                    canvas.interval_mark(ax, estimate, place, text, colour, markersize=6)
        if number:
            ax.set_title(f"template {number}", loc="left")
        ax.tick_params(labelbottom=True)
        ax.set_xlabel(" or ".join(headings))
    names = [line.name.strip() for line in grid.lines]
    colours = [LIGHT[line.gender or "ink"] for line in grid.lines]
    for ax in axes[::per_row]:
        canvas.rows_axis(ax, names, colours)
    for ax in axes:
        ax.grid(axis="y", visible=False)
    if grid.axis is not None and grid.axis.ratio:
        for ax in axes:
            ax.axvline(1, **DASHED)
        canvas.ratio_axis(axes[0].xaxis, [1.0, *values], 8 if per_row < 3 else 5)
    for spare in axes[len(grids) :]:
        spare.set_visible(False)
    if len(headings) > 1:
        handles = [
            key(name, color=colour, marker="o", linewidth=2.6)
            for name, colour in zip(headings, SERIES, strict=False)
        ]
        canvas.legend(figure, handles)
    return figure
