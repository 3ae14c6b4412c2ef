"""`gest study stereoset`: how stereotypical are models across languages?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import interruptible
from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options
from gest_dataset.errors import ConfigError

EXAMPLES = (
    "Examples: [bold]gest study stereoset --model bert-base-cased --model google/mt5-base --language "
    "en,de[/bold], [bold]gest study stereoset gest-runs[/bold] (runs that are there), [bold]gest study "
    "stereoset --model t5-base --nsp t5-base=./t5-nsp[/bold] (a checkpoint of gest nsp-train answers between "
    "sentences), [bold]gest study stereoset --scores FOLDER[/bold] (files of the authors, such as "
    "gpt2_GPT2LM_GPT2LM_d_en.json)"
)


def run(
    runs: options.Runs = None,
    models: options.Models = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="Of --model: some of en,de,fr,es,tr (default: the paper's models in theirs, others in all).",
            metavar="CODE,...",
        ),
    ] = None,
    nsp: Annotated[
        list[str] | None,
        typer.Option(
            help="A model's checkpoint with a next-sentence head, which answers between sentences.",
            metavar="MODEL=CHECKPOINT",
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="A folder of the authors' files of scores.", metavar="FOLDER"),
    ] = None,
    output: options.Output = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    as_json: Json = False,
) -> None:
    """LMS, SS and ICAT in five languages (tables 2-5 and 7-9 of the multilingual StereoSet paper).

    Within and between sentences, both together, and averaged over targets. Between sentences causal models
    are asked in two generative ways, encoder-decoders in one, and all by a next-sentence head where they have
    one: side by side like table 7.
    """
    folder = options.folder_of("stereoset", output)
    with interruptible(options.KEPT.format(folder=folder)):
        from gest_dataset.studies.stereoset import stereoset

        asked = options.asked(folder, runs, models, limit, device, dtype, batch_tokens)
        codes = [code.strip() for code in (language or "").split(",") if code.strip()]
        options.show(stereoset(asked, codes, _heads(nsp or []), scores), folder, as_json)


def _heads(given: list[str]) -> dict[str, str]:
    """A checkpoint for each model that has one."""
    heads = dict(pair.split("=", 1) for pair in given if "=" in pair)
    if len(heads) < len(given) or not all([*heads, *heads.values()]):
        raise ConfigError("--nsp takes MODEL=CHECKPOINT, once for each model, such as t5-base=./t5-nsp.")
    return heads
