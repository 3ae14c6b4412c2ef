"""What a study produces: tables next to the papers' numbers, and figures, in a folder.

    DIR/study.json  everything but the drawings, with the signature, the versions and the command
    DIR/study.html  one self-contained page
    DIR/NAME.csv    each table, and the numbers of each figure
    DIR/NAME.svg    each figure
    DIR/runs/       MODEL/CONFIG: the runs of models that the study scored, so that it resumes

The titles, columns and notes of all tables are in `tables.yaml`.
"""

from __future__ import annotations

import hashlib
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template

from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.report.page import load_template, page_assets
from gest_dataset.report.panel import Panel, file_bytes, inline_svg
from gest_dataset.runs.folder import check_work_folder, versions
from gest_dataset.runs.manifest import signature
from gest_dataset.storage import LOCK, check_folder, csv_text, folder_lock, json_value, write_file, write_json
from gest_dataset.version import __version__

STUDY, PAGE, RUNS, CARD = "study.json", "study.html", "runs", "README.md"

# Printed numbers are texts, with the digits of print
Cell = str | int | float | Estimate | None
Row = tuple[Cell, ...]
UNDEFINED = Estimate(math.nan, math.nan, math.nan)


@cache
def table_texts() -> dict[str, Any]:
    path = Path(__file__).with_name("tables.yaml")
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Table:
    """A table of a study; `name` is the stem of its file.

    A column of estimates is shown as two columns (value, interval) and stored as three (value, low, high).
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""

    @classmethod
    def create(cls, name: str, rows: Sequence[Row], text: str = "", **values: Any) -> Table:
        """A table with the title, columns and note in `tables.yaml`, filled in with `values`."""
        texts = table_texts()[text or name]
        title, note = (texts.get(key, "").format(**values).strip() for key in ("title", "note"))
        return cls(name, title, tuple(values.get("columns", texts["columns"])), tuple(rows), note)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Headings and cells as people read them."""
        return self._expand(
            ("{}", "95 %"),
            lambda cell: cell.texts if isinstance(cell, Estimate) else (format_number(cell), ""),
        )

    @property
    def csv(self) -> str:
        """The unrounded numbers."""
        columns, rows = self._expand(
            ("{}", "{}_low", "{}_high"),
            lambda cell: cell if isinstance(cell, Estimate) else (cell, None, None),
        )
        return csv_text(columns, json_value(rows))

    def _expand(
        self, headings: Sequence[str], parts: Callable[[Cell], Sequence[Any]]
    ) -> tuple[list[str], list[list[Any]]]:
        """The table with several columns in place of each column of estimates."""
        columns: list[str] = []
        rows: list[list[Any]] = [[] for _ in self.rows]
        for place, name in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            width = len(headings) if any(isinstance(cell, Estimate) for cell in cells) else 1
            columns += [heading.format(name) for heading in headings[:width]]
            for row, cell in zip(rows, cells, strict=True):
                row += parts(cell)[:width]
        return columns, rows


@dataclass(frozen=True)
class Study:
    """The outcome of a study.

    `notes` state what was left out and why. `sources` are the runs and files that it was made from, with a
    signature or hash of each.
    """

    name: str
    title: str
    tables: tuple[Table, ...]
    figures: tuple[Panel, ...] = ()
    notes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """One line to print next to a number: the study, a hash of its sources, the version."""
        text = "\n".join(f"{name}: {source}" for name, source in sorted(self.sources.items()))
        digest = hashlib.sha256(text.encode()).hexdigest()
        return signature(
            gest=f"study-{self.name}", sources=len(self.sources), hash=digest, version=__version__
        )

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)

    def to_json(self) -> dict[str, Any]:
        content = {name: getattr(self, name) for name in ("name", "title", "notes", "sources", "signature")}
        tables = [asdict(table) | {"rows": table.rows} for table in self.tables]
        return dict(json_value({**content, "tables": tables}))

    def write(self, folder: Path, command: Sequence[str]) -> Path:
        """Write the study into its folder, replacing an earlier one of the same name; return the page."""
        old_files = check_study_folder(folder, self.name)
        with folder_lock(folder):
            files = {f"{table.name}.csv": table.csv.encode() for table in self.tables}
            for figure in self.figures:
                files[f"{figure.name}.csv"] = figure.csv.encode()
                files[f"{figure.name}.svg"] = file_bytes(figure.figure, "svg")
            values = {"study": self, "command": shlex.join(command), "version": __version__}
            template = load_template(Path(__file__).with_name("study.html.jinja"))
            files[PAGE] = template.render(values, **page_assets(), inline_svg=inline_svg).encode()
            content = self.to_json() | {"settings": {"study": self.name}, "versions": versions()}
            write_json(folder / STUDY, content | {"command": list(command), "files": [*files]})
            for name in set(old_files) - set(files):
                (folder / name).unlink(missing_ok=True)
            for name, text in files.items():
                write_file(folder / name, text)
        return folder / PAGE


def check_study_folder(folder: Path, name: str) -> list[str]:
    """Create a study's folder, or list the files of the study of that name; refuse any other folder."""
    record = check_work_folder(folder / STUDY, lambda path: True, {"study": name}, "gest study", "a study")
    files = [Path(file).name for file in record["files"]] if record else []
    check_folder(folder, {STUDY, PAGE, RUNS, LOCK, *files}, "gest study")
    return files


def write_card(folder: Path, template: Path, command: Sequence[str], **values: Any) -> None:
    """Write the README.md of a folder; its template gets `values`, the command and the version."""
    options: Any = {"undefined": StrictUndefined, "trim_blocks": True, "keep_trailing_newline": True}
    card = Template(template.read_text(encoding="utf-8"), **options)
    text = card.render(values, command=shlex.join(command), version=__version__)
    write_file(folder / CARD, text)
