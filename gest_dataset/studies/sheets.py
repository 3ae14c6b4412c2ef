"""Annotation sheets: samples drawn by language and outcome, and read again when people have labelled them.

A sheet is a CSV file in random order that does not show the outcomes. SHEET.key.json has the outcome of each
row and the size of each stratum (a language and an outcome).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.storage import atomic_path, check_output_file, csv_text, parse_json, write_json

GENDER, SWAPS = "gender", "swaps"
Stratum = tuple[str, str]  # language, outcome


@dataclass(frozen=True)
class Kind:
    """A kind of sheet: the outcomes of a heuristic, the labels of people, and the text columns.

    `right` is the label that agrees with an outcome, and `number` of each stratum are drawn by default, as
    in the paper.
    """

    name: str
    outcomes: tuple[str, ...]
    labels: Mapping[str, str]
    texts: tuple[str, ...]
    right: Mapping[str, str]
    number: int

    @property
    def legend(self) -> str:
        return ", ".join(f"{label} ({meaning})" for label, meaning in self.labels.items())


KINDS = {
    GENDER: Kind(
        GENDER,
        ("M", "F", "U"),
        {"M": "masculine", "F": "feminine", "N": "neutral"},
        ("source", "translation"),
        {"M": "M", "F": "F", "U": "N"},
        20,
    ),
    SWAPS: Kind(
        SWAPS,
        ("positive", "negative"),
        {"X": "not of two genders", "G": "of two genders, other words", "C": "the same in both genders"},
        ("masculine", "feminine"),
        {"positive": "C"},
        80,
    ),
}


@dataclass(frozen=True)
class Sample:
    """A sample that can be drawn, with the texts of its kind of sheet."""

    language: str
    outcome: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class LabelledSheet:
    """Language, outcome and label of each row; `population` has the sizes of the strata, if known."""

    kind: Kind
    rows: tuple[tuple[str, str, str], ...]
    population: Mapping[Stratum, int]


def key_path(sheet: Path) -> Path:
    """The key of a sheet."""
    return sheet.with_suffix(".key.json")


def draw(
    kind: Kind, samples: Sequence[Sample], number: int, seed: int, sheet: Path, source: Mapping[str, str]
) -> dict[Stratum, tuple[int, int]]:
    """Write a sheet and its key; return how many of how many samples were drawn of each stratum.

    An existing sheet is never overwritten: it may have labels.
    """
    if sheet.suffix.lower() != ".csv":
        raise ConfigError(f"A sheet is a CSV file, so {sheet} should end with .csv.")
    if sheet.exists() or key_path(sheet).exists():
        raise ConfigError(
            f"{sheet} or its key exists and may have labels. Choose another name, or remove it."
        )
    check_output_file(sheet)
    generator = np.random.default_rng(seed)
    strata: dict[Stratum, list[Sample]] = {}
    for sample in samples:
        strata.setdefault((sample.language, sample.outcome), []).append(sample)
    drawn: list[Sample] = []
    counts: dict[Stratum, tuple[int, int]] = {}
    for stratum, own in sorted(strata.items()):
        chosen = generator.choice(len(own), min(number, len(own)), replace=False)
        drawn += [own[place] for place in sorted(chosen.tolist())]
        counts[stratum] = len(chosen), len(own)
    if not drawn:
        raise DataError("There are no samples to draw from.")
    drawn = [drawn[place] for place in generator.permutation(len(drawn)).tolist()]
    ids = [f"{place:04d}" for place in range(1, len(drawn) + 1)]
    key = {
        "kind": kind.name,
        "seed": seed,
        "number": number,
        "source": dict(source),
        "rows": {name: [one.language, one.outcome] for name, one in zip(ids, drawn, strict=True)},
        "population": [[*stratum, size] for stratum, (_, size) in counts.items()],
    }
    rows = [(name, one.language, *one.texts, "") for name, one in zip(ids, drawn, strict=True)]
    write_json(key_path(sheet), key)
    with atomic_path(sheet) as partial:
        partial.write_text(csv_text(("id", "language", *kind.texts, "label"), rows), encoding="utf-8")
    return counts


def read(sheet: Path) -> LabelledSheet:
    """A labelled sheet; it needs all rows that were drawn, each once and with a label."""
    key = _read_key(sheet)
    kind, drawn = KINDS[key["kind"]], key["rows"]
    table = read_table(sheet)
    # spreadsheets drop leading zeros
    ids = [name.strip().zfill(4) for name in table.texts("id")]
    labels = [label.strip().upper() for label in table.texts("label")]
    lines: dict[str, int] = {}
    for line, name in enumerate(ids, start=2):
        if name not in drawn:
            raise DataError.at(sheet, line, f"the id {name!r} is not in {key_path(sheet).name}")
        if name in lines:
            raise DataError.at(sheet, line, f"the id {name} occurs twice. Keep one of the rows")
        lines[name] = line
    missing = [name for name in drawn if name not in lines]
    if missing:
        raise DataError(f"{sheet} lacks {len(missing)} of {len(drawn)} rows, such as id {missing[0]}.")
    empty = [line for line, label in enumerate(labels, start=2) if not label]
    if empty:
        some = ", ".join(map(str, empty[:8])) + (", …" if len(empty) > 8 else "")
        raise DataError(
            f"{sheet}: {len(empty)} of {len(labels)} rows (lines {some}) need a label: {kind.legend}."
        )
    for line, label in enumerate(labels, start=2):
        if label not in kind.labels:
            raise DataError.at(sheet, line, f"the label {label!r} is not one of {kind.legend}")
    rows = tuple((*drawn[name], label) for name, label in zip(ids, labels, strict=True))
    return LabelledSheet(kind, rows, Counter({(code, outcome): n for code, outcome, n in key["population"]}))


def _read_key(sheet: Path) -> dict[str, Any]:
    path = key_path(sheet)
    for file in (sheet, path):
        if not file.is_file():
            raise ConfigError(
                f"{file} does not exist. gest study heuristics RUN --draw {sheet} writes a sheet and its key."
            )
    try:
        key: dict[str, Any] = parse_json(path.read_bytes())
        outcomes = KINDS[key["kind"]].outcomes
        if all(outcome in outcomes for _, outcome in key["rows"].values()):
            return key
        reason = "unknown outcomes"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = repr(error)
    raise DataError(f"{path} is damaged ({reason}). Restore the file that was written with the sheet.")
