"""`gest compare`: two or more runs on the same samples."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gest_dataset.commands.console import INTERVAL, err, format_value, out, show_json, show_table
from gest_dataset.display import one_line
from gest_dataset.errors import ConfigError
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import json_value

if TYPE_CHECKING:
    from gest_dataset.runs.comparison import ComparisonResult, Difference, TemplateDifference
    from gest_dataset.statistics import Comparison, StereotypeDifference


def run(paths: list[Path], released: str | None = None, as_json: bool = False) -> None:
    from gest_dataset.runs.comparison import compare
    from gest_dataset.runs.plan import plan_lines

    if released is not None:
        _show_released(paths, released, as_json)
        return
    result = compare(paths)
    if as_json:
        show_json(json_value(_to_json(result)))
    else:
        _show(result)
    for note in [*result.notes(), *plan_lines(paths)]:
        err.print(note)


def _show_released(paths: list[Path], where: str, as_json: bool) -> None:
    """One run beside the published models with released scores."""
    from gest_dataset.published.released import Released
    from gest_dataset.runs.folder import find_runs
    from gest_dataset.runs.population import compare_released

    runs = find_runs(paths)
    if len(runs) != 1:
        raise ConfigError(f"--released takes one run, and here are {len(runs)}. Give the run's own folder.")
    population = compare_released(runs[0], Released(where))
    ranked = sorted(population.neighbours, key=lambda one: one.difference.comparison.difference)
    if as_json:
        rows = [{**asdict(one.difference), "agreement": one.agreement} for one in ranked]
        show_json(json_value({"text": population.text(), "models": rows, "notes": population.notes}))
        return
    lines = []
    for one in ranked:
        compared = one.difference.comparison
        numbers = _numbers(compared, "ratio")[1:]
        lines.append(
            (one.difference.baseline, *numbers, _p_value(one.difference.p_holm), f"{one.agreement:.2f}")
        )
    first = ranked[0].difference
    title = f"{one_line(first.run)}: g_s {first.comparison.a:.2f} compared with released scores"
    show_table(title, ("model", "g_s", "ratio", INTERVAL, "p (Holm)", "r of sentences"), lines)
    out.print(population.text())
    for note in population.notes:
        err.print(f"Note: {note}")


def _parts(row: "Difference") -> "list[Difference | TemplateDifference]":
    """A difference, and those in single templates."""
    return [row, *row.by_template]


def _to_json(result: "ComparisonResult") -> dict[str, Any]:
    """The result with the ratios and the smallest detectable differences."""
    content = asdict(result)
    for entry, row in zip(content["differences"], result.differences, strict=True):
        for part, source in zip([entry, *entry["by_template"]], _parts(row), strict=True):
            found = source.comparison
            part["comparison"] |= {"ratio_interval": found.times, "smallest": found.smallest}
        entry["disagreement"] = row.disagreement()
        for part, stereotype in zip(entry["by_stereotype"], row.by_stereotype, strict=True):
            part |= {"ratio_interval": stereotype.times, "shown": stereotype.shown}
    return content | {"unmatched": [str(path) for path in result.unmatched]}


def _show(result: "ComparisonResult") -> None:
    rows = result.differences
    if result.languages:
        languages = f"{len(result.languages)} languages: {', '.join(result.languages)}"
        out.print(f"{languages}, compared on the {rows[0].n:,} source sentences that they share.")
    groups: dict[Any, list[Difference]] = {}
    for row in rows:
        key = (row.baseline, "" if result.languages else row.config, row.templates)
        groups.setdefault(key, []).append(row)
    for group in groups.values():
        _show_group(group)
    if len(rows) > 1:
        out.print(f"p is corrected for {len(rows)} comparisons (Holm).")
    if result.languages:
        title = "Source sentences that deviate most from their means over languages (standard deviations)"
        columns = ("source", "stereotype", "language", "deviation")
        lines = [
            (one_line(row["source"]), row["stereotype"], row["language"], f"{row['deviation']:+.1f}")
            for row in result.deviations
        ]
        show_table(title, columns, lines)
        number = sum(row["stands_out"] for row in result.deviations)
        out.print(f"{number or 'None'} of them stand{'s' * (number < 2)} out from all other sentences.")


def _show_group(rows: "Sequence[Difference]") -> None:
    first, measure = rows[0], rows[0].comparison.measure
    kind = "ratio" if first.comparison.ratio else "difference"
    title = f"{first.config}: {measure} compared with {first.baseline} ({kind})"
    if first.templates:
        mean = "mean of templates" if len(first.templates) > 1 else "template"
        title += f", {mean} {', '.join(map(str, first.templates))}"
    counts = {part.n for row in rows for part in _parts(row)}
    if len(counts) == 1:  # one column less
        title += f", {first.n:,} samples"
    lines, second = [], []
    for row in rows:
        names = [one_line(row.run), *(f"template {part.template}" for part in row.by_template)]
        for name, part in zip(names, _parts(row), strict=True):
            count = [part.n] if len(counts) > 1 else []
            lines.append((name, *_numbers(part.comparison, kind), _p_value(part.p_holm), *count))
        if row.second:
            numbers = _numbers(row.second, "difference")
            second.append((one_line(row.run), *numbers, _p_value(row.p_holm_second)))
    columns = ("baseline", kind, INTERVAL, "p (Holm)")
    show_table(title, ("model", measure, *columns, *(["samples"] if len(counts) > 1 else [])), lines)
    if first.second:
        name = first.second.measure
        title = {"d": "d = ln g_s / s", "ss": "SS"}[name]
        show_table(title, ("model", name, "baseline", "difference", *columns[2:]), second)
    for row in rows:
        name = one_line(row.run)
        if disagreement := row.disagreement():
            out.print(f"{name}: {disagreement}")
        if row.missing:
            out.print(f"{name}: {row.missing:,} samples are in only one of the runs and are left out.")
        if row.unknown:
            out.print(f"{name}: {row.unknown:,} samples show no gender in one of the runs and are left out.")
        out.print(f"{name}: {_power(row.comparison, kind)}")
        differing = [
            (f"{one.stereotype:2} {STEREOTYPES[one.stereotype].name}", *_numbers(one, "ratio"))
            for one in row.by_stereotype
            if one.shown
        ]
        if differing:
            title = f"{name}: ratios of q whose simultaneous interval excludes 1"
            show_table(title, ("stereotype", "q", "baseline", "ratio", INTERVAL), differing)


def _p_value(p: float | None) -> str:
    return "<0.001" if p is not None and p < 0.001 else format_value(p, 3)


def _power(found: "Comparison", kind: str) -> str:
    """A sentence about the smallest difference, or logarithm of a ratio, that would be detected."""
    if found.samples_needed:
        return (
            f"no interval of ICAT, which is highest at an SS of 50: both SS are too close to it. About "
            f"{found.samples_needed:,} samples would be enough; compare SS instead."
        )
    smallest = found.smallest
    if math.isnan(smallest):
        return "all samples differ equally (or not at all), so the power is unknown."
    is_ratio = kind == "ratio"
    least = math.expm1(min(smallest, 700)) if is_ratio else smallest
    size = format_value(least + is_ratio, 3) if least >= 0.001 else f"{'1 + ' * is_ratio}{least:.1g}"
    return f"a true {kind} of {size} or more would be detected with 80 % power."


def _numbers(found: "Comparison | StereotypeDifference", kind: str) -> tuple[str, ...]:
    """Both values, and their ratio or difference with its interval."""
    if kind == "ratio":
        value, low, high = (format_value(number, 3) for number in found.times)
    else:
        limits = found.difference, found.low, found.high
        value, low, high = ("–" if math.isnan(number) else f"{number:+.3f}" for number in limits)
    return format_value(found.a, 3), format_value(found.b, 3), value, f"{low} to {high}"
