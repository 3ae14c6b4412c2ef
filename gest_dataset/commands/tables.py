"""Results in the terminal: the grid of a measure as a table, with bars if the terminal is wide enough."""

import math
from dataclasses import replace

from rich.text import Text

from gest_dataset.commands.console import INTERVAL, format_value, new_table, out, print_table
from gest_dataset.measures.formatting import format_distinct, format_number
from gest_dataset.measures.grid import EFFECT_SIZE, EMPTY, Estimate, Grid, Line, effect_size_text
from gest_dataset.measures.measure import TOO_FEW_SAMPLES, Measure, Result
from gest_dataset.measures.result import template_results

_STYLES = {"female": "magenta", "male": "cyan", None: "bold"}
# Width of the terminal -> width of a bar, which is odd so that 1 is in the middle
_BAR_WIDTHS = {92: 25, 82: 15, 72: 9}
_MIN_WIDTH_FOR_NAMES = 48
_LONGEST_NAME = 34  # of a line, in a terminal of up to 92 columns
_MOST_TEMPLATES = 4
_ASCII = str.maketrans("·│━●", ".|=o")


def show_result(measure: Measure, result: Result, title: str, verbose: bool = True) -> None:
    """Print the verdict, then a table: for each template if `verbose`, else of the templates side by side."""
    for line in verdict_lines(measure, result):
        out.print(line)
    parts = template_results(result)
    if "by_template" in result:
        name = measure.headline(result).name
        names = (name, EFFECT_SIZE)
        lines = [
            Line(f"template {number}", tuple(Estimate.of(part, one) for one in names))
            for number, part in parts.items()
        ]
        lines[-1] = replace(lines[-1], ends_section=True)
        mean = Line("mean", tuple(Estimate.of(result, one) for one in names), bold=True)
        show_grid(Grid(names, (*lines, mean)), f"{title}, all templates")
    if len(parts) == 1 or verbose:
        for template, part in parts.items():
            show_grid(measure.grid(part), f"{title}, template {template}" if template else title)
    elif len(parts) <= _MOST_TEMPLATES:
        table = new_table(f"{title}, q by template", ["", *map(str, parts)])
        for row in zip(*(measure.grid(part).lines for part in parts.values()), strict=True):
            values = [format_value(line.estimates[0].value) for line in row]
            style = "bold" if row[0].bold else None
            table.add_row(row[0].name, *values, style=style, end_section=row[0].ends_section)
        print_table(table)


def show_grid(grid: Grid, title: str) -> None:
    """Print a grid as a table: estimates with intervals, sample counts and bars."""
    rows = [line for line in grid.lines if line.count != 0]
    longest = max(_LONGEST_NAME, out.width - 58) if out.width >= _MIN_WIDTH_FOR_NAMES else 0
    spare = out.width - 24 * (len(grid.headings) - 1)
    counted = spare >= _MIN_WIDTH_FOR_NAMES + 10 and any(line.count is not None for line in rows)
    headings = [text for heading in grid.headings for text in (heading, INTERVAL)]
    table = new_table(title, ["", *headings, *(["n"] if counted else [])])
    width = next((bar_width for least, bar_width in _BAR_WIDTHS.items() if spare >= least), 0)
    axis = grid.axis if width else None
    if axis is not None:
        values = [line.estimates[0].value for line in rows if line.drawn]
        reach = max([2.0, *(max(value, 1 / value) for value in values if 0 < value < math.inf)])
        ends = axis.ends or (1 / reach, reach)
        left, right = (format_value(end, 1 if axis.ratio else 0) for end in ends)
        half = width // 2
        if max(len(left), len(right)) >= half:
            left = right = ""
        table.add_column(f"{left:<{half}}{'1' if axis.ratio else '':1}{right:>{half}}", no_wrap=True)
        table.caption = axis.caption
    for line in rows:
        is_long = line.short_name and len(line.name) > longest
        cells: list[str | Text] = [line.short_name or "" if is_long else line.name]
        for estimate in line.estimates:
            texts = format_value(estimate.value, grid.digits), span(estimate, grid.digits)
            cells += ("", "") if estimate is EMPTY else texts
        if counted:
            cells.append("" if line.count is None else f"{line.count:,}")
        if axis is not None:
            drawing = bar(line.estimates[0], ends, axis.ratio, width) if line.drawn else ""
            drawing = drawing.translate(_ASCII) if out.options.ascii_only else drawing
            cells.append(Text(drawing, style=_STYLES[line.gender]))
        table.add_row(*cells, style="bold" if line.bold else None, end_section=line.ends_section)
    print_table(table)


