"""Checks of the multilingual StereoSet paper: tables from the authors' own scores, counts from the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from gest_dataset.builders.stereoset import TESTS
from gest_dataset.errors import GestError
from gest_dataset.studies.printed.gest_data import data_of
from gest_dataset.studies.printed.pair import Lacking, Pair, needed
from gest_dataset.studies.stereoset_answers import released
from gest_dataset.studies.stereoset_numbers import (
    TABLES,
    WAYS,
    Source,
    entries,
    in_several_ways,
    printed,
)

_MISPRINT = "a misprint: ICAT of the same row and LMS of table 4 follow from 78.73"
_WHY = {(3, "mBERT", "tr", "lms"): _MISPRINT}
# Section 3.1: samples, samples of the most and of the least common target, and of each of these
_TYPES = ("race", "profession", "gender", "religion")
_SIZES = {
    "intrasentence": ("2106", "32", "21", ("962", "810", "255", "79")),
    "intersentence": ("2123", "33", "20", ("976", "827", "242", "78")),
}
_TARGETS = "79"


def of_table(table: Source, scores: Path | None) -> list[Pair]:
    """A table's rows of the models whose scores are released; two digits behind the point, as printed."""
    folder = needed(scores)
    try:
        answers, _ = released(folder)
    except GestError as error:
        raise Lacking(str(error).splitlines()[0]) from error
    found = in_several_ways(answers) if table is WAYS else entries(answers)
    pairs = []
    for one in found:
        row = printed(one, table)
        if row is None or one.tests != table.tests:
            continue
        for name in table.scores:
            what = f"{row['model']}, {one.language}, {name}"
            why = _WHY.get((table.number, row["model"], one.language, name), "")
            pairs.append(Pair(what, float(one.result[name]), f"{row[name]:.2f}", why))
    if not pairs:
        raise Lacking(f"no file in the folder is of a model in table {table.number}")
    return pairs


def sizes(_: Path | None) -> list[Pair]:
    """The counts of section 3.1, from the English configs."""
    pairs = []
    for test in TESTS:
        rows = data_of(f"stereoset_en_{test}")
        targets = Counter(rows["target"])
        types = Counter(rows.features["bias_type"].int2str(rows["bias_type"]))
        samples, most, least, by_type = _SIZES[test]
        pairs += [
            Pair(f"{test}: samples", len(rows), samples),
            Pair(f"{test}: targets", len(targets), _TARGETS),
            Pair(f"{test}: samples of the most common target", max(targets.values()), most),
            Pair(f"{test}: samples of the least common target", min(targets.values()), least),
            *(Pair(f"{test}: {name}", types[name], n) for name, n in zip(_TYPES, by_type, strict=True)),
        ]
    return pairs


CHECKS: Mapping[str, Callable[[Path | None], list[Pair]]] = {
    f"stereoset-table-{table.number}": partial(of_table, table) for table in (*TABLES, WAYS)
} | {"stereoset-sizes": sizes}
