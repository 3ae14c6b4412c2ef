"""Checks of the StereoSet paper: its tables from the authors' sentence scores of three models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from gest_dataset.errors import GestError
from gest_dataset.studies.printed.pair import Lacking, Pair, needed
from gest_dataset.studies.stereoset_answers import released
from gest_dataset.studies.stereoset_numbers import TABLES, WAYS, Source, entries, printed

# The one misprint: the printed ICAT of that row and the LMS of both tests need the other number
_MISPRINT = (3, "bert-base-multilingual-cased", "tr", "lms")


def table(source: Source, scores: Path | None) -> list[Pair]:
    """The printed rows of the models whose scores are at hand, beside our statistics on these scores."""
    try:
        found = entries(released(needed(scores))[0])
    except GestError as error:
        raise Lacking(str(error).splitlines()[0]) from error
    pairs = []
    for entry in found:
        row = printed(entry, source) if entry.tests == source.tests else None
        for name in source.scores if row else ():
            assert row is not None
            odd = (source.number, row["handle"], row["language"], name) == _MISPRINT
            why = "a misprint: ICAT in print and the LMS of both tests need 78.73" if odd else ""
            what = f"{row['model']}, {row['language']}, {name}"
            pairs.append(Pair(what, float(entry.result[name]), f"{row[name]:.2f}", why))
    if not pairs:
        raise Lacking("no model of this table is among the score files")
    return pairs


CHECKS: Mapping[str, Callable[[Path | None], list[Pair]]] = {
    f"stereoset-table-{source.number}": partial(table, source) for source in (*TABLES, WAYS)
}
