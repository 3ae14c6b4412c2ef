"""`gest detect-gender`: the gender of the first person in sentences, with its evidence marked."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import err, out
from gest_dataset.commands.options import OUTPUT_FILE, Json, OneLanguage, Parser, ParserModel
from gest_dataset.errors import ConfigError, DataError

EXAMPLES = (
    "Examples: [bold]gest detect-gender --text 'Bola som unavená.' --language sk[/bold], "
    "[bold]gest detect-gender sentences.txt --language pl[/bold], [bold]gest detect-gender data.csv "
    "--column translation --language cs --output genders.jsonl[/bold]"
)


def run(
    language: OneLanguage,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Sentences: a table (.csv, .tsv, .jsonl, .parquet) or one per line (-: standard input)."
        ),
    ] = None,
    text: Annotated[str | None, typer.Option(help="One sentence instead of a file.")] = None,
    column: Annotated[str | None, typer.Option(help="The column of sentences in a table.")] = None,
    parser: Parser = "udpipe",
    parser_model: ParserModel = None,
    output: Annotated[Path | None, OUTPUT_FILE] = None,
    as_json: Json = False,
) -> None:
    """Find the gender of the first person in sentences: male, female or unknown, with the evidence.

    [bold]--json[/bold] prints one line of JSON per sentence, [bold]--output[/bold] writes it to a file.
    """
    from gest_dataset.gender import TextWarning, detect, explain
    from gest_dataset.storage import atomic_path, check_output_file

    if (file is None) == (text is None):
        raise ConfigError("Give either a file of sentences or --text 'a sentence'.")
    sentences = [text or ""] if file is None else _sentences(file, column)
    if not any(sentence.strip() for sentence in sentences):
        raise DataError(f"{'--text' if file is None else file} has no sentence.")
    if output is not None:
        check_output_file(output, *([] if file is None else [file]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # problems are shown with their sentences
        detections = detect(sentences, language, parser, parser_model)
    escape = output is None and not out.encoding.startswith("utf")
    lines = [
        json.dumps({"row": row, "text": sentence, **asdict(detection)}, ensure_ascii=escape)
        for row, (sentence, detection) in enumerate(zip(sentences, detections, strict=True), start=1)
    ]
    if output is not None:
        with atomic_path(output) as partial:
            partial.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    else:
        for line in lines if as_json else map(explain, sentences, detections):
            out.print(line, soft_wrap=True)
    genders = Counter(detection.gender for detection in detections)
    counts = ", ".join(f"{genders[gender]} {gender}" for gender in ("male", "female", "unknown"))
    conflicts = sum(detection.conflict for detection in detections)
    err.print(f"Sentences: {len(detections)} ({counts}, {conflicts} conflicts)")
    for reason, number in Counter(d.problem for d in detections if d.problem).most_common():
        err.print(f"  {number} × {reason}")


def _sentences(path: Path, column: str | None) -> list[str]:
    """The lines of a text or the column of a table; blank ones stay, so that rows keep their numbers."""
    from gest_dataset.data import tables

    if not tables.is_table(path):
        if column is not None:
            raise ConfigError(f"{path} is read as lines of text, which has no columns: leave out --column.")
        return tables.read_lines(path)
    table = tables.read_table(path)
    if column is None and len(table.columns) > 1:
        raise ConfigError(f"{path}: --column is missing; its columns are {', '.join(table.columns)}.")
    return table.texts(column or next(iter(table.columns), ""))
