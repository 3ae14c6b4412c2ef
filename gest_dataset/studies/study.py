"""What a study yields: tables with the papers' numbers beside, figures, sentences; kept in a folder and read
again.

DIR/study.json   all of it but the drawings, with the signature, the versions and the command
DIR/study.html   one self-contained page
DIR/NAME.csv     each table, and the numbers of each figure
DIR/NAME.svg     each figure
DIR/runs/        runs of the models that the study has scored (`studies.asking`)
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gest_dataset.errors import DataError, OutputError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.words import shown
from gest_dataset.report.canvas import file_bytes
from gest_dataset.report.panel import Panel
from gest_dataset.runs.manifest import signature
from gest_dataset.runs.writing import versions
from gest_dataset.storage import (
    LOCK,
    atomic_path,
    check_folder,
    csv_text,
    folder_lock,
    json_value,
    parse_json,
    write_json,
)
from gest_dataset.studies import page
from gest_dataset.version import __version__

FORMAT = 1
STUDY, PAGE, RUNS = "study.json", "study.html", "runs"
INTERVAL = "95 %"  # over the bounds of a column of estimates
_NAME = re.compile(r"[a-z][a-z0-9-]*")

# A value with its interval is an `Estimate`; a number of a paper is the text that it prints
Cell = str | int | float | Estimate | None


@dataclass(frozen=True)
class Table:
    """A table of a study, like one of a paper.

    `name` is the stem of its file: small letters, digits and dashes. A column that holds an `Estimate` is
    three columns in the file: value, low, high. What the paper prints stands in columns of its own, as
    printed.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"The name of a table is small letters, digits and dashes: {self.name!r}")
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.name}: a row has not the {len(self.columns)} cells of the columns")

    @property
    def bounded(self) -> list[bool]:
        """Of each column whether it holds estimates."""
        return [any(isinstance(row[i], Estimate) for row in self.rows) for i in range(len(self.columns))]

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Headings and cells as people read them; an interval stands in a column of its own."""
        bounded = self.bounded
        headings = [
            text
            for name, wide in zip(self.columns, bounded, strict=True)
            for text in ([name, INTERVAL] if wide else [name])
        ]
        rows = [
            [
                text
                for cell, wide in zip(row, bounded, strict=True)
                for text in (_told(cell) if wide else [shown(cell)])
            ]
            for row in self.rows
        ]
        return headings, rows

    @property
    def csv(self) -> str:
        """The numbers, in full."""
        bounded = self.bounded
        columns = [
            text
            for name, wide in zip(self.columns, bounded, strict=True)
            for text in ([name, f"{name}_low", f"{name}_high"] if wide else [name])
        ]
        rows = (
            [
                json_value(value)
                for cell, wide in zip(row, bounded, strict=True)
                for value in (_numbers(cell) if wide else [cell])
            ]
            for row in self.rows
        )
        return csv_text(columns, rows)


def _numbers(cell: Cell) -> list[Any]:
    return list(cell) if isinstance(cell, Estimate) else [cell, None, None]


def _told(cell: Cell) -> list[str]:
    """A value and its interval; no interval where there is none to tell."""
    if not isinstance(cell, Estimate):
        return [shown(cell), ""]
    return list(cell.texts)


@dataclass(frozen=True)
class Study:
    """What a study has found.

    `sentences` are claims, each of which its numbers hold up; `notes` are what was left out, and why.
    `sources` name what it was made from, such as runs and files of scores, with a signature or hash of each.
    One that was read from a folder has no `figures`: they lie beside it.
    """

    name: str
    title: str
    tables: tuple[Table, ...]
    figures: tuple[Panel, ...] = ()
    sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """One line to print beside a number: the study, a hash of all its sources, the version."""
        told = "\n".join(f"{name}: {source}" for name, source in sorted(self.sources.items()))
        hashed = hashlib.sha256(told.encode()).hexdigest()
        return signature(
            gest=f"study-{self.name}", sources=len(self.sources), hash=hashed, version=__version__
        )

    def table(self, name: str) -> Table:
        """One of the tables."""
        return next(table for table in self.tables if table.name == name)


def keep(study: Study, folder: Path, command: Sequence[str]) -> Path:
    """Write a study into its folder, and say where its page is; one of the same name is replaced.

    One that is there as it is, but for the command, stays: drawing takes longer than all else.
    """
    claim_study(folder, study.name)
    with folder_lock(folder):
        told: dict[str, Any] = json_value(
            {
                "format": FORMAT,
                "name": study.name,
                "title": study.title,
                "tables": [asdict(table) | {"rows": table.rows} for table in study.tables],
                "figures": [{"name": f.name, "title": f.title, "caption": f.caption} for f in study.figures],
                "sentences": study.sentences,
                "notes": study.notes,
                "sources": dict(study.sources),
                "signature": study.signature,
                "versions": versions(),
                "command": list(command),
            }
        )
        if _is_there(folder, told):
            return folder / PAGE
        files = {f"{table.name}.csv": table.csv.encode() for table in study.tables}
        for figure in study.figures:
            files[f"{figure.name}.csv"] = figure.csv.encode()
            files[f"{figure.name}.svg"] = file_bytes(figure.figure, "svg")
        files[PAGE] = page.rendered(study, command).encode()
        for name in set(_written(folder)) - {*files}:
            (folder / name).unlink(missing_ok=True)
        write_json(folder / STUDY, told)  # whose files the folder may hold, also where it ends here
        for name, content in files.items():
            with atomic_path(folder / name) as unfinished:
                unfinished.write_bytes(content)
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        write_json(folder / STUDY, told | {"files": hashes})
    return folder / PAGE


def _is_there(folder: Path, told: Mapping[str, Any]) -> bool:
    """Whether a folder has this very study, with all of its files as they were written."""
    if not (folder / STUDY).exists():
        return False
    there = _read(folder)
    files = there.pop("files", None)
    return (
        isinstance(files, dict)
        and there | {"command": None} == {**told, "command": None}
        and all(
            (folder / name).is_file() and hashlib.sha256((folder / name).read_bytes()).hexdigest() == known
            for name, known in files.items()
        )
    )


def claim_study(folder: Path, name: str) -> None:
    """Make a study's folder, or take the one that it has; one with anything else is refused."""
    if (folder / STUDY).exists():
        there = read_study(folder).name
        if there != name:
            raise OutputError(f"{folder} holds the study {there}. Choose another folder with --output.")
    written = _written(folder)
    ours = {STUDY, PAGE, RUNS, LOCK, *written}
    check_folder(folder, lambda path: any(path.name == one for one in ours), "a study")


