"""`gest compare`: two or more models on the same samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands.console import (
    INTERVAL,
    err,
    fitted,
    interruptible,
    new_table,
    number,
    out,
    show_json,
)
from gest_dataset.commands.options import Json
from gest_dataset.display import one_line
from gest_dataset.errors import ConfigError
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import csv_text, json_value

if TYPE_CHECKING:
    from gest_dataset.runs.comparison import Compared, Difference
    from gest_dataset.statistics import Comparison, StereotypeDifference

EXAMPLES = (
    "Examples: [bold]gest compare gest-runs/roberta-base/en gest-runs/my-model/en[/bold], [bold]gest compare "
    "gest-runs/roberta-base gest-runs/my-model[/bold] (every config that both have), [bold]gest compare "
    "gest-runs/xlmr/sk_pairs gest-runs/xlmr/cs_pairs[/bold] (two languages, on the sources that both have), "
    "[bold]gest compare gest-runs/a gest-runs/b gest-runs/c --format csv[/bold] (one flat table)"
)
_LISTED = 20  # items that behave differently in one language
_POWER = "80 of 100"  # statistics.power.POWER


# The flat table of CSV, for programs, and of Markdown, for people
_COLUMNS = (
    *("config", "template", "stereotype", "run", "baseline", "measure", "value", "baseline_value"),
    *("difference", "low", "high", "ratio", "ratio_low", "ratio_high", "p", "p_holm", "smallest"),
    *("n", "missing", "unknown"),
)


def run(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN RUN...",
            help="Runs of one config, folders of runs, or runs on pairs (or neutral sentences) of different "
            "languages; the first is the baseline.",
        ),
    ],
    form: Annotated[
        str, typer.Option("--format", help="table, csv or markdown: the last two are one flat table.")
    ] = "table",
    as_json: Json = False,
) -> None:
    """Compare runs: is the one model more biased than the other?

    Differences from the first run, paired by sample, with 95 % intervals: what all models find hard
    cancels out. g_s is compared as a ratio (the difference of ln g_s), over several templates their mean,
    and below it the stereotypes that differ. p-values are corrected for their number (Holm), and beside each
    difference stands the smallest one that these samples could show. Of folders the runs of the same config
    are compared, and what has no partner is said. Languages are compared on the sources that all have.
    """
    from gest_dataset.runs.comparison import compare
    from gest_dataset.statistics import checks

    checks.check_choice("--format", form, ["table", *_FLAT])
    if as_json and form != "table":
        raise ConfigError(f"--json and --format {form} are two forms of one output: leave one of them out.")
    with interruptible("Nothing was changed."):
        compared = compare(paths)
    if as_json:
        show_json(json_value(_told(compared)))
    elif form in _FLAT:
        only_shown = form == "markdown"
        rows = [row for difference in compared.differences for row in _flat(difference, only_shown)]
        cells = [[json_value(row.get(column)) for column in _COLUMNS] for row in rows]
        typer.echo(_FLAT[form](_COLUMNS, cells), nl=False)
    else:
        _show(compared)
    for note in compared.notes():
        err.print(note, soft_wrap=True)


def _told(compared: Compared) -> dict[str, Any]:
    """What became of the runs, as JSON."""
    differences = []
    for row in compared.differences:
        told = asdict(row) | {"found": _with_ratio(row.found)}
        told["by_template"] = [asdict(part) | {"found": _with_ratio(part.found)} for part in row.by_template]
        told["by_stereotype"] = [
            asdict(own) | {"times": own.times, "shown": own.shown} for own in row.by_stereotype
        ]
        differences.append(told)
    return {
        "comparisons": len(differences),
        "differences": differences,
        "languages": compared.languages,
        "items": [asdict(item) for item in compared.items],
        "without_partner": [str(path) for path in compared.alone],
        "left_out": compared.left_out,
    }


def _with_ratio(comparison: Comparison) -> dict[str, Any]:
    return asdict(comparison) | {"times": comparison.times, "smallest": comparison.smallest}


def _flat(difference: Difference, only_shown: bool) -> Iterator[dict[str, Any]]:
    """Rows of the flat table: the headline, its templates, its stereotypes (all, or those that differ)."""
    names = {name: getattr(difference, name) for name in ("config", "run", "baseline")}
    template = "mean" if len(difference.templates) > 1 else "".join(map(str, difference.templates))
    counts = {name: getattr(difference, name) for name in ("n", "missing", "unknown")}
    yield names | {"template": template} | _flat_headline(difference.found, difference.adjusted) | counts
    for part in difference.by_template:
        counts = {"n": part.n, "missing": part.missing}
        yield (names | {"template": str(part.template)} | _flat_headline(part.found, part.adjusted) | counts)
    for own in difference.by_stereotype:
        if own.shown or not only_shown:
            about = {"template": template, "stereotype": own.stereotype, "measure": "q"}
            yield names | about | _flat_values(own)


def _flat_headline(comparison: Comparison, adjusted: float) -> dict[str, Any]:
    tested = {"p": comparison.p_value, "p_holm": adjusted, "smallest": comparison.smallest}
    return {"measure": comparison.measure} | _flat_values(comparison) | tested


def _flat_values(comparison: Comparison | StereotypeDifference) -> dict[str, Any]:
    columns = ("value", "baseline_value", "difference", "low", "high", "ratio", "ratio_low", "ratio_high")
    values = (
        comparison.a,
        comparison.b,
        comparison.difference,
        comparison.low,
        comparison.high,
        *comparison.times,
    )
    return dict(zip(columns, values, strict=True))


def _show(compared: Compared) -> None:
    """Tables for a terminal, and what they rest on."""
    rows = compared.differences
    if compared.languages:
        languages = f"{len(compared.languages)} languages were tried: {', '.join(compared.languages)}"
        out.print(
            f"{languages}. They are compared on the {rows[0].n:,} sources that all of them have; several "
            f"rows of a source are averaged."
        )
    keys = [(row.baseline, "" if compared.languages else row.config, row.templates) for row in rows]
    for key in dict.fromkeys(keys):
        _show_table(
            [row for row, own in zip(rows, keys, strict=True) if own == key], bool(compared.languages)
        )
    if len(rows) > 1:
        out.print(f"{len(rows)} comparisons were tried, and p is corrected for that (Holm).")
    if compared.languages:
        _show_items(compared)


def _show_table(rows: Sequence[Difference], of_languages: bool) -> None:
    """The table of one config and its templates, with what it cannot show."""
    first = rows[0]
    measure, baseline = first.found.measure, first.baseline
    where = f", template {first.templates[0]}" if len(first.templates) == 1 else ""
    if len(first.templates) > 1:
        where = f", mean of templates {', '.join(map(str, first.templates))}"
    config = first.config.rpartition("_")[2] if of_languages else first.config
    title = f"{config}: {measure} minus that of {baseline}{where}"
    name, caption = "difference", None
    if first.found.ratio:
        title = f"{config}: {measure} over that of {baseline}{where}"
        name, caption = "ratio", f"ratio: e to the difference of ln {measure}"
    columns = ("model", measure, "baseline", name, INTERVAL, "p (Holm)", "samples")
    table = new_table(title, out, *columns, caption=caption)
    for row in rows:
        table.add_row(*_cells(one_line(row.run), row.found, row.adjusted, row.n))
        for part in row.by_template:
            table.add_row(*_cells(f"  template {part.template}", part.found, part.adjusted, part.n))
    out.print(fitted(table, out))
    for row in rows:
        both = f"{one_line(row.run)} and {one_line(baseline)}"
        if row.missing:
            what = (
                "sources are not in all languages" if of_languages else f"samples are in one of {both} only"
            )
            out.print(f"{row.missing:,} {what}, and left out.")
        if row.unknown:
            out.print(f"{row.unknown:,} samples of {both} show no gender in one of them, and are left out.")
        out.print(f"{one_line(row.run)}: {_power(row.found)}")
    for row in rows:
        _show_stereotypes(row)


def _cells(name: str, comparison: Comparison, adjusted: float, samples: int) -> tuple[str, ...]:
    p = "<0.001" if adjusted < 0.001 else number(adjusted, 3)
    value, low, high = (
        comparison.times if comparison.ratio else (comparison.difference, comparison.low, comparison.high)
    )
    told = (f"{value:+.3f}", f"{low:+.3f} to {high:+.3f}")
    if comparison.ratio:
        told = (number(value, 3), f"{number(low, 3)} to {number(high, 3)}")
    return name, number(comparison.a, 3), number(comparison.b, 3), *told, p, f"{samples:,}"


def _power(comparison: Comparison) -> str:
    """The smallest difference that such samples show."""
    from gest_dataset.statistics.stereotype_rate import exp

    if not comparison.ratio:
        least = number(comparison.smallest, 3)
        return f"a true difference of {least} or more is shown in {_POWER} such samples."
    above, below = (number(exp(side * comparison.smallest), 3) for side in (1, -1))
    return f"a true ratio of {above} or more (or {below} or less) is shown in {_POWER} such samples."


def _show_stereotypes(row: Difference) -> None:
    """The stereotypes whose q_i differ, of intervals that hold together."""
    if not row.by_stereotype:
        return
    shown = [own for own in row.by_stereotype if own.shown]
    together = f"of {len(row.by_stereotype)} intervals of the ratio of q_i that hold together"
    if not shown:
        out.print(f"{one_line(row.run)}: {together} none excludes 1.")
        return
    title = f"{one_line(row.run)}: {together}, those that exclude 1"
    table = new_table(title, out, "stereotype", "q", "baseline", "ratio", INTERVAL)
    for own in shown:
        value, low, high = (number(limit, 3) for limit in own.times)
        name = f"{own.stereotype:2} {STEREOTYPES[own.stereotype].name}"
        table.add_row(name, number(own.a, 3), number(own.b, 3), value, f"{low} to {high}")
    out.print(fitted(table, out))


def _show_items(compared: Compared) -> None:
    """The sources that behave differently in one language, the farthest first."""
    sources = compared.differences[0].n
    if not compared.items:
        out.print(f"None of the {sources:,} sources behaves differently in one language.")
        return
    out.print(
        f"Sources that behave differently in one language (Holm, 5 %): {len(compared.items):,} of "
        f"{sources:,}. Their translations are worth a look."
    )
    for item in compared.items[:_LISTED]:
        out.print(
            f"  {item.language}  {item.apart:+.2f}  {one_line(item.source)}  (stereotype {item.stereotype})"
        )
    if len(compared.items) > _LISTED:
        out.print(f"  and {len(compared.items) - _LISTED:,} more, in --json")


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of Markdown with three decimals; numbers are on the right."""
    edges = ["---" if isinstance(cell, str) else "---:" for cell in rows[0]]
    lines = [columns, edges, *([_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.3f}"
    text = str(cell)
    for sign in "\\`|<*_[":  # signs of Markdown and HTML in the name of a model
        text = text.replace(sign, f"\\{sign}")
    return text


_FLAT = {"csv": csv_text, "markdown": _markdown}
