"""CrowS-Pairs, gender: the pairs in two revisions, and two sets with control pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gest_dataset.builders.config import KIND_FIELDS, Config, Dropped, Files, Row
from gest_dataset.builders.controls import FIELDS, QUADRUPLET
from gest_dataset.builders.families import CROWS, CROWS_CONTROL
from gest_dataset.builders.reading import read_cells, read_csv

_COLUMNS = ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type")
_PAIRS = {
    "crows_gender": (
        "nyu-mll/crows-pairs/data/crows_pairs_anonymized.csv",
        (*_COLUMNS, "annotations", "anon_writer", "anon_annotators"),
    ),
    "crows_gender_revised": ("kinit-sk/bias-methodology/data/crows_revised.csv", _COLUMNS),
}


def read_crows(name: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the gender pairs; `stereotyped` is the sentence that upstream calls more stereotypical."""
    key, columns = _PAIRS[name]
    for _, cells in read_csv(files[key], columns):
        if cells["bias_type"] == "gender":
            yield {
                "id": f"crows-{int(cells['']):04d}",
                "stereotyped": cells["sent_more"],
                "other": cells["sent_less"],
                "direction": cells["stereo_antistereo"],
            }


def _control_source(name: str) -> str:
    return f"kinit-sk/bias-methodology/data/crows_{name}.csv"


def read_control(name: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield quadruplets from a transposed table with one column per sample.

    Rows 0 and 1 are the original pair: the group and the other group. Every further pair of rows is an
    alternative control pair in the same order of groups, or empty.
    """
    table = [cells for _, cells in read_cells(files[_control_source(name)])]
    for column, sample in enumerate(zip(*table, strict=True)):
        controls = [sample[row : row + 2] for row in range(2, len(sample), 2)]
        if not any(group or other for group, other in controls):
            dropped["no control pair"] += 1
        for number, (group, other) in enumerate(controls):
            if group or other:
                # the group's two sentences are the stereotype side, the other group's the control side
                texts = (sample[0], group, sample[1], other)
                yield {
                    "id": f"{name}-{column:03d}-{number}",
                    "original": f"{name}-{column:03d}",
                    "bias_type": "gender",
                    **dict(zip(FIELDS, texts, strict=True)),
                    "keywords": None,
                }


CONFIGS = [
    Config(
        name, CROWS, description, (_PAIRS[name][0],), KIND_FIELDS["crows"], partial(read_crows, name), rows
    )
    for name, description, rows in (
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
