"""`gest detect-gender`: the gender of the first person in sentences, with its evidence marked."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import typer

from gest_dataset.commands.console import err, out, show_problems
from gest_dataset.errors import ConfigError, DataError


def run(
    language: str | None = None,
    file: Path | None = None,
    text: str | None = None,
    column: str | None = None,
    parser: str = "udpipe",
    parser_model: Path | None = None,
    endpoint: str | None = None,
    labelled: Path | None = None,
    output: Path | None = None,
    install: bool = False,
    yes: bool = False,
    as_json: bool = False,
) -> None:
    from gest_dataset.data.user_tables import is_table, read_lines, read_user_table
    from gest_dataset.gender import explain
    from gest_dataset.gender.parsers import LLM
    from gest_dataset.gender.parsers.models import install_trankit
    from gest_dataset.models.chat.gender import ChatDetector, describe, open_detector
    from gest_dataset.storage import check_output_file, write_file

    if install:
        if parser != "trankit":
            raise ConfigError("Only --parser trankit is installed like this.")
        install_trankit(err.print if yes else lambda plan: typer.confirm(f"{plan}\nContinue?", abort=True))
        return
    if language is None:
        raise ConfigError("Give the --language of the sentences.")
    if (file is None) == (text is None):
        raise ConfigError("Give either a file of sentences or --text 'a sentence'.")
    if file is None:
        sentences = [text or ""]
    elif is_table(file):
        table = read_user_table(file)
        if column is None and len(table.columns) > 1:
            raise ConfigError(f"{file}: --column is missing; its columns are {', '.join(table.columns)}.")
        sentences = table.texts(column or next(iter(table.columns), ""))
    else:
        sentences = read_lines(file)  # blank lines stay, so that rows keep their numbers
    if not any(sentence.strip() for sentence in sentences):
        raise DataError(f"{file or '--text'} has no sentences.")
    if output is not None:
        check_output_file(output, *([file] if file else []))
    if endpoint and parser != LLM:
        raise ConfigError(f"--endpoint needs --parser {LLM}.")
    detector = open_detector(language, parser, parser_model, None, labelled, endpoint)
    detections = detector.genders(sentences)
    if isinstance(detector, ChatDetector):
        err.print(describe(detector.validity))
    escape = output is None and not out.encoding.startswith("utf")
    lines = [
        json.dumps({"row": row, "text": sentence, **asdict(detection)}, ensure_ascii=escape)
        for row, (sentence, detection) in enumerate(zip(sentences, detections, strict=True), start=1)
    ]
    if output is not None:
        write_file(output, "".join(f"{line}\n" for line in lines))
    else:
        for line in lines if as_json else map(explain, sentences, detections):
            out.print(line)
    genders = Counter(detection.gender for detection in detections)
    counts = ", ".join(f"{genders[gender]} {gender}" for gender in ("male", "female", "unknown"))
    conflicts = sum(detection.conflict for detection in detections)
    err.print(f"Sentences: {len(detections)} ({counts}, {conflicts} conflicts)")
    show_problems(Counter(detection.problem for detection in detections if detection.problem))
