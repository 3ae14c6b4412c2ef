"""`gest sentences`: the English sentences as text or CSV, to be translated elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from gest_dataset.commands.console import err
from gest_dataset.commands.options import English, OutputFile
from gest_dataset.storage import STANDARD_OUTPUT, atomic_path

FORMATS = ("txt", "csv")
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
            autocompletion=lambda: list(FORMATS),
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
    import pandas as pd

    from gest_dataset.statistics.checks import choice
    from gest_dataset.translation.tables import TEXT, read_config

    datasets.disable_progress_bars()
    wanted = format or ("csv" if output.suffix.lower() == ".csv" else "txt")
    choice("--format", wanted, FORMATS)
    sentences = pd.DataFrame(read_config(config)).rename(columns={"text": TEXT})
    lines = "".join(f"{sentence}\n" for sentence in sentences[TEXT])
    text = lines if wanted == "txt" else sentences.to_csv(index=False, lineterminator="\n")
    with atomic_path(output) as unfinished:
        unfinished.write_bytes(text.encode())
    if output != STANDARD_OUTPUT:
        err.print(f"{output}: {len(sentences):,} sentences", soft_wrap=True)
