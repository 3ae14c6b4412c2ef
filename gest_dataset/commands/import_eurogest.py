"""`gest import-eurogest`: EuroGEST's languages as configs, from the Hub or a local copy."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands.console import err, interruptible, out, show_json
from gest_dataset.commands.options import Json

if TYPE_CHECKING:
    from gest_dataset.custom import Imported

EXAMPLES = (
    "Examples: [bold]gest import-eurogest --language sk,de[/bold] (from the Hub, after [bold]hf auth "
    "login[/bold]), [bold]gest import-eurogest --data EuroGEST --language hu --frames noun[/bold], then "
    "[bold]gest score MODEL --config eurogest_sk_neutral[/bold]"
)


def run(
    data: Annotated[
        Path | None,
        typer.Option(
            help="A local copy: a file, or a folder with a file for each language.", metavar="FILE_OR_FOLDER"
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="Codes with commas, as in sk,de (default: all there are).", metavar="CODE,..."),
    ] = None,
    frames: Annotated[
        str,
        typer.Option(help="Who speaks a neutral sentence: pronoun (he, she) or noun (the man, the woman)."),
    ] = "pronoun",
    replace: Annotated[bool, typer.Option(help="Replace what was imported before and differs.")] = False,
    as_json: Json = False,
) -> None:
    """Add EuroGEST's languages as eurogest_LANG_pairs and eurogest_LANG_neutral.

    They are kept like the package's own configs: [bold]gest list[/bold] shows them, and [bold]gest
    score[/bold] takes them. A language whose frames tell no gender gets pairs only, and says why.
    """
    from gest_dataset.custom import import_eurogest

    chosen = None if language is None else [code.strip() for code in language.split(",")]
    with interruptible("What is imported is kept."):
        done = import_eurogest(data, chosen, frames, replace=replace, told=_silent if as_json else _tell)
    for one in done:
        if one.refused:
            err.print(f"{one.language}: no neutral config. {one.refused}", markup=False, soft_wrap=True)
    if as_json:
        show_json([_facts(one) for one in done])
        return
    left_out: Counter[str] = Counter()
    for one in done:
        left_out.update(one.dropped)
    for reason, number in left_out.most_common():
        err.print(f"left out, {reason}: {number:,}", markup=False, soft_wrap=True)


def _tell(one: Imported) -> None:
    configs = ", ".join(f"{config.name} {config.published_rows:,}" for config in one.configs)
    out.print(f"{one.language}: {configs or 'nothing'}", soft_wrap=True)


def _silent(one: Imported) -> None:
    """What is printed at the end is JSON."""


def _facts(one: Imported) -> dict[str, Any]:
    return {
        "language": one.language,
        "configs": {config.name: config.published_rows for config in one.configs},
        "dropped": one.dropped,
        "refused": one.refused,
    }
