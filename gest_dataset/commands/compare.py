"""`gest compare`: two or more runs on the same samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands.console import INTERVAL, err, fit_table, format_value, new_table, out, show_json
from gest_dataset.commands.options import Json
from gest_dataset.display import one_line
from gest_dataset.errors import ConfigError
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import csv_text, json_value

if TYPE_CHECKING:
    from gest_dataset.runs.comparison import ComparisonResult, Difference
    from gest_dataset.statistics import Comparison, StereotypeDifference

EXAMPLES = (
    "Examples: [bold]gest compare gest-runs/roberta-base/en gest-runs/my-model/en[/bold], [bold]gest compare "
    "gest-runs/roberta-base gest-runs/my-model[/bold] (all configs that both have), [bold]gest compare "
    "gest-runs/xlmr/sk_pairs gest-runs/xlmr/cs_pairs[/bold] (two languages), [bold]gest compare gest-runs/a "
    "gest-runs/b --csv[/bold] (one flat table)"
)
_MAX_ITEMS = 20
# The columns of --csv
_VALUES = ("value", "baseline_value", "difference", "low", "high", "ratio", "ratio_low", "ratio_high")
_COLUMNS = (
    *("config", "template", "stereotype", "run", "baseline", "measure", *_VALUES),
    *("p", "p_holm", "smallest", "n", "missing", "unknown"),
)


def run(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN RUN...",
            help="Runs of one config, folders of runs, or runs on pairs (or neutral sentences) of several "
            "languages. The first is the baseline.",
        ),
    ],
    csv: Annotated[bool, typer.Option("--csv", help="Print one flat table with all numbers as CSV.")] = False,
    as_json: Json = False,
) -> None:
    """Compare runs: is one model more biased than the other?

    Prints differences from the first run, paired by sample, with 95 % intervals; g_s is compared as a ratio.
    p-values are corrected for the number of comparisons (Holm). Each difference has the smallest one that the
    samples could show. Folders are compared config by config; languages on the sources that all of them have.
    """
    from gest_dataset.runs.comparison import compare

    if csv and as_json:
        raise ConfigError("--csv and --json cannot be combined.")
    result = compare(paths)
    if as_json:
        show_json(json_value(_to_json(result)))
    elif csv:
        rows = [row for difference in result.differences for row in _flat_rows(difference)]
        typer.echo(
            csv_text(_COLUMNS, [[json_value(row.get(name)) for name in _COLUMNS] for row in rows]), nl=False
        )
    else:
        _show(result)
    for note in result.notes():
        err.print(note, soft_wrap=True)


def _to_json(result: ComparisonResult) -> dict[str, Any]:
    differences = []
    for one in result.differences:
        entry = asdict(one)
        for part, comparison in zip(
            [entry, *entry["by_template"]],
            [one.comparison, *(part.comparison for part in one.by_template)],
            strict=True,
        ):
            part["comparison"] |= {"ratio_interval": comparison.times, "smallest": comparison.smallest}
        for part, stereotype in zip(entry["by_stereotype"], one.by_stereotype, strict=True):
            part |= {"ratio_interval": stereotype.times, "shown": stereotype.shown}
        differences.append(entry)
    return {
        "differences": differences,
        "languages": result.languages,
        "items": [asdict(item) for item in result.items],
        "unmatched": [str(path) for path in result.unmatched],
        "skipped": result.skipped,
    }


def _flat_rows(one: Difference) -> Iterator[dict[str, Any]]:
    """The headline, its templates and its stereotypes as rows of the CSV."""
    names = {"config": one.config, "run": one.run, "baseline": one.baseline}
    template = "mean" if len(one.templates) > 1 else "".join(map(str, one.templates))
    counts = {"n": one.n, "missing": one.missing, "unknown": one.unknown}
    yield names | {"template": template} | _flat_comparison(one.comparison, one.p_holm) | counts
    for part in one.by_template:
        entry = names | {"template": str(part.template)} | _flat_comparison(part.comparison, part.p_holm)
        yield entry | {"n": part.n, "missing": part.missing}
    for stereotype in one.by_stereotype:
        where = {"template": template, "stereotype": stereotype.stereotype, "measure": "q"}
        yield names | where | _flat_values(stereotype)


def _flat_comparison(comparison: Comparison, p_holm: float) -> dict[str, Any]:
    tested = {"p": comparison.p_value, "p_holm": p_holm, "smallest": comparison.smallest}
    return {"measure": comparison.measure} | _flat_values(comparison) | tested


def _flat_values(one: Comparison | StereotypeDifference) -> dict[str, Any]:
    return dict(zip(_VALUES, (one.a, one.b, one.difference, one.low, one.high, *one.times), strict=True))


def _show(result: ComparisonResult) -> None:
    """Print tables, and notes about what they are based on."""
    rows = result.differences
    if result.languages:
        out.print(
            f"{len(result.languages)} languages: {', '.join(result.languages)}, compared on the "
            f"{rows[0].n:,} sources that all of them have."
        )
    keys = [(row.baseline, "" if result.languages else row.config, row.templates) for row in rows]
    for key in dict.fromkeys(keys):
        group = [row for row, own in zip(rows, keys, strict=True) if own == key]
        _show_group(group, bool(result.languages))
    if len(rows) > 1:
        out.print(f"p is corrected for {len(rows)} comparisons (Holm).")
    if result.languages:
        out.print(
            f"{len(result.items):,} of {rows[0].n:,} sources behave differently in one language (Holm, 5 %)."
        )
        for item in result.items[:_MAX_ITEMS]:
            source = f"{one_line(item.source)}  (stereotype {item.stereotype})"
            out.print(f"  {item.language}  {item.residual:+.2f}  {source}")
        if len(result.items) > _MAX_ITEMS:
            out.print(f"  … {len(result.items) - _MAX_ITEMS:,} more; --json lists all")


def _show_group(rows: Sequence[Difference], languages: bool) -> None:
    """Print the differences of one config from one baseline."""
    first, measure = rows[0], rows[0].comparison.measure
    kind = "ratio" if first.comparison.ratio else "difference"
    config = first.config.rpartition("_")[2] if languages else first.config
    where = ""
    if first.templates:
        mean = "mean of templates" if len(first.templates) > 1 else "template"
        where = f", {mean} {', '.join(map(str, first.templates))}"
    title = f"{config}: {measure} compared with {first.baseline} ({kind}){where}"
    table = new_table(title, out, "model", measure, "baseline", kind, INTERVAL, "p (Holm)", "samples")
    for row in rows:
        table.add_row(*_cells(one_line(row.run), row.comparison, row.p_holm, row.n))
        for part in row.by_template:
            table.add_row(*_cells(f"  template {part.template}", part.comparison, part.p_holm, part.n))
    out.print(fit_table(table, out))
    for row in rows:
        name = one_line(row.run)
        if row.missing:
            what = "sources are not in all languages" if languages else "samples are in only one of the runs"
            out.print(f"{name}: {row.missing:,} {what} and are left out.")
        if row.unknown:
            out.print(f"{name}: {row.unknown:,} samples show no gender in one of the runs and are left out.")
        smallest = row.comparison.smallest
        least = format_value(math.exp(min(smallest, 700)) if kind == "ratio" else smallest, 3)
        out.print(f"{name}: a true {kind} of {least} or more is shown in 80 of 100 such samples.")
        _show_stereotypes(row)


def _cells(name: str, comparison: Comparison, p_holm: float, samples: int) -> tuple[str, ...]:
    p_value = "<0.001" if p_holm < 0.001 else format_value(p_holm, 3)
    if comparison.ratio:
        value, low, high = (format_value(number, 3) for number in comparison.times)
    else:
        numbers = (comparison.difference, comparison.low, comparison.high)
        value, low, high = (f"{number:+.3f}" for number in numbers)
    values = (format_value(comparison.a, 3), format_value(comparison.b, 3), value, f"{low} to {high}")
    return name, *values, p_value, f"{samples:,}"


def _show_stereotypes(row: Difference) -> None:
    """Print the stereotypes whose q differ by simultaneous intervals."""
    shown = [one for one in row.by_stereotype if one.shown]
    if not shown:
        if row.by_stereotype:
            out.print(f"{one_line(row.run)}: no simultaneous interval of the 16 ratios of q excludes 1.")
        return
    title = f"{one_line(row.run)}: ratios of q whose simultaneous interval excludes 1"
    table = new_table(title, out, "stereotype", "q", "baseline", "ratio", INTERVAL)
    for one in shown:
        value, low, high = (format_value(number, 3) for number in one.times)
        name = f"{one.stereotype:2} {STEREOTYPES[one.stereotype].name}"
        table.add_row(name, format_value(one.a, 3), format_value(one.b, 3), value, f"{low} to {high}")
    out.print(fit_table(table, out))
