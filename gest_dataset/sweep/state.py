"""What is known of a sweep on its way: a record of the suite, a file for each model with its cells.

One process writes them, the one that watches over the sweep. What is in a file is checked against the runs
themselves: a cell is done where its run has a manifest with the very bytes that were noted, or (when the
sweep was killed before it noted them) a finished run of the same model, config, data and settings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import Any

from gest_dataset.errors import DataError, GestError, OutputError
from gest_dataset.runs.manifest import MANIFEST, differences
from gest_dataset.runs.reading import Run, read_run
from gest_dataset.storage import (
    CHOOSE,
    LOCK,
    check_folder,
    folder_lock,
    json_text,
    json_value,
    parse_json,
)
from gest_dataset.sweep.facts import facts_of, is_run_of
from gest_dataset.sweep.grid import DONE, FAILED, TO_DO, Cell, Row
from gest_dataset.sweep.looking import Look
from gest_dataset.sweep.place import MODELS, RUNS, Place, run_name
from gest_dataset.sweep.suite import Subject, Suite
from gest_dataset.version import __version__

FORMAT = 1
RECORD = "sweep.json"
BOARD = ("leaderboard.html", "leaderboard.csv", "leaderboard.parquet", "differences.csv", "published.csv")


def held(place: Place) -> AbstractContextManager[None]:
    """Keep other sweeps out of a folder, and make it; a URL has no locks."""
    return nullcontext() if place.folder is None else folder_lock(place.folder)


def check(place: Place, suite: Suite, resume: bool) -> None:
    """Whether a sweep can be begun in a place, or the one that is there gone on with."""
    if place.folder is not None and place.folder.exists():
        check_folder(place.folder, {RECORD, RUNS, MODELS, LOCK, *BOARD}, "a sweep")
    record = place.read(RECORD)
    if record is None:
        return
    told = _parsed(record, f"{place}/{RECORD}")
    if told.get("format") != FORMAT:
        raise OutputError(f"{place}/{RECORD} is not of this version of `gest sweep`. {CHOOSE}")
    if not resume:
        raise OutputError(
            f"{place} holds a sweep of {told.get('suite')}. Go on with it with --resume, or choose another "
            f"folder with --output."
        )
    if told.get("version") != __version__:
        raise OutputError(
            f"{place} was begun with gest-dataset {told.get('version')}, and this is {__version__}: their "
            f"numbers need not agree. Go on with that version, or choose another folder."
        )


def begin(place: Place, suite: Suite) -> None:
    """Make the place of a sweep, if it is not there."""
    if place.read(RECORD) is None:
        told = {"format": FORMAT, "suite": suite.name, "title": suite.title, "version": __version__}
        place.write(RECORD, json_text(told).encode())


def known(place: Place, subjects: Sequence[Subject]) -> dict[str, dict[str, Any]]:
    """What the files of the models say, by name; of one without a file nothing."""
    there = set(place.names(MODELS))
    found = {}
    for subject in subjects:
        if f"{subject.name}.json" in there:
            content = place.read(_file(subject.name))
            if content is not None:
                found[subject.name] = _parsed(content, f"{place}/{_file(subject.name)}")
    return found


def look_of(told: Mapping[str, Any], subject: Subject) -> Look | None:
    """The look that was had at a model before, if it was at the same one."""
    if told.get("asked") != subject.told() or not told.get("look"):
        return None
    return Look(**told["look"])


def with_kept(row: Row, told: Mapping[str, Any], place: Place) -> tuple[Row, list[str]]:
    """The row with its cells as they are kept, and why they cannot be."""
    noted = {config: _cell(cell) for config, cell in told.get("cells", {}).items()}
    if noted and told.get("asked") != row.subject.told():
        if any(cell.state == DONE for cell in noted.values()):
            lines = " ".join(line.strip() for line in differences(told["asked"], row.subject.told()))
            return row, [f"{row.subject.name}: {place} has it asked otherwise ({lines}). {CHOOSE}"]
        noted, told = {}, {}  # nothing is lost with what has failed: a smaller dtype may be what it needs
    cells = {config: _verified(row.subject, config, noted.get(config), place) for config in row.cells}
    # what the checkpoint's own head has shown
    left_out = {config: reason for config, reason in told.get("left_out", {}).items() if config in row.cells}
    cells = {config: cell for config, cell in cells.items() if config not in left_out}
    return Row(row.subject, row.look, cells, {**row.left_out, **left_out}), []


def note(place: Place, row: Row) -> None:
    """Write down what is known of a model."""
    told = {
        "asked": row.subject.told(),
        "look": asdict(row.look),
        "cells": {config: asdict(cell) for config, cell in row.cells.items()},
        "left_out": dict(row.left_out),
    }
    place.write(_file(row.subject.name), json_text(json_value(told)).encode())


def mark_of(place: Place, subject: str, config: str) -> str:
    """What tells a finished run from any other: the hash of its manifest, which has those of its files."""
    content = place.read(f"{run_name(subject, config)}/{MANIFEST}")
    return "" if content is None else hashlib.sha256(content).hexdigest()


def runs_of(place: Place, row: Row) -> Iterator[tuple[str, Run]]:
    """The finished runs of a model, one after the other."""
    for config, cell in row.cells.items():
        if cell.state == DONE:
            with place.run(run_name(row.subject.name, config)) as path:
                yield config, read_run(path)


def _verified(subject: Subject, config: str, noted: Cell | None, place: Place) -> Cell:
    """A cell as its run shows it."""
    mark = mark_of(place, subject.name, config)
    if noted is not None and noted.state == DONE and mark == noted.mark != "":
        return noted
    losses = noted.losses if noted is not None else ()
    if mark:
        found = _finished(subject, config, place)
        if found is not None:
            return Cell(DONE, mark=mark, facts=facts_of(found), losses=losses)
    if noted is not None and noted.state == FAILED:
        return noted
    return Cell(losses=losses)


def _finished(subject: Subject, config: str, place: Place) -> Run | None:
    """The run of a cell that nobody has noted, if it is whole and of what the cell asks."""
    try:
        with place.run(run_name(subject.name, config)) as path:
            run = read_run(path)
        of_it = run.manifest.metadata["asked_revision"] == subject.revision
        same = of_it and is_run_of(run.manifest, subject, config)
    except GestError:
        return None  # it is on its way, or damaged: its worker will say which
    return run if same else None


def _file(name: str) -> str:
    return f"{MODELS}/{name}.json"


def _cell(told: Mapping[str, Any]) -> Cell:
    return Cell(
        told.get("state", TO_DO),
        told.get("reason", ""),
        told.get("mark", ""),
        told.get("facts", {}),
        tuple(told.get("losses", ())),
    )


def _parsed(content: bytes, name: str) -> dict[str, Any]:
    try:
        told = parse_json(content)
    except (ValueError, json.JSONDecodeError) as error:
        raise DataError(f"{name} is damaged: {error}. Remove it: finished runs are found again.") from error
    if not isinstance(told, dict):
        raise DataError(f"{name} is damaged. Remove it: finished runs are found again.")
    return told
