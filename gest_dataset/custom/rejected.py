"""The rows that were left out: counted by reason, and written with it, one by one."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from gest_dataset.display import csv_cell

COLUMNS = ("file", "row", "reason", "system", "id", "source", "translation", "masculine", "feminine")


@dataclass
class Rejected:
    """What is left out of one file; `first` is the first row of each reason."""

    path: Path
    file: TextIO
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def add(self, row: int, cells: Mapping[str, str], reason: str) -> None:
        self.counts[reason] += 1
        self.first.setdefault(reason, row)
        told: Sequence[Any] = (self.path.name, row, reason, *(cells.get(name, "") for name in COLUMNS[3:]))
        csv.writer(self.file, lineterminator="\n").writerow([csv_cell(value) for value in told])


def heading(file: TextIO) -> None:
    csv.writer(file, lineterminator="\n").writerow(COLUMNS)
