"""The demo's data: sentences, pairs and control quadruplets that were written for this project.

They are files of the package and need no network. They are not validated, and no paper reports on them:
they show what a run looks like, and their numbers must not be reported.
"""

import json
from collections.abc import Iterator

from gest_dataset.builders.config import PACKAGE, Dropped, Files, Row
from gest_dataset.builders.controls import quadruplet
from gest_dataset.builders.gest import sentence_row
from gest_dataset.builders.pairs import pair_row
from gest_dataset.builders.reading import read_lines, stereotype_id

FOLDER = PACKAGE / "demo"
TOY_MODEL = FOLDER / "model"  # trained on the pairs and the control sets
SENTENCES, CONTROLS = "demo_en", "demo_controls"
# A West, an East and a South Slavic language
PAIRS = {language: f"demo_{language}_pairs" for language in ("sk", "uk", "sl")}
NOT_VALIDATED = "not validated: do not report results on them"


def demo_sentences(files: Files, dropped: Dropped) -> Iterator[Row]:
    for row, (_, line) in enumerate(read_lines(files[0])):
        record = json.loads(line)
        number = stereotype_id(str(record["stereotype"]), files[0], row)
        yield sentence_row(f"demo-{row:03d}", record["sentence"], number)


def demo_pairs(language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield pairs with the fields of the configs `*_pairs`; no system translated them."""
    for number, line in read_lines(files[0]):
        record = json.loads(line)
        stereotype_id(str(record["stereotype"]), files[0], number)
        row = pair_row(language=language, systems=[], **record)
        if isinstance(row, str):
            raise ValueError(f"line {number}: {row}")
        yield row


def demo_controls(files: Files, dropped: Dropped) -> Iterator[Row]:
    for row, (number, line) in enumerate(read_lines(files[0])):
        sample_id = f"demo-control-{row:03d}"
        yield quadruplet(sample_id, sample_id, "gender", json.loads(line), files[0], number)
