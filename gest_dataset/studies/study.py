"""What a study produces: tables next to the papers' numbers, and figures, in a folder.

    DIR/study.json  the tables, with the signature, the versions and the command
    DIR/study.html  one self-contained page
    DIR/NAME.csv    each table

The titles of all studies, and the titles, columns and notes of their tables are in `tables.yaml`.
"""

import logging
import shlex
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from gest_dataset import storage
from gest_dataset.data.rows import rows_of
from gest_dataset.data.votes import is_selected
from gest_dataset.errors import ConfigError
from gest_dataset.measures.formatting import TOY_NOTE, format_number
from gest_dataset.measures.gest import PAIRS
from gest_dataset.measures.grid import Estimate
from gest_dataset.published.released import Released
from gest_dataset.report.page import load_template, page_assets
from gest_dataset.runs.folder import Run, Runs, check_work_folder, find_runs, versions
from gest_dataset.runs.manifest import signature
from gest_dataset.version import __version__

HOME = Path("gest-studies")
STUDY, PAGE = "study.json", "study.html"
TEXTS: dict[str, Any] = storage.read_yaml(Path(__file__).with_name("tables.yaml"))
_NO_FILES = Released(None)
logger = logging.getLogger(__name__)

# Printed numbers are texts, with the digits of print
Cell = str | int | float | Estimate | None
Row = tuple[Cell, ...]


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
    def create(cls, name: str, rows: Sequence[Row], text: str = "", **values: Any) -> "Table":
        """A table with the title, columns and note in `tables.yaml`, filled in with `values`."""
        texts = TEXTS[text or name]
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
        return storage.csv_text(columns, storage.json_value(rows))

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
    notes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """One line to print next to a number: the study, a hash of its sources, the version."""
        text = "\n".join(f"{name}: {source}" for name, source in sorted(self.sources.items()))
        digest = storage.sha256(text.encode())
        return signature(
            gest=f"study-{self.name}", sources=len(self.sources), hash=digest, version=__version__
        )

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)

    def to_dict(self) -> dict[str, Any]:
        content = {name: getattr(self, name) for name in ("name", "title", "notes", "sources", "signature")}
        tables = [asdict(table) | {"rows": table.rows} for table in self.tables]
        return dict(storage.json_value({**content, "tables": tables}))

    def write(self, folder: Path, command: Sequence[str]) -> Path:
        """Write the study into its folder, replacing an earlier one of the same name; return the page."""
        record = check_work_folder(
            folder / STUDY, lambda path: True, {"study": self.name}, "gest study", "a study"
        )
        old_files = [Path(file).name for file in record["files"]] if record else []
        storage.check_folder(folder, {STUDY, PAGE, *old_files}, "gest study")
        with storage.folder_lock(folder):
            files = {f"{table.name}.csv": table.csv.encode() for table in self.tables}
            values = {"study": self, "command": shlex.join(command), "version": __version__}
            template = load_template(Path(__file__).with_name("study.html.jinja"))
            files[PAGE] = template.render(values, **page_assets()).encode()
            content = self.to_dict() | {"settings": {"study": self.name}, "versions": versions()}
            storage.write_json(folder / STUDY, content | {"command": list(command), "files": [*files]})
            for name in set(old_files) - set(files):
                (folder / name).unlink(missing_ok=True)
            for name, text in files.items():
                storage.write_file(folder / name, text)
        return folder / PAGE


def collect_runs(
    runs: Runs,
    study: str,
    suitable: Callable[[Run], bool],
    files: Released = _NO_FILES,
    group: Callable[[Run], Hashable] | None = None,
) -> list[Run]:
    """The finished runs in the folders, less those that do not suit the study (with a warning).

    Two runs of one model in a `group` are an error. With `files` of the authors no run is needed; the
    conditions on votes are theirs, and the runs' tables have only the sentences that fulfil them.
    """
    suitable_runs: list[Run] = []
    by_config: dict[str, Run] = {}
    by_model: dict[Hashable, Run] = {}
    for run in find_runs(runs):
        manifest = run.manifest
        if not suitable(run):
            about = manifest.measure, manifest.about
            logger.warning("%s is skipped: study %s does not use %s on %s.", run.path, study, *about)
            continue
        if files.conditions:
            ids = run.table["id"].to_pylist()
            if manifest.measure == PAIRS.name:
                rows = rows_of(manifest.config)
                ids = list(map(dict(zip(rows["id"], rows["sentence_id"], strict=True)).get, ids))
            run = replace(run, table=run.table.filter(pa.array(is_selected(ids, files.conditions))))
        suitable_runs.append(run)
        other = by_config.setdefault(manifest.config, run)
        if other.manifest.data_fingerprint != manifest.data_fingerprint:
            raise ConfigError(f"{other.path} and {run.path} use different versions of {manifest.config}.")
        # a copy under another name has the same hash of weights
        identity = manifest.settings.get("weights") or (manifest.model, manifest.settings.get("revision"))
        if group is not None and (other := by_model.setdefault((identity, group(run)), run)) is not run:
            names = f"{other.manifest.model}, {manifest.model}"
            raise ConfigError(f"Two runs of one model on {manifest.about} ({names}). Give only one.")
    if not suitable_runs and files.where is None:
        raise missing_runs(study)
    return suitable_runs


def missing_runs(study: str, *notes: str) -> ConfigError:
    """The error of a study without the runs that it needs: the commands that make them."""
    commands = [*TEXTS["commands"][study], f"gest study {study} runs"]
    return ConfigError("\n".join(["There are no runs for this study. Make them first:", *commands, *notes]))


def model_names(runs: Sequence[Run]) -> list[str]:
    """The short names of the runs' models; with owner and revision where several would be the same."""
    ids = []
    for run in runs:
        revision = run.manifest.metadata.get("requested_revision")
        ids.append(f"{run.manifest.model.rstrip('/')}@{revision}" if revision else run.manifest.model)
    short = {model: model.rstrip("/").rpartition("/")[2] or model for model in ids}
    return [short[model] if [*short.values()].count(short[model]) == 1 else model for model in ids]


def make_study(
    name: str,
    tables: Sequence[Table],
    runs: Sequence[Run] = (),
    models: Sequence[str] = (),
    sources: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    files: Released = _NO_FILES,
) -> Study:
    """A study of runs (of `models`, by default with their short names); empty tables are left out."""
    limitations: dict[str, None] = {}
    for model, run in zip(models or model_names(runs), runs, strict=False):
        if limit := run.manifest.settings.get("limit"):
            limitations[f"{model}: only the first {limit:,} samples of a config; the paper uses all."] = None
        if run.manifest.metadata.get("toy"):
            limitations[f"{model} is {TOY_NOTE}."] = None
    used = {str(run.path): run.manifest.signature for run in runs} | dict(sources or {}) | files.hashes
    if files.conditions:
        limitations[f"Only sentences with {' and '.join(files.conditions)}."] = None
        used["where"] = " ".join(files.conditions)
    shown = tuple(table for table in tables if table.rows)
    limits = tuple(dict.fromkeys((*limitations, *files.notes, *notes)))
    return Study(name, TEXTS["titles"][name], shown, limits, used)
