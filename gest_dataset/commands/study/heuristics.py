"""`gest study heuristics`: draw annotation sheets, and evaluate the heuristics on labelled ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import fit_table, new_table, out, show_json
from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options
from gest_dataset.errors import ConfigError

EXAMPLES = (
    "Examples: [bold]gest study heuristics gest-runs/published-google --draw sheet.csv[/bold] (20 of each "
    "language and outcome), [bold]gest study heuristics --sheet sheet.csv[/bold] (once it is labelled), "
    "[bold]gest study heuristics --swaps variants.csv --draw pairs.csv[/bold] (gender-swapped pairs), "
    "[bold]gest study heuristics --sheet gender-swap-annotations.txt[/bold] (the authors' 160 labelled pairs)"
)


def run(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN", help="Draw from these runs of gest masculine-rate.")
    ] = None,
    draw: Annotated[Path | None, typer.Option(help="Draw a sheet.", metavar="FILE.csv")] = None,
    swaps: Annotated[
        Path | None,
        typer.Option(help="Draw from this table of pairs: masculine and feminine (or male and female)."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            min=1, help="Samples of each language and outcome (default: 20; pairs: 80; as in the paper)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the draw.")] = 0,
    sheet: Annotated[
        Path | None, typer.Option(help="Evaluate a labelled sheet, or the authors' file of 160 pairs.")
    ] = None,
    output: options.Output = None,
    as_json: Json = False,
) -> None:
    """Evaluate the heuristics on labelled samples (GEST paper, appendix C).

    [bold]--draw[/bold] writes a sheet with an empty column label: M, F or N (neutral) for a translation; C, G
    or X for a pair. The predictions are in FILE.key.json: keep it next to the sheet. [bold]--sheet[/bold]
    prints the confusion matrix with intervals and the expected yield.
    """
    if (draw is None) == (sheet is None):
        raise ConfigError("Either draw a sheet (--draw FILE.csv) or evaluate a labelled one (--sheet FILE).")
    if sheet is not None and (runs or swaps is not None):
        raise ConfigError("--sheet takes no runs and no --swaps: the key of the sheet has its source.")
    from gest_dataset.studies import draw_sheet, heuristics

    if draw is None:
        assert sheet is not None
        options.show(heuristics(sheet), output or options.HOME / "heuristics", as_json)
        return
    counts = draw_sheet(draw, runs or (), swaps, number, seed)
    if as_json:
        show_json([[*stratum, *drawn] for stratum, drawn in counts.items()])
        return
    table = new_table(f"Drawn into {draw}", out, "language", "outcome", "drawn", "of")
    for (language, outcome), (drawn, total) in counts.items():
        table.add_row(language or "-", outcome, f"{drawn:,}", f"{total:,}")
    out.print(fit_table(table, out))
    out.print(f"Fill in the column label, then run: gest study heuristics --sheet {draw}", soft_wrap=True)
