"""`gest study stereoset`: how stereotypical are models across languages?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options
from gest_dataset.errors import ConfigError

EXAMPLES = (
    "Examples: [bold]gest study stereoset --model bert-base-cased --model google/mt5-base --language "
    "en,de[/bold], [bold]gest study stereoset gest-runs[/bold], [bold]gest study stereoset --model t5-base "
    "--nsp t5-base=./t5-nsp[/bold] (with a checkpoint of gest study nsp), [bold]gest study stereoset "
    "--scores FOLDER[/bold] (files of the authors, such as gpt2_GPT2LM_GPT2LM_d_en.json)"
)


def run(
    runs: options.Runs = None,
    models: options.Models = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="For --model: some of en,de,fr,es,tr (default: all; the paper's models in theirs).",
            metavar="CODE,...",
        ),
    ] = None,
    nsp: Annotated[
        list[str] | None,
        typer.Option(
            help="A model's checkpoint with a next-sentence head, to score it between sentences.",
            metavar="MODEL=CHECKPOINT",
        ),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Read the authors' files of scores in this folder.", metavar="FOLDER")
    ] = None,
    output: options.Output = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    as_json: Json = False,
) -> None:
    """Compute LMS, SS and ICAT in five languages (StereoSet paper, tables 2-5 and 7-9).

    Within and between sentences, both together, and averaged over targets. Table 7 compares methods between
    sentences: two generative ones for causal models, one for encoder-decoders, and a next-sentence head.
    """
    from gest_dataset.studies import stereoset

    folder = output or options.HOME / "stereoset"
    inputs = options.make_inputs(folder, runs, models, limit, device, dtype, batch_tokens)
    heads = dict(pair.split("=", 1) for pair in nsp or [] if "=" in pair)
    if len(heads) < len(nsp or []) or not all([*heads, *heads.values()]):
        raise ConfigError("--nsp takes MODEL=CHECKPOINT once per model, such as t5-base=./t5-nsp.")
    codes = [code.strip() for code in (language or "").split(",") if code.strip()]
    options.show(stereoset(inputs, codes, heads, scores), folder, as_json)
