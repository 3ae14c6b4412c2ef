"""Results in the terminal: the grid of a measure as a table."""

import math
from dataclasses import replace

from gest_dataset.commands.console import INTERVAL, new_table, out, print_table
from gest_dataset.measures.formatting import format_distinct, format_number
from gest_dataset.measures.grid import EFFECT_SIZE, Estimate, Grid, Line, effect_size_text
from gest_dataset.measures.measure import TOO_FEW_SAMPLES, Measure, Result
from gest_dataset.measures.result import template_results, verdict_text

_MOST_TEMPLATES = 4


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
            values = [format_number(line.estimates[0].value) for line in row]
            style = "bold" if row[0].bold else None
            table.add_row(row[0].name, *values, style=style, end_section=row[0].ends_section)
        print_table(table)


def show_grid(grid: Grid, title: str) -> None:
    """Print a grid as a table: estimates with intervals, and sample counts."""
    lines = [line for line in grid.lines if line.count != 0]
    counted = any(line.count is not None for line in lines)
    headings = [text for heading in grid.headings for text in (heading, INTERVAL)]
    table = new_table(title, ["", *headings, *(["n"] if counted else [])], grid.caption)
    for line in lines:
        cells = [line.name, *(text for estimate in line.estimates for text in estimate.texts)]
        if counted:
            cells.append("" if line.count is None else f"{line.count:,}")
        table.add_row(*cells, style="bold" if line.bold else None, end_section=line.ends_section)
    print_table(table)


def headline_fields(measure: Measure, result: Result) -> list[str]:
    """The headline of a run with its interval and its verdict."""
    head = measure.headline(result)
    estimate = Estimate.of(result, head.name)
    value = f"{head.symbol} {format_number(estimate.value)}"
    if math.isnan(estimate.value):
        return [value, measure.sentences("undefined", result)[0].lower()]
    if math.isnan(estimate.low + estimate.high):
        return [value, TOO_FEW_SAMPLES.lower()]
    marks = head.null, result["zone_low"], result["zone_high"]
    (low, high), _ = format_distinct(estimate[1:], marks)
    size = f", d {format_number(result[EFFECT_SIZE])}" if EFFECT_SIZE in result else ""
    return [f"{value} [{low} to {high}]{size}", verdict_text(measure, result)]


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
