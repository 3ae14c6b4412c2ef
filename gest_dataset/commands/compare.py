"""`gest compare`: two or more models on the same samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from gest_dataset.errors import ConfigError
from gest_dataset.files import csv_text, plain
from gest_dataset.printable import one_line

if TYPE_CHECKING:
    from gest_dataset.runs.comparison import Difference

EXAMPLES = (
    "Examples: [bold]gest compare gest-runs/roberta-base/en gest-runs/my-model/en[/bold], [bold]gest compare "
    "gest-runs/roberta-base gest-runs/my-model[/bold] (every config that both have), [bold]gest compare "
    "gest-runs/a gest-runs/b gest-runs/c --format csv[/bold] (a line a difference)"
)

# The flat table of CSV, for programs, and of Markdown, for people: a line a difference
_CELLS: Mapping[str, Callable[[Difference], Any]] = {
    "config": lambda row: row.config,
    "template": lambda row: row.template,
    "run": lambda row: row.run,
    "baseline": lambda row: row.baseline,
    "measure": lambda row: row.found.measure,
    "value": lambda row: row.found.a,
    "baseline_value": lambda row: row.found.b,
    "difference": lambda row: row.found.difference,
    "low": lambda row: row.found.low,
    "high": lambda row: row.found.high,
    "p": lambda row: row.found.p_value,
    "p_holm": lambda row: row.adjusted,
    "n": lambda row: row.n,
    "missing": lambda row: row.missing,
}


def run(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN RUN...", help="Runs of one config, or folders of runs; the first is the baseline."
        ),
    ],
    form: Annotated[
        str, typer.Option("--format", help="table, csv or markdown: the last two are one flat table.")
    ] = "table",
    as_json: Json = False,
) -> None:
    """Compare runs: is the one model more biased than the other?

    Differences from the first run, paired by sample, with 95 % intervals: what all models find hard
    cancels out. p-values are corrected for their number (Holm). Of folders the runs of the same config
    are compared, and what has no partner is said.
    """
    from gest_dataset.runs.comparison import compare
    from gest_dataset.statistics import checks

    checks.choice("--format", form, ["table", *_FLAT])
    if as_json and form != "table":
        raise ConfigError(f"--json and --format {form} are two forms of one output: leave one of them out.")
    with interruptible("Nothing was changed."):
        compared = compare(paths)
    rows = compared.differences
    if as_json:
        told = {
            "differences": [asdict(row) for row in rows],
            "without_partner": [str(path) for path in compared.alone],
            "left_out": compared.left_out,
        }
        show_json(plain(told))
    elif form in _FLAT:
        flat = [[plain(cell(row)) for cell in _CELLS.values()] for row in rows]
        typer.echo(_FLAT[form](list(_CELLS), flat), nl=False)
    else:
        for key in dict.fromkeys((row.config, row.template) for row in rows):
            _show([row for row in rows if (row.config, row.template) == key])
    for note in compared.notes():
        err.print(note, soft_wrap=True)


def _show(rows: Sequence[Difference]) -> None:
    """The table of one config and template."""
    first = rows[0]
    measure, baseline = first.found.measure, first.baseline
    where = f", template {first.template}" if first.template else ""
    title = f"{first.config}: {measure} minus that of {baseline}{where}"
    columns = ("model", measure, "baseline", "difference", INTERVAL, "p (Holm)", "samples")
    table = new_table(title, out, *columns)
    for row in rows:
        paired = row.found
        p = "<0.001" if row.adjusted < 0.001 else number(row.adjusted, 3)
        difference = (f"{paired.difference:+.3f}", f"{paired.low:+.3f} to {paired.high:+.3f}")
        sides = (number(paired.a, 3), number(paired.b, 3))
        table.add_row(one_line(row.run), *sides, *difference, p, f"{row.n:,}")
    out.print(fitted(table, out))
    for row in rows:
        if row.missing:
            both = f"{one_line(row.run)} and {one_line(baseline)}"
            out.print(f"{row.missing:,} samples are in one of {both} only, and left out.")


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of Markdown with three decimals; numbers are on the right."""
    edges = ["---" if isinstance(cell, str) else "---:" for cell in rows[0]]
    lines = [columns, edges, *([_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    text = str(cell)
    for sign in "\\`|<*_[":  # signs of Markdown and HTML in the name of a model
        text = text.replace(sign, f"\\{sign}")
    return text


_FLAT = {"csv": csv_text, "markdown": _markdown}
