"""Annotation sheets: samples drawn by language and outcome, and read again when people have filled them in.

A sheet is a CSV in a random order that says nothing of the outcomes, so that nobody is led by them; what is
known of its rows stands in a key beside it, SHEET.key.json, with the number of samples that each stratum
(a language and an outcome) was drawn from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.storage import atomic_path, check_output_file, csv_text, parse_json, write_json

GENDER, SWAPS = "gender", "swaps"
LABEL = "label"
_FORMAT = 1
_LISTED = 8  # rows that a message names


@dataclass(frozen=True)
class Kind:
    """One kind of sheet: the outcomes of a heuristic, the labels of people, and what a label means."""

    name: str
    outcomes: tuple[str, ...]
    labels: Mapping[str, str]
    texts: tuple[str, ...]  # the columns that are read


KINDS = {
    GENDER: Kind(
        GENDER,
        ("M", "F", "U"),
        {"M": "masculine", "F": "feminine", "N": "neutral"},
        ("source", "translation"),
    ),
    SWAPS: Kind(
        SWAPS,
        ("positive", "negative"),
        {"X": "not of two genders", "G": "of two genders, other words", "C": "the same in both genders"},
        ("masculine", "feminine"),
    ),
}


@dataclass(frozen=True)
class Candidate:
    """One sample that can be drawn; `texts` are those of its kind."""

    language: str
    outcome: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Labelled:
    """A sheet that is filled in: language, outcome and label of each row, and how many each stratum had.

    `population` is empty where nothing is known of what was not drawn.
    """

    kind: Kind
    rows: tuple[tuple[str, str, str], ...]
    population: Mapping[tuple[str, str], int]


def draw(
    kind: Kind,
    candidates: Sequence[Candidate],
    number: int,
    seed: int,
    sheet: Path,
    source: Mapping[str, str],
) -> dict[tuple[str, str], tuple[int, int]]:
    """Write a sheet and its key: `number` of each language and outcome, or all where there are fewer.

    How many were drawn of how many is the answer. A sheet that is there is not written over: somebody may
    have filled it in.
    """
    if sheet.suffix.lower() != ".csv":
        raise ConfigError(f"A sheet is a CSV file: {sheet} should end with .csv.")
    if sheet.exists() or key_of(sheet).exists():
        raise ConfigError(
            f"{sheet} is there already, and may be filled in. Choose another name, or remove it."
        )
    check_output_file(sheet)
    generator = np.random.default_rng(seed)
    strata: dict[tuple[str, str], list[Candidate]] = {}
    for one in candidates:
        strata.setdefault((one.language, one.outcome), []).append(one)
    drawn: list[Candidate] = []
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for stratum in sorted(strata):
        there = strata[stratum]
        chosen = generator.choice(len(there), min(number, len(there)), replace=False)
        drawn += [there[place] for place in sorted(chosen.tolist())]
        counts[stratum] = len(chosen), len(there)
    if not drawn:
        raise DataError("There is nothing to draw from.")
    drawn = [drawn[place] for place in generator.permutation(len(drawn)).tolist()]
    ids = [f"{place:04d}" for place in range(1, len(drawn) + 1)]
    key = {
        "format": _FORMAT,
        "kind": kind.name,
        "seed": seed,
        "number": number,
        "source": dict(source),
        "rows": {name: [one.language, one.outcome] for name, one in zip(ids, drawn, strict=True)},
        "population": [[*stratum, of] for stratum, (_, of) in counts.items()],
    }
    columns = ("id", "language", *kind.texts, LABEL)
    rows = [(name, one.language, *one.texts, "") for name, one in zip(ids, drawn, strict=True)]
    write_json(key_of(sheet), key)
    with atomic_path(sheet) as unfinished:
        unfinished.write_text(csv_text(columns, rows), encoding="utf-8")
    return counts


def key_of(sheet: Path) -> Path:
    """Where the key of a sheet is."""
    return sheet.with_suffix(".key.json")


def read(sheet: Path) -> Labelled:
    """A sheet that is filled in, with its key."""
    key = _key(sheet)
    kind = KINDS[key["kind"]]
    table = read_table(sheet)
    ids, labels = ([text.strip() for text in table.texts(name)] for name in ("id", LABEL))
    known: dict[str, list[str]] = key["rows"]
    # a spreadsheet takes the zeros in front of a number away
    short = {name.lstrip("0"): name for name in known}
    names = [name if name in known else short.get(name.lstrip("0"), name) for name in ids]
    _check_rows(sheet, names, known)
    lines = dict(zip(names, range(2, len(names) + 2), strict=True))
    empty = [line for label, line in zip(labels, lines.values(), strict=True) if not label]
    if empty:
        raise DataError(
            f"{sheet} is filled in for {len(labels) - len(empty)} of {len(labels)} rows: {_some(empty)} "
            f"{'has' if len(empty) == 1 else 'have'} no label. Fill in {_meanings(kind)}, and read it again."
        )
    for label, line in zip(labels, lines.values(), strict=True):
        if label.upper() not in kind.labels:
            raise DataError.at(sheet, line, f"the label {label!r} is none of {_meanings(kind)}")
    rows = tuple(
        (known[name][0], known[name][1], label.upper()) for name, label in zip(names, labels, strict=True)
    )
    return Labelled(kind, rows, {(language, outcome): of for language, outcome, of in key["population"]})


def _check_rows(sheet: Path, names: Sequence[str], known: Mapping[str, Any]) -> None:
    """Whether the rows are those that were drawn, each once."""
    seen: set[str] = set()
    for line, name in enumerate(names, start=2):
        if name not in known:
            raise DataError.at(
                sheet, line, f"the id {name!r} is not of this sheet ({key_of(sheet).name} has none such)"
            )
        if name in seen:
            raise DataError.at(sheet, line, f"the id {name} is there twice. Keep one of the two rows")
        seen.add(name)
    missing = [name for name in known if name not in seen]
    if missing:
        raise DataError(
            f"{sheet} lacks {len(missing)} of the {len(known)} rows that were drawn, such as id "
            f"{missing[0]}: put them back (the order does not matter). Without them the shares would be of "
            "other samples."
        )


def _meanings(kind: Kind) -> str:
    return ", ".join(f"{label} ({meaning})" for label, meaning in kind.labels.items())


def _some(lines: Sequence[int]) -> str:
    told = ", ".join(map(str, lines[:_LISTED]))
    more = f" and {len(lines) - _LISTED} more" if len(lines) > _LISTED else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {told}{more}"


def _key(sheet: Path) -> dict[str, Any]:
    file = key_of(sheet)
    if not sheet.is_file():
        raise ConfigError(f"There is no sheet {sheet}. Draw one: gest study heuristics RUN --draw {sheet}")
    try:
        key = parse_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            f"{sheet} has no key beside it: {file} says which outcome each row has. Put it back; without it "
            f"the sheet says nothing."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}. Put the file back that was drawn.") from error
    if not _fits(key):
        raise DataError(f"{file} is no key of this version of `gest study heuristics`.")
    whole: dict[str, Any] = key
    return whole


def _fits(key: Any) -> bool:
    if not isinstance(key, dict) or key.get("format") != _FORMAT or key.get("kind") not in KINDS:
        return False
    rows, population = key.get("rows"), key.get("population")
    outcomes = KINDS[key["kind"]].outcomes
    return (
        isinstance(rows, dict)
        and isinstance(population, list)
        and all(isinstance(row, list) and len(row) == 2 and row[1] in outcomes for row in rows.values())
        and all(
            isinstance(entry, list) and len(entry) == 3 and entry[1] in outcomes and type(entry[2]) is int
            for entry in population
        )
    )
