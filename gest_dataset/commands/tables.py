"""Results in the terminal: the grid of a measure as a table, with bars if the terminal is wide enough."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gest_dataset.commands.console import INTERVAL, fit_table, format_value, new_table
from gest_dataset.measures.formatting import format_distinct, format_number
from gest_dataset.measures.grid import EMPTY, Axis, Estimate, Grid, Line
from gest_dataset.measures.measure import TOO_FEW_SAMPLES, Measure, Result
from gest_dataset.measures.result import template_results

_STYLES = {"female": "magenta", "male": "cyan"}
# Width of the terminal -> width of a bar, which is odd so that 1 is in the middle
_BAR_WIDTHS = {92: 25, 82: 15, 72: 9}
_MIN_WIDTH_FOR_NAMES = 48


def tables(measure: Measure, result: Result, title: str, console: Console) -> Iterator[Table]:
    """The tables of a result: one per template, and their mean if there are several."""
    for template, part in template_results(result).items():
        yield drawn(measure.grid(part), f"{title}, template {template}" if template else title, console)
    if "by_template" in result:
        yield drawn(_over_templates(measure, result), f"{title}, all templates", console)


def _over_templates(measure: Measure, result: Result) -> Grid:
    """The headline of each template and their mean."""
    name = measure.headline(result).name
    *lines, last = (
        Line(f"template {template}", (Estimate.of(part, name),))
        for template, part in template_results(result).items()
    )
    mean = Line("mean", (Estimate.of(result, name),), bold=True)
    return Grid((name,), (*lines, replace(last, ends_section=True), mean))


def drawn(grid: Grid, title: str, console: Console) -> Table:
    """A grid as a table: estimates with intervals, sample counts and bars."""
    named = console.width >= _MIN_WIDTH_FOR_NAMES or not any(line.short_name for line in grid.lines)
    counted = named and any(line.count is not None for line in grid.lines)
    width = next((bar_width for least, bar_width in _BAR_WIDTHS.items() if console.width >= least), 0)
    headings = [text for heading in grid.headings for text in (heading, INTERVAL)]
    table = new_table(title, console, "", *headings, *(["n"] if counted else []))
    axis = grid.axis if width else None
    ends = (0.0, 1.0)
    if axis is not None:
        ends = _ends(axis, grid)
        left, right = (format_value(end, 1 if axis.ratio else 0) for end in ends)
        middle = "1" if axis.ratio else ""
        half = width // 2
        table.add_column(f"{left:<{half}}{middle:1}{right:>{half}}", no_wrap=True)
        table.caption = axis.caption
    for line in grid.lines:
        cells: list[str | Text] = [line.name if named or not line.short_name else line.short_name]
        for estimate in line.estimates:
            texts = format_value(estimate.value, grid.digits), span(estimate, grid.digits)
            cells += ("", "") if estimate is EMPTY else texts
        if counted:
            cells.append("" if line.count is None else f"{line.count:,}")
        if axis is not None:
            style = _STYLES[line.gender] if line.gender else "bold"
            shape = bar(line.estimates[0], ends, axis.ratio, width, console.options.ascii_only)
            cells.append(Text(shape, style=style))
        table.add_row(*cells, style="bold" if line.bold else None, end_section=line.ends_section)
    return fit_table(table, console, grid.digits)


def _ends(axis: Axis, grid: Grid) -> tuple[float, float]:
    """The ends of an axis: fixed ones, or symmetric around 1 and wide enough for all values."""
    if axis.ends is not None:
        return axis.ends
    values = [line.estimates[0].value for line in grid.lines]
    reach = max([2.0, *(max(value, 1 / value) for value in values if 0 < value < math.inf)])
    return 1 / reach, reach


def span(estimate: Estimate, digits: int = 2) -> str:
    """An interval, such as 0.97-1.20."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return "-"
    low, high = format_value(estimate.low, digits), format_value(estimate.high, digits)
    return f"{low} to {high}" if estimate.low < 0 else f"{low}-{high}"


def bar(
    estimate: Estimate, ends: tuple[float, float], ratio: bool, width: int, ascii_only: bool = False
) -> str:
    """Draw an interval and its value as text; ratios get a logarithmic axis with a mark at 1.

    >>> bar(Estimate(0.5, 0.2, 0.8), (0, 1), ratio=False, width=11)
    '··━━━●━━━··'
    >>> bar(Estimate(1.0, 0.5, 2.0), (0.25, 4), ratio=True, width=25)
    '······━━━━━━●━━━━━━······'
    >>> bar(Estimate(2.0, math.nan, math.nan), (0.25, 4), ratio=True, width=9)
    '····│·●··'
    """
    value, low, high = (
        math.nan if ratio and not 0 < point < math.inf else point
        for point in (estimate.value, estimate.low, estimate.high)
    )
    if math.isnan(value):
        return ""
    empty, middle, within, at = ".|=o" if ascii_only else "·│━●"
    first, last = (math.log(end) if ratio else end for end in ends)

    def place(point: float) -> int:
        share = ((math.log(point) if ratio else point) - first) / (last - first)
        return round(max(0.0, min(1.0, share)) * (width - 1))

    cells = [empty] * width
    if ratio:
        cells[place(1.0)] = middle
    if not (math.isnan(low) or math.isnan(high)):
        start, end = place(low), place(high)
        cells[start : end + 1] = within * (end - start + 1)
    cells[place(value)] = at
    return "".join(cells)


def headline_fields(measure: Measure, result: Result) -> list[str]:
    """The headline of a run with its interval and its verdict."""
    head = measure.headline(result)
    digits = measure.grid(next(iter(template_results(result).values()))).digits
    estimate = Estimate.of(result, head.name)
    value = format_value(estimate.value, digits)
    if math.isnan(estimate.value):
        return [f"{head.symbol} {value}", measure.describe_undefined(result)[0].lower()]
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return [f"{head.symbol} {value}", TOO_FEW_SAMPLES.lower()]
    marks = head.null, result["zone_low"], result["zone_high"]
    (low, high), _ = format_distinct(
        estimate[1:], marks, lambda point, more: format_value(point, digits + more)
    )
    return [f"{head.symbol} {value} [{low} to {high}]", result["verdict"]]


def verdict_lines(measure: Measure, result: Result) -> list[str]:
    """The verdict in words, with the zone of negligible effects and the random baselines."""
    head = measure.headline(result)
    estimate = Estimate.of(result, head.name)
    if any(map(math.isnan, estimate)):
        return []
    marks = head.null, result["zone_low"], result["zone_high"]
    (low, high), (_, least, most) = format_distinct(estimate[1:], marks)
    label = head.verdict_labels[result["verdict"]]
    lines = [f"{label}: {head.symbol} {low} to {high} (negligible range {least} to {most})."]
    baseline = result.get("null")
    if baseline:
        band = " to ".join(format_number(baseline[end]) for end in ("low", "high"))
        lines.append(f"{len(baseline['values'])} randomly initialised copies: {head.symbol} {band}.")
    return lines
