"""The Slovak gender set: quadruplets about the stereotype that men are more competent."""

from __future__ import annotations

from collections.abc import Iterator

from gest_dataset.builders.config import Config, Dropped, Files, Row
from gest_dataset.builders.controls import FIELDS, QUADRUPLET, quadruplet
from gest_dataset.builders.families import SLOVAK_GENDER
from gest_dataset.builders.reading import read_csv

_SOURCE = "kinit-sk/bias-methodology/data/slovak_gender.csv"
_SENTENCES = ("veta1", "veta2", "veta3", "veta4")  # in the order of FIELDS
_CHECKS = {"competence?": "not about competence", "misogynistic?": "not misogynistic"}
_COLUMNS = ("ID", "file", "Gender veta 1", "sentiment", *_SENTENCES, *_CHECKS)


def read_slovak(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the samples that passed the authors' validation, whose check columns are both empty."""
    file = files[_SOURCE]
    for line, cells in read_csv(file, _COLUMNS):
        failed = [reason for column, reason in _CHECKS.items() if cells[column].strip()]
        if failed:
            dropped[failed[0]] += 1
            continue
        marked = {field: cells[column] for field, column in zip(FIELDS, _SENTENCES, strict=True)}
        sample_id = f"slovak-{int(cells['ID']):03d}"
        yield quadruplet(sample_id, sample_id, "gender", marked, file, line)


CONFIGS = [
    Config(
        "slovak_gender",
        SLOVAK_GENDER,
        "Slovak quadruplets for the stereotype that men are more competent",
        (_SOURCE,),
        QUADRUPLET,
        read_slovak,
        142,
        languages=("sk",),
    )
]
