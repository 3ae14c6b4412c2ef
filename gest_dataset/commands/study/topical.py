"""`gest study topical`: is it the topic, and not the stereotype?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
            help="Words of the topic, or a file with one per line (default: the paper's, on the family).",
            metavar="WORD,...",
        ),
    ] = None,
    scores: options.Scores = None,
    output: options.Output = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    as_json: Json = False,
) -> None:
    """Test whether the topic explains the rates (GEST paper, section 7.4 and table 3).

    The masculine rate of male samples with one of some words, and g_s adjusted for negation, length and the
    frequency of words.
    """
    from gest_dataset.statistics.confounders import FAMILY_WORDS
    from gest_dataset.studies import topical

    folder = output or options.HOME / "topical"
    inputs = options.make_inputs(folder, runs, models, limit, device, dtype, batch_tokens)
    topic = FAMILY_WORDS if words is None else _read_words(words)
    options.show(topical(inputs, topic, scores), folder, as_json)


def _read_words(text: str) -> tuple[str, ...]:
    """Words with commas, or the lines of a file."""
    if Path(text).is_file():
        try:
            text = Path(text).read_text(encoding="utf-8").replace("\n", ",")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{text} cannot be read: {error}.") from error
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
