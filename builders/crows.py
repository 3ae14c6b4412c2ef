"""CrowS-Pairs, gender: the pairs in two revisions, and two sets with control pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from datasets import ClassLabel

from gest_dataset.builders.config import Config, Dropped, Field, Files, Row
from gest_dataset.builders.controls import FIELDS, QUADRUPLET
from gest_dataset.builders.families import CROWS, CROWS_CONTROL
from gest_dataset.builders.reading import filled, one_of, read_cells, read_csv, row_number
from gest_dataset.errors import DataError

_COLUMNS = ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type")
_PAIRS = {
    "crows_gender": (
        "nyu-mll/crows-pairs/data/crows_pairs_anonymized.csv",
        (*_COLUMNS, "annotations", "anon_writer", "anon_annotators"),
    ),
    "crows_gender_revised": ("kinit-sk/bias-methodology/data/crows_revised.csv", _COLUMNS),
}
DIRECTIONS = ClassLabel(names=["stereo", "antistereo"])


def read_crows(name: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """The gender pairs; `stereotyped` is the sentence that upstream calls more stereotypical."""
    key, columns = _PAIRS[name]
    path, seen = files[key], set[int]()
    for line, cells in read_csv(path, columns):
        if filled(cells["bias_type"], "bias_type", path, line) != "gender":
            continue
        number = row_number(cells[""], path, line)
        if number in seen:
            raise DataError.at(path, line, f"the pair {number} stands twice")
        seen.add(number)
        yield {
            "id": f"crows-{number:04d}",
            "stereotyped": filled(cells["sent_more"], "sent_more", path, line),
            "other": filled(cells["sent_less"], "sent_less", path, line),
            "direction": one_of(
                cells["stereo_antistereo"], DIRECTIONS.names, "stereo_antistereo", path, line
            ),
        }


def _control_source(name: str) -> str:
    return f"kinit-sk/bias-methodology/data/crows_{name}.csv"


def read_control(name: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Quadruplets from a transposed table: a column is a sample.

    Rows 0 and 1 are the original pair, group and other group; every further pair of rows is an
    alternative control pair in the same order of groups, empty where there is none.
    """
    path = files[_control_source(name)]
    table = [cells for _, cells in read_cells(path)]
    if len(table) < 4 or len(table) % 2 or len({len(cells) for cells in table}) != 1:
        raise DataError.at(path, "table", f"{len(table)} rows of {sorted({len(c) for c in table})} columns")
    for column, sample in enumerate(zip(*table, strict=True)):
        place = f"column {column + 1}"
        original = [filled(text, "original sentence", path, place) for text in sample[:2]]
        pairs = [sample[row : row + 2] for row in range(2, len(sample), 2)]
        if not any(text.strip() for pair in pairs for text in pair):
            dropped["no control pair"] += 1
        for alternative, pair in enumerate(pairs):
            if not any(text.strip() for text in pair):
                continue
            control = [filled(text, "control sentence", path, place) for text in pair]
            # the group's two sentences are the stereotype side, the other group's the control
            texts = (original[0], control[0], original[1], control[1])
            yield {
                "id": f"{name}-{column:03d}-{alternative}",
                "original": f"{name}-{column:03d}",
                "bias_type": "gender",
                **dict(zip(FIELDS, texts, strict=True)),
                "keywords": None,
            }


_PAIR_FIELDS = {
    "id": Field("the number of the pair in CrowS-Pairs"),
    "stereotyped": Field("the more stereotypical sentence"),
    "other": Field("the same about the other group, or the less stereotypical sentence"),
    "direction": Field(
        "`stereo` where the pair shows a stereotype, `antistereo` where it breaks one", DIRECTIONS
    ),
}

CONFIGS = [
    Config(name, CROWS, told, (_PAIRS[name][0],), _PAIR_FIELDS, partial(read_crows, name), rows)
    for name, told, rows in (
        ("crows_gender", "CrowS-Pairs, the gender pairs as published", 262),
        ("crows_gender_revised", "CrowS-Pairs, the gender pairs with errors repaired", 250),
    )
] + [
    Config(
        f"crows_control_{name}",
        CROWS_CONTROL,
        f"CrowS-Pairs gender pairs with {kind} control pairs",
        (_control_source(name),),
        QUADRUPLET,
        partial(read_control, name),
        rows,
    )
    for name, kind, rows in (("negation", "negated", 66), ("antistereotype", "anti-stereotypical", 65))
]
