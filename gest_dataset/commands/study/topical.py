"""`gest study topical`: is it the topic, and not what a sentence says?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import interruptible
from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options
from gest_dataset.errors import ConfigError

EXAMPLES = (
    "Examples: [bold]gest study topical gest-runs[/bold], [bold]gest study topical gest-runs --words "
    "car,engine,football[/bold], [bold]gest study topical --model roberta-base[/bold]"
)


def run(
    runs: options.Runs = None,
    models: options.Models = None,
    words: Annotated[
        str | None,
        typer.Option(
            help="The topic: words with commas, or a file with a word a line (default: the paper's, family).",
            metavar="WORD,...",
        ),
    ] = None,
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
    """Is it the topic, and not what a sentence says? (section 7.4 and table 3 of the GEST paper)

    The masculine rate of male samples with one of some words, and g_s beside other reasons for a difference:
    negation, length, how common words are.
    """
    folder = options.folder_of("topical", output)
    with interruptible(options.KEPT.format(folder=folder)):
        from gest_dataset.statistics.confounders import FAMILY_WORDS
        from gest_dataset.studies import topical

        topic = FAMILY_WORDS if words is None else _words(words)
        asked = options.asked(folder, runs, models, limit, device, dtype, batch_tokens)
        options.show(topical(asked, topic, scores), folder, as_json)


def _words(given: str) -> tuple[str, ...]:
    """Words with commas, or those of a file."""
    text = given
    if Path(given).is_file():
        try:
            text = Path(given).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{given} cannot be read: {error}.") from error
        text = ",".join(text.splitlines())
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
