"""`gest compare`: two or more models on the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gest_dataset.commands.console import err, fitted, interruptible, new_table, number, out, show_json
from gest_dataset.commands.options import Json
from gest_dataset.errors import ConfigError
from gest_dataset.printable import one_line

if TYPE_CHECKING:
    from gest_dataset.runs.comparison import Difference

EXAMPLES = (
    "Examples: [bold]gest compare gest-runs/roberta-base/en gest-runs/my-model/en[/bold], [bold]gest compare "
    "gest-runs/roberta-base gest-runs/my-model[/bold] (every config that both have), [bold]gest compare "
    "gest-runs/a gest-runs/b gest-runs/c --format csv[/bold] (a line a difference)"
)


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
    from gest_dataset.commands.flat import as_csv, as_markdown
    from gest_dataset.files import plain
    from gest_dataset.runs.comparison import compare
    from gest_dataset.statistics import checks

    flat = {"csv": as_csv, "markdown": as_markdown}
    checks.choice("--format", form, ["table", *flat])
    if as_json and form != "table":
        raise ConfigError(f"--json and --format {form} are two forms of one output: leave one of them out.")
    with interruptible("Nothing was changed."):
        found = compare(paths)
    if as_json:
        told = {
            "differences": [asdict(row) for row in found.differences],
            "without_partner": [str(path) for path in found.alone],
            "left_out": found.left_out,
        }
        show_json(plain(told))
    elif form in flat:
        typer.echo(flat[form](found.differences), nl=False)
    else:
        for key in dict.fromkeys((row.config, row.template) for row in found.differences):
            _show([row for row in found.differences if (row.config, row.template) == key])
    for note in found.notes():
        err.print(note, soft_wrap=True)


def _show(found: Sequence[Difference]) -> None:
    """The table of one config and template."""
    first = found[0]
    measure, baseline = first.found.measure, first.baseline
    where = f", template {first.template}" if first.template else ""
    table = new_table(
        f"{first.config}: {measure} minus that of {baseline}{where}",
        out,
        "model", measure, "baseline", "difference", "95 %", "p (Holm)", "samples",
    )  # fmt: skip
    for one in found:
        p = "<0.001" if one.adjusted < 0.001 else number(one.adjusted, 3)
        bounds = f"{one.found.low:+.3f} to {one.found.high:+.3f}"
        sides = (number(one.found.a, 3), number(one.found.b, 3))
        values = (*sides, f"{one.found.difference:+.3f}", bounds, p)
        table.add_row(one_line(one.run), *values, f"{one.n:,}")
    out.print(fitted(table, out))
    for one in found:
        if one.missing:
            out.print(
                f"{one.missing:,} samples are in one of {one_line(one.run)} and {one_line(baseline)} only, "
                "and left out."
            )
