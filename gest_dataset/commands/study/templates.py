"""`gest study templates`: how far the templates of GEST say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import interruptible
from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options

EXAMPLES = (
    "Examples: [bold]gest study templates gest-runs[/bold], [bold]gest study templates --model roberta-base "
    "--model bert-base-uncased --output mine[/bold], [bold]gest study templates --scores FOLDER[/bold] "
    "(files MODEL_template-N.txt: a log10 ratio a line, in the order of GEST, as the authors released them)"
)


def run(
    runs: options.Runs = None,
    models: options.Models = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="A folder of the authors' files, MODEL_template-N.txt.", metavar="FOLDER"),
    ] = None,
    output: options.Output = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    as_json: Json = False,
) -> None:
    """Do the templates agree, and which part of a score is theirs? (section 4.2.3 of the GEST paper)

    Correlations of q_i between templates and between models, and of single samples; feminine ranks over
    templates; shares of the variance of stereotypes, sentences, templates.
    """
    folder = options.folder_of("templates", output)
    with interruptible(options.KEPT.format(folder=folder)):
        from gest_dataset.studies import templates

        asked = options.asked(folder, runs, models, limit, device, dtype, batch_tokens)
        options.show(templates(asked, scores), folder, as_json)
