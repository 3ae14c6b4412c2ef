"""`gest detect-gender`: the gender of the first person in sentences, with its evidence marked."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands.console import err, interruptible, out
from gest_dataset.commands.options import Model, Parser
from gest_dataset.errors import ConfigError, DataError

if TYPE_CHECKING:
    from gest_dataset.gender import Detection

EXAMPLES = (
    "Examples: [bold]gest detect-gender --text 'Bola som unavená.' --language sk[/bold], "
    "[bold]gest detect-gender sentences.txt --language pl[/bold], [bold]gest detect-gender data.csv "
    "--column translation --language cs --output genders.jsonl[/bold]"
)


def run(
    language: Annotated[str, typer.Option(help="The sentences' language, such as sk.")],
    file: Annotated[
        Path | None,
        typer.Argument(help="Sentences: a text file with one a line, or .csv, .tsv, .jsonl, .parquet."),
    ] = None,
    text: Annotated[str | None, typer.Option(help="One sentence instead of a file.")] = None,
    column: Annotated[str | None, typer.Option(help="Of a table, the column of the sentences.")] = None,
    parser: Parser = "udpipe",
    model: Model = None,
    output: Annotated[
        Path | None, typer.Option(help="Write JSON lines to this file instead of printing.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Find the gender of the first person: male, female or unknown, and the words that say so."""
    if (file is None) == (text is None):
        raise ConfigError("Give either a file of sentences or --text 'a sentence'.")
    from gest_dataset.files import check_new_file, replacing
    from gest_dataset.gender import TextWarning, detect, explain

    sentences = [text] if text is not None else read(Path(str(file)), column)
    if not sentences:
        raise DataError(f"{file} holds no sentence.")
    if output is not None:
        check_new_file(output, *([] if file is None else [file]))
    kept = "What is parsed is kept; the same command goes on from here."
    with interruptible(kept), warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # problems are shown with their sentences
        found = detect(sentences, language, parser, model)
    plain = output is None and not out.encoding.startswith("utf")
    lines = [json.dumps(_entry(*pair), ensure_ascii=plain) for pair in zip(sentences, found, strict=True)]
    if output is not None:
        with replacing(output) as partial:
            partial.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    else:
        shown = lines if as_json else map(explain, sentences, found)
        for line in shown:
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    _count(found)


def read(path: Path, column: str | None) -> list[str]:
    """The sentences of a file; blank lines of a text file are none."""
    import pandas as pd

    readers: dict[str, Any] = {
        ".csv": lambda: pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig"),
        ".tsv": lambda: pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig", sep="\t"),
        ".jsonl": lambda: pd.DataFrame(_objects(path)),
        ".parquet": lambda: pd.read_parquet(path),
    }
    try:
        if path.suffix.lower() not in readers:
            if column is not None:
                raise ConfigError(
                    f"{path} is read as lines of text, which have no columns: leave out --column."
                )
            return _lines(path)
        table = readers[path.suffix.lower()]()
    except FileNotFoundError as error:
        raise ConfigError(f"There is no file {path}.") from error
    except ConfigError:
        raise
    except (OSError, ValueError) as error:  # pandas' and arrow's own errors are of these kinds
        raise DataError(f"{path} cannot be read: {error}.") from error
    names = list(map(str, table.columns))
    if column is None and len(names) == 1:
        column = names[0]
    if column is None or column not in names:
        what = "--column is missing" if column is None else f"there is no column {column!r}"
        raise ConfigError(f"{path}: {what}; its columns are {', '.join(names)}.")
    values = ["" if pd.isna(value) else value for value in table[column].tolist()]
    for row, value in enumerate(values, start=1):
        if not isinstance(value, str):
            raise DataError.at(path, f"row {row}", f"{value!r} in the column {column!r} is no text")
    return values


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8-sig").split("\n") if line.strip()]


def _objects(path: Path) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in _lines(path)]
    for row, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise DataError.at(path, f"row {row}", f"{entry!r} is no JSON object")
    return entries


def _entry(text: str, found: Detection) -> dict[str, Any]:
    return {
        "text": text,
        "gender": found.gender,
        "rule": found.rule,
        "evidence": list(found.evidence),
        "spans": [list(span) for span in found.spans],
        "conflict": found.conflict,
        "problem": found.problem,
    }


def _count(found: Sequence[Detection]) -> None:
    genders = Counter(detection.gender for detection in found)
    parts = [f"{genders[name]} {name}" for name in ("male", "female", "unknown")]
    parts += [f"{sum(detection.conflict for detection in found)} conflicts"]
    err.print(f"of {len(found)}: {', '.join(parts)}", highlight=False)
    for reason, number in Counter(d.problem for d in found if d.problem).most_common():
        err.print(f"  {number} x {reason}", markup=False, highlight=False)