def _written(folder: Path) -> list[str]:
    """The files of tables and figures that the study of a folder has."""
    if not (folder / STUDY).exists():
        return []
    told = _read(folder)
    return [
        *(f"{table['name']}.csv" for table in told["tables"]),
        *(f"{figure['name']}.{kind}" for figure in told["figures"] for kind in ("csv", "svg")),
    ]


def read_study(folder: str | Path) -> Study:
    """The study of a folder, without its drawings."""
    told = _read(Path(folder))
    tables = tuple(
        Table(
            table["name"],
            table["title"],
            tuple(table["columns"]),
            tuple(tuple(map(_cell, row)) for row in table["rows"]),
            table["note"],
        )
        for table in told["tables"]
    )
    texts = {name: tuple(told[name]) for name in ("sentences", "notes")}
    return Study(told["name"], told["title"], tables, sources=told["sources"], **texts)


def _cell(value: Any) -> Cell:
    if isinstance(value, list):
        return Estimate(*(math.nan if number is None else float(number) for number in value))
    cell: Cell = value
    return cell


# The entries of study.json that are read again, and their types
_ENTRIES: dict[str, Callable[[Any], bool]] = {
    "name": lambda value: isinstance(value, str),
    "title": lambda value: isinstance(value, str),
    "tables": lambda value: isinstance(value, list),
    "figures": lambda value: isinstance(value, list),
    "sentences": lambda value: isinstance(value, list),
    "notes": lambda value: isinstance(value, list),
    "sources": lambda value: isinstance(value, dict),
}


def _read(folder: Path) -> dict[str, Any]:
    """study.json; an error says what is wrong with it."""
    file = folder / STUDY
    try:
        told = parse_json(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise OutputError(
            f"{folder} holds no {STUDY}. Give a folder that `gest study NAME --output` has written."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}. Remove it and make the study again.") from error
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise OutputError(f"{file} is not of this version of `gest study`. Choose another folder.")
    wrong = [name for name, fits in _ENTRIES.items() if not fits(told.get(name))]
    if wrong:
        raise DataError(f"{file} is damaged ({', '.join(wrong)}). Remove it and make the study again.")
    return told
