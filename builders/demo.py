"""The demo's data: sentences, pairs and control quadruplets that were written for this project.

They are files of the package and need no network. They are not validated, and no paper reports on them:
they show what a run looks like, and their numbers must not be reported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from gest_dataset.builders.config import Config, Dropped, Family, Fields, Files, Row
from gest_dataset.builders.controls import QUADRUPLET, quadruplet
from gest_dataset.builders.families import DEMO, DEMO_CONTROL
from gest_dataset.builders.gest import SENTENCE_FIELDS, sentence_row
from gest_dataset.builders.pairs import FIELDS as PAIR_FIELDS
from gest_dataset.builders.pairs import pair_row
from gest_dataset.builders.reading import read_lines
from gest_dataset.languages import LANGUAGES

FOLDER = Path(str(resources.files("gest_dataset"))) / "demo"
TOY_MODEL = FOLDER / "model"  # trained on the pairs and the control sets
SENTENCES, CONTROLS = "demo_en", "demo_controls"
# A West, an East and a South Slavic language
PAIRS = {language: f"demo_{language}_pairs" for language in ("sk", "uk", "sl")}
NOT_VALIDATED = "for the demo only; not validated, do not report"


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in read_lines(path):
        yield line, json.loads(text)


def demo_sentences(path: Path, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield English sentences with the fields of the config `en`."""
    for row, (_, record) in enumerate(_records(path)):
        yield sentence_row(f"demo-{row:03d}", record["sentence"], record["stereotype"])


def demo_pairs(language: str, path: Path, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield pairs with the fields of the configs `*_pairs`; no system translated them."""
    for line, record in _records(path):
        row = pair_row(language, [], **record)
        if isinstance(row, str):
            raise ValueError(f"{path}, line {line}: {row}")
        yield row


def demo_controls(path: Path, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield gender quadruplets with the fields of `stereoset_control_gender`."""
    for row, (line, record) in enumerate(_records(path)):
        sample_id = f"demo-control-{row:03d}"
        yield quadruplet(sample_id, sample_id, "gender", record, path, line)


def _config(
    name: str,
    family: Family,
    content: str,
    fields: Fields,
    read: Callable[[Path, Files, Dropped], Iterator[Row]],
    rows: int,
    languages: tuple[str, ...] = ("en",),
) -> Config:
    path = FOLDER / f"{name}.jsonl"
    description = f"{content}; {NOT_VALIDATED}"
    return Config(name, family, description, (), fields, partial(read, path), rows, languages, embedded=path)


CONFIGS = [
    _config(SENTENCES, DEMO, "English sentences", SENTENCE_FIELDS, demo_sentences, 160),
    *(
        _config(
            name,
            DEMO,
            f"Pairs in {LANGUAGES[code].name}, one word apart",
            PAIR_FIELDS,
            partial(demo_pairs, code),
            80,
            (code, "en"),
        )
        for code, name in PAIRS.items()
    ),
    _config(
        CONTROLS,
        DEMO_CONTROL,
        "English gender samples with gender-swapped control pairs",
        QUADRUPLET,
        demo_controls,
        32,
    ),
]
