"""What `gest translate` reads and writes: sentences with their ids, and a CSV file of translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from gest_dataset.data.tables import is_table, read_lines, read_table
from gest_dataset.errors import ConfigError
from gest_dataset.gender import languages, texts
from gest_dataset.storage import atomic_path
from gest_dataset.translation.translator import Translation

TEXT = "sentence"  # the column that is translated
COLUMNS = ("id", "system", "language", "source", "translation", "stereotype", "problem")


@dataclass(frozen=True)
class Source:
    """A sentence to translate; `stereotype` is empty where it is not known."""

    id: str
    text: str
    stereotype: str = ""


def read_config(name: str) -> list[Source]:
    """The sentences of a config of `gest` that is in English."""
    from gest_dataset.builders import CONFIGS, get_config
    from gest_dataset.data.rows import rows_of

    config = get_config(name)
    if TEXT not in config.features:
        offered = ", ".join(config.name for config in CONFIGS.values() if TEXT in config.features)
        raise ConfigError(f"The config {name!r} has no English sentences. Use one of {offered}.")
    rows = rows_of(name).to_list()
    return [Source(row["id"], row[TEXT], str(row.get("stereotype", ""))) for row in rows]


def read_input(path: Path) -> list[Source]:
    """The sentences of a table with a column `sentence`, or of a text with one a line."""
    if not is_table(path):
        return [Source(str(number), line.strip()) for number, line in enumerate(read_lines(path), start=1)]
    table = read_table(path)
    sentences = table.texts(TEXT)
    ids = table.columns.get("id", range(1, len(sentences) + 1))
    stereotypes = table.columns.get("stereotype", [""] * len(sentences))
    return [Source(*row) for row in zip(map(str, ids), sentences, map(str, stereotypes), strict=True)]


def write_csv(
    path: Path,
    systems: Mapping[str, str],
    sentences: Sequence[Source],
    translations: Mapping[str, Sequence[Translation]],
) -> None:
    """All translations in one CSV file, which appears when it is whole; `systems` are names by language."""
    rows = [
        (own.id, systems[language], language, each.source, each.translation, own.stereotype, each.problem)
        for language, made in translations.items()
        for own, each in zip(sentences, made, strict=True)
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    with atomic_path(path) as partial:
        # a source that is no valid Unicode is among the problems, and must not be one for the file
        table.to_csv(partial, index=False, lineterminator="\n", errors="backslashreplace")


def problem(made: Translation, language: str) -> str:
    """Why there is no translation, or why it cannot be one; nothing is the empty string.

    None is the source itself, nor (where there are rules) English, or what is garbled.
    """
    if made.problem:
        return made.problem
    if made.translation == made.source:
        return "not translated: the same as the source"
    return texts.problem(made.translation, language) if language in languages() else ""
