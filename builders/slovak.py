"""The Slovak gender set: quadruplets about the stereotype that men are more competent."""

from __future__ import annotations

from collections.abc import Iterator

from gest_dataset.builders.config import Dropped, Files, Row
from gest_dataset.builders.controls import FIELDS, quadruplet
from gest_dataset.builders.reading import read_csv

_SENTENCES = ("veta1", "veta2", "veta3", "veta4")  # in the order of FIELDS
_CHECKS = {"competence?": "not about competence", "misogynistic?": "not misogynistic"}


def read_slovak(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the samples that passed the authors' validation, whose check columns are both empty."""
    for line, cells in read_csv(files[0]):
        failed = [reason for column, reason in _CHECKS.items() if cells[column].strip()]
        if failed:
            dropped[failed[0]] += 1
            continue
        marked = {field: cells[column] for field, column in zip(FIELDS, _SENTENCES, strict=True)}
        sample_id = f"slovak-{int(cells['ID']):03d}"
        yield quadruplet(sample_id, sample_id, "gender", marked, files[0], line)
