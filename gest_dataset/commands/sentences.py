"""`gest sentences`: the English sentences as text or CSV, to be translated elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from gest_dataset.commands.console import err
from gest_dataset.commands.options import English, OutputFile
from gest_dataset.files import STANDARD_OUTPUT, replacing

if TYPE_CHECKING:
    from gest_dataset.translation.tables import Source

EXAMPLES = (
    "Examples: [bold]gest sentences --output en.txt[/bold], [bold]gest sentences --config en_1_0 --output "
    "en_1_0.csv[/bold] (with ids and stereotypes)"
)


def run(
    config: English = "en",
    format: Annotated[
        str | None,
        typer.Option(
            help="txt: one sentence a line; csv: id, sentence, stereotype (default: as the file is called).",
            autocompletion=lambda: list(_FORMATS),
            metavar="txt|csv",
            show_default=False,
        ),
    ] = None,
    output: OutputFile = STANDARD_OUTPUT,
) -> None:
    """Write the English sentences as text or CSV: to be translated elsewhere.

    The order is that of the config. A file and a pipe are UTF-8.
    """
    import datasets

    from gest_dataset.statistics.checks import choice
    from gest_dataset.translation.tables import read_config

    datasets.disable_progress_bars()
    wanted = format or ("csv" if output.suffix.lower() == ".csv" else "txt")
    choice("--format", wanted, tuple(_FORMATS))
    sentences = read_config(config)
    text = _FORMATS[wanted](sentences)
    with replacing(output) as unfinished:
        unfinished.write_bytes(text.encode())
    if output != STANDARD_OUTPUT:
        err.print(f"{output}: {len(sentences):,} sentences", soft_wrap=True)


def _lines(sentences: Sequence[Source]) -> str:
    return "".join(f"{sentence.text}\n" for sentence in sentences)


def _table(sentences: Sequence[Source]) -> str:
    import pandas as pd

    rows = [(sentence.id, sentence.text, sentence.stereotype) for sentence in sentences]
    table = pd.DataFrame(rows, columns=["id", "sentence", "stereotype"])
    return str(table.to_csv(index=False, lineterminator="\n"))


_FORMATS: dict[str, Callable[[Sequence[Source]], str]] = {"txt": _lines, "csv": _table}
