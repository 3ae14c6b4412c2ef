"""The demo's own data: sentences, pairs and control quadruplets that were written for this project.

They are files of the package, so they need no network and no mirror. Nobody validated them and no
paper reports on them: they show what a run looks like, and their numbers are not for reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from gest_dataset.builders.config import Config, Dropped, Family, Fields, Files, Row
from gest_dataset.builders.controls import FIELDS, QUADRUPLET, quadruplet
from gest_dataset.builders.families import DEMO, DEMO_CONTROL
from gest_dataset.builders.gest import SENTENCE_FIELDS, sentence_row
from gest_dataset.builders.pairs import FIELDS as PAIR_FIELDS
from gest_dataset.builders.pairs import pair_row
from gest_dataset.builders.reading import filled, read_lines, stereotype_id
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES

FOLDER = Path(str(resources.files("gest_dataset"))) / "demo"
TOY_MODEL = FOLDER / "model"  # learnt from the pairs and the control sets
SENTENCES, CONTROLS = "demo_en", "demo_controls"
# A West, an East and a South Slavic language
PAIRS = {language: f"demo_{language}_pairs" for language in ("sk", "uk", "sl")}
Read = Callable[[Path, Files, Dropped], Iterator[Row]]
NOT_VALIDATED = "written for the demo, not validated: do not report"


def read_records(path: Path, texts: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of a demo file, each a JSON object: the number of a stereotype, then these texts."""
    line = 0
    for line, text in read_lines(path):
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError.at(path, line, f"not JSON ({error})") from error
        if not isinstance(record, dict) or list(record) != ["stereotype", *texts]:
            raise DataError.at(path, line, f"expected the fields stereotype, {', '.join(texts)}")
        stereotype_id(json.dumps(record["stereotype"]), path, line)
        for name in texts:
            if not isinstance(record[name], str):
                raise DataError.at(path, line, f"{name} is not a text: {record[name]!r}")
            filled(record[name], name, path, line)
        yield line, record
    if not line:
        raise DataError.at(path, "end of file", "no rows")


def demo_sentences(path: Path, files: Files, dropped: Dropped) -> Iterator[Row]:
    """English sentences, in the form of the config `en`."""
    for row, (_, record) in enumerate(read_records(path, ("sentence",))):
        yield sentence_row(f"demo-{row:03d}", record["sentence"], record["stereotype"])


def demo_pairs(language: str, path: Path, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Pairs in the form of the configs `*_pairs`, from no system; one that breaks a rule is an error."""
    for line, record in read_records(path, ("source", "masculine", "feminine")):
        row = pair_row(language, [], **record)
        if isinstance(row, str):
            raise DataError.at(path, line, f"no pair: {row}")
        yield row


def demo_controls(path: Path, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Gender quadruplets in the form of `stereoset_control_gender`; keywords stand in `<>`."""
    for row, (line, record) in enumerate(read_records(path, FIELDS)):
        own = f"demo-control-{row:03d}"
        yield quadruplet(own, own, "gender", record, path, line)


def _config(
    name: str, family: Family, what: str, fields: Fields, read: Read, rows: int, *others: str
) -> Config:
    path = FOLDER / f"{name}.jsonl"
    told, languages = f"{what}; {NOT_VALIDATED}", (*others, "en")
    return Config(name, family, told, (), fields, partial(read, path), rows, languages, embedded=path)


_SWAPPED = "English gender samples with gender-swapped control pairs"
CONFIGS = [_config(SENTENCES, DEMO, "English sentences", SENTENCE_FIELDS, demo_sentences, 160)]
for _code, _name in PAIRS.items():
    _told = f"Pairs in {LANGUAGES[_code].name}, one word apart"
    CONFIGS += [_config(_name, DEMO, _told, PAIR_FIELDS, partial(demo_pairs, _code), 80, _code)]
CONFIGS += [_config(CONTROLS, DEMO_CONTROL, _SWAPPED, QUADRUPLET, demo_controls, 32)]
