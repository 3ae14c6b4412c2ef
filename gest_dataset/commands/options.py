"""Options that several commands about translations have, and what two of them mean together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.errors import ConfigError

System = Annotated[
    str | None,
    typer.Option(help="hf:MODEL, deepl, google, amazon, or published:SYSTEM.", metavar="SYSTEM"),
]
Translations = Annotated[
    Path | None, typer.Option(help="A file of translations instead (short for --system file:PATH).")
]
Parser = Annotated[str, typer.Option(help="udpipe, trankit, stanza, conllu or forms.")]
Model = Annotated[Path | None, typer.Option(help="The parser's model; else the published one is downloaded.")]
Limit = Annotated[int | None, typer.Option(min=1, help="The first sentences only.")]
Device = Annotated[str, typer.Option(help="For hf: auto, cuda, cuda:N, mps or cpu.")]
Dtype = Annotated[str, typer.Option(help="For hf: auto, float32, float16 or bfloat16.")]
BatchTokens = Annotated[int | None, typer.Option(min=1, help="For hf: padded input tokens in a batch.")]
Revision = Annotated[str | None, typer.Option(help="For hf: a commit, branch or tag.")]
KEPT = "What is translated and parsed is kept; the same command goes on from here."


def system_of(system: str | None, translations: Path | None) -> str:
    """The system that --system or --translations names."""
    if (system is None) == (translations is None):
        raise ConfigError("Give either --system or --translations FILE.")
    return system if system is not None else f"file:{translations}"
