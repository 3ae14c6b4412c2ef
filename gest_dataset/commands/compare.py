"""`gest compare`: two or more models on the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gest_dataset.commands import tables
from gest_dataset.commands.console import out, show_json

if TYPE_CHECKING:
    from gest_dataset.comparing import Difference

EXAMPLES = "Example: [bold]gest compare gest-runs/roberta-base/en gest-runs/my-model/en[/bold]"


def run(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="RUN RUN...", help="Runs of one config; the first is the baseline."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
) -> None:
    """Compare runs: is the one model more biased than the other?

    Differences from the first run, paired by sample, with 95 % intervals: what all models find hard
    cancels out. p-values are corrected for their number (Holm).
    """
    from gest_dataset import runs
    from gest_dataset.comparing import differences

    found = differences([runs.read(path) for path in paths])
    if as_json:
        show_json(runs.plain([asdict(one) for one in found]))
        return
    for template in dict.fromkeys(one.template for one in found):
        _show([one for one in found if one.template == template], template)


def _show(found: Sequence[Difference], template: int) -> None:
    measure, baseline = found[0].found.measure, found[0].baseline
    where = f", template {template}" if template else ""
    table = tables.new_table(
        f"{measure} minus that of {baseline}{where}",
        out,
        "model", measure, "difference", "95 %", "p (Holm)", "samples",
    )  # fmt: skip
    table.add_row(baseline, tables.number(found[0].found.b, 3), "", "", "", "")
    for one in found:
        p = "<0.001" if one.adjusted < 0.001 else tables.number(one.adjusted, 3)
        bounds = f"{one.found.low:+.3f} to {one.found.high:+.3f}"
        values = (tables.number(one.found.a, 3), f"{one.found.difference:+.3f}", bounds, p)
        table.add_row(one.run, *values, f"{one.n:,}")
    out.print(tables.fitted(table, out))
    for one in found:
        if one.missing:
            out.print(
                f"{one.missing:,} samples are in one of {one.run} and {baseline} only, and left out.",
                markup=False,
                highlight=False,
            )