def span(estimate: Estimate, digits: int = 2) -> str:
    """An interval, such as 0.97-1.20."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return "-"
    low, high = format_value(estimate.low, digits), format_value(estimate.high, digits)
    return f"{low} to {high}" if estimate.low < 0 else f"{low}-{high}"


def bar(estimate: Estimate, ends: tuple[float, float], ratio: bool, width: int) -> str:
    """Draw an interval and its value as text; ratios get a logarithmic axis with a mark at 1.

    >>> bar(Estimate(0.5, 0.2, 0.8), (0, 1), ratio=False, width=11)
    '··━━━●━━━··'
    >>> bar(Estimate(1.0, 0.5, 2.0), (0.25, 4), ratio=True, width=25)
    '······━━━━━━●━━━━━━······'
    >>> bar(Estimate(2.0, math.nan, math.nan), (0.25, 4), ratio=True, width=9)
    '····│·●··'
    """
    numbers = [*estimate, *ends, 1.0]
    if ratio:
        numbers = [math.log(number) if 0 < number < math.inf else math.nan for number in numbers]
    value, low, high, first, last, one = numbers
    if math.isnan(value):
        return ""

    def place(number: float) -> int:
        return round(max(0.0, min(1.0, (number - first) / (last - first))) * (width - 1))

    cells = ["·"] * width
    if ratio:
        cells[place(one)] = "│"
    if not math.isnan(low + high):
        cells[place(low) : place(high) + 1] = "━" * (place(high) - place(low) + 1)
    cells[place(value)] = "●"
    return "".join(cells)


def headline_fields(measure: Measure, result: Result) -> list[str]:
    """The headline of a run with its interval and its verdict."""
    head = measure.headline(result)
    digits = measure.grid(next(iter(template_results(result).values()))).digits
    estimate = Estimate.of(result, head.name)
    value = f"{head.symbol} {format_value(estimate.value, digits)}"
    if math.isnan(estimate.value):
        return [value, measure.describe_undefined(result)[0].lower()]
    if math.isnan(estimate.low + estimate.high):
        return [value, TOO_FEW_SAMPLES.lower()]
    marks = head.null, result["zone_low"], result["zone_high"]
    (low, high), _ = format_distinct(estimate[1:], marks, lambda number, n: format_value(number, digits + n))
    size = f", d {format_value(result[EFFECT_SIZE], digits)}" if EFFECT_SIZE in result else ""
    return [f"{value} [{low} to {high}]{size}", result["verdict"]]


def verdict_lines(measure: Measure, result: Result) -> list[str]:
    """The verdict in words, with the zone of negligible effects and the random baselines."""
    head = measure.headline(result)
    estimate = Estimate.of(result, head.name)
    if math.isnan(estimate.value):
        label, *sentences = measure.sentences("undefined", result)
        return [f"{label}.", *sentences]
    if any(map(math.isnan, estimate)):
        return [f"{TOO_FEW_SAMPLES}: {head.symbol} {format_number(estimate.value)} has no interval."]
    marks = head.null, result["zone_low"], result["zone_high"]
    (low, high), (_, least, most) = format_distinct(estimate[1:], marks)
    label = head.verdict_labels[result["verdict"]]
    lines = [f"{label}: {head.symbol} {low} to {high} (negligible range {least} to {most})."]
    if size := effect_size_text(result):
        lines.append(f"In standard deviations of the scores: {size}.")
    lines += measure.sentences("placebo", result)
    if baseline := result.get("null"):
        band = " to ".join(format_number(baseline[end]) for end in ("low", "high"))
        lines.append(f"{len(baseline['values'])} randomly initialised copies: {head.symbol} {band}.")
    return lines
