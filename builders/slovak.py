"""The Slovak gender set: quadruplets about one stereotype, that men are more competent."""

from __future__ import annotations

from collections.abc import Iterator

from gest_dataset.builders.config import Config, Dropped, Files, Row
from gest_dataset.builders.controls import FIELDS, QUADRUPLET, quadruplet
from gest_dataset.builders.families import SLOVAK_GENDER
from gest_dataset.builders.reading import read_csv, row_number

_SOURCE = "kinit-sk/bias-methodology/data/slovak_gender.csv"
_SENTENCES = ("veta1", "veta2", "veta3", "veta4")  # in the order of FIELDS
_CHECKS = {"competence?": "not about competence", "misogynistic?": "not misogynistic"}
_COLUMNS = ("ID", "file", "Gender veta 1", "sentiment", *_SENTENCES, *_CHECKS)


def read_slovak(files: Files, dropped: Dropped) -> Iterator[Row]:
    """The samples that passed the authors' validation: both check columns are empty."""
    path = files[_SOURCE]
    for line, cells in read_csv(path, _COLUMNS):
        failed = [reason for column, reason in _CHECKS.items() if cells[column].strip()]
        if failed:
            dropped[failed[0]] += 1
            continue
        sentences = (cells[column] for column in _SENTENCES)
        marked = dict(zip(FIELDS, sentences, strict=True))
        own = f"slovak-{row_number(cells['ID'], path, line):03d}"
        yield quadruplet(own, own, "gender", marked, path, line)


_TOLD = "Slovak quadruplets for the stereotype that men are more competent"
CONFIGS = [
    Config("slovak_gender", SLOVAK_GENDER, _TOLD, (_SOURCE,), QUADRUPLET, read_slovak, 142, languages=("sk",))
]
