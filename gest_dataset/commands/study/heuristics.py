"""`gest study heuristics`: sheets for people to label, and what they say of the heuristics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import fitted, interruptible, new_table, out, show_json
from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options
from gest_dataset.errors import ConfigError

EXAMPLES = (
    "Examples: [bold]gest study heuristics gest-runs/published-google --draw sheet.csv[/bold] (20 of each "
    "language and outcome), [bold]gest study heuristics --sheet sheet.csv[/bold] (when it is filled in), "
    "[bold]gest study heuristics --swaps variants.csv --draw pairs.csv[/bold] (gender-swapped pairs), "
    "[bold]gest study heuristics --sheet gender-swap-annotations.txt[/bold] (the 160 pairs that the authors "
    "labelled)"
)


def run(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN", help="To draw from: runs of gest masculine-rate.")
    ] = None,
    draw: Annotated[
        Path | None, typer.Option(help="Draw a sheet and write it here.", metavar="FILE.csv")
    ] = None,
    swaps: Annotated[
        Path | None,
        typer.Option(help="To draw from: a table of pairs, masculine and feminine (or male and female)."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(min=1, help="Of each language and outcome (default: 20, of pairs 80, as in the paper)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    sheet: Annotated[
        Path | None, typer.Option(help="A sheet that is filled in, or the authors' file of 160 pairs.")
    ] = None,
    output: options.Output = None,
    as_json: Json = False,
) -> None:
    """How often are the heuristics right? Sheets for people to label. (appendix C of the GEST paper)

    [bold]--draw[/bold] writes a sheet with an empty column label: M, F or N (neutral) of a translation; C, G
    or X of a pair. It does not say what was predicted: that stands in FILE.key.json, which is needed to read
    the sheet again. [bold]--sheet[/bold] prints the confusion matrix with intervals, and the yield to expect.
    """
    if (draw is None) == (sheet is None):
        raise ConfigError(
            "Either draw a sheet (--draw FILE.csv), or read one that is filled in (--sheet FILE)."
        )
    if sheet is not None and (runs or swaps is not None):
        raise ConfigError("--sheet needs neither runs nor --swaps: its key says what it was drawn from.")
    from gest_dataset.studies import draw_sheet, heuristics

    with interruptible("No sheet was changed."):
        if sheet is not None:
            options.show(heuristics(sheet), options.folder_of("heuristics", output), as_json)
            return
        assert draw is not None
        counts = draw_sheet(draw, runs or (), swaps, number, seed)
    if as_json:
        show_json([[*stratum, *drawn] for stratum, drawn in counts.items()])
        return
    table = new_table(f"Drawn into {draw}", out, "language", "outcome", "drawn", "of")
    for (language, outcome), (drawn, of) in counts.items():
        table.add_row(language or "-", outcome, f"{drawn:,}", f"{of:,}")
    out.print(fitted(table, out))
    out.print(
        f"Fill in the column label, and read it again: gest study heuristics --sheet {draw}", soft_wrap=True
    )
