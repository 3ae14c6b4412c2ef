"""Run folders: creating or resuming a run, writing it, reading it.

DIR/run.json        the manifest: what was measured, with which settings and versions
DIR/scores.parquet  one row per sample and template (detections.parquet, answers.parquet)
DIR/result.json     the statistic with its intervals, and the samples without a score
DIR/report.html     the report, written by commands
DIR/cache.sqlite3   responses of the model, until the run is finished
"""

import json
import logging
import platform
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from inspect import signature as signature_of
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset import storage
from gest_dataset.cache import ResponseCache, owner_of
from gest_dataset.data.folder import read_parquet, write_parquet
from gest_dataset.errors import ConfigError, DataError, OutputError
from gest_dataset.measures.result import is_decided
from gest_dataset.runs.manifest import DONE, MANIFEST, RESULT, RUNNING, Manifest, differences, read_manifest
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.stereotypes import OWN_TABLE
from gest_dataset.storage import CHOOSE, json_value, parse_json, sha256, write_json
from gest_dataset.version import __version__

if TYPE_CHECKING:
    import torch
    from matplotlib.figure import Figure

logger = logging.getLogger(__name__)

RUNS = Path("gest-runs")
REPORT = "report.html"
CACHE = "cache.sqlite3"
_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers", "ufal.udpipe")


# ---- one run or another? ---------------------------------------------------------------------------------


def check_same(folder: Path, existing: Mapping[str, Any], new: Mapping[str, Any], hint: str = CHOOSE) -> None:
    """Refuse to continue in a folder whose settings differ from those of the new run."""
    lines = differences(existing, json_value(dict(new)))
    if lines:
        listed = "\n".join(lines)
        raise OutputError(f"{folder} was made with different settings:\n{listed}\n{hint}")


def check_run_folder(path: Path) -> None:
    """Create the folder of a run; refuse one with files, but without a run."""
    others = storage.foreign_files(path, {MANIFEST})
    if others and not (path / MANIFEST).exists():
        raise OutputError(f"{path} contains {others[0]}, which is not part of a run. {CHOOSE}")


def check_runs_folder(path: Path, names: Iterable[str]) -> None:
    """Create a folder for runs with these names and their report; refuse files that are not of runs."""
    ours = {*names, REPORT}
    storage.check_folder(path, lambda p: p.name in ours or (p / MANIFEST).is_file(), "a folder of runs")


def check_work_folder(
    record: Path,
    is_ours: Callable[[Path], bool] | Container[str],
    settings: Mapping[str, Any],
    command: str,
    owner: str,
) -> dict[str, Any] | None:
    """Create the folder of a JSON record with `settings`, or return the existing record of the same ones.

    `is_ours` and `owner` are those of `check_folder`; `command` is the one that writes the record.
    """
    storage.check_folder(record.parent, is_ours, owner)
    if not record.exists():
        return None
    try:
        content: dict[str, Any] = parse_json(storage.read_bytes(record))
        existing = dict(content["settings"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise OutputError(f"{record} was not written by `{command}` ({error!r}). {CHOOSE}") from error
    check_same(record.parent, existing, settings)
    return content


# ---- writing ---------------------------------------------------------------------------------------------


class RunResult(ABC):
    """A table of samples and metadata, from which `result` computes the statistic.

    `skipped` are the samples without a score, with the reasons; `signature` is one line to report beside a
    number.
    """

    table: pa.Table
    metadata: dict[str, Any]

    if TYPE_CHECKING:  # dataclass fields or properties of the subclasses

        @property
        def skipped(self) -> pa.Table: ...

        @property
        def signature(self) -> str: ...

    @abstractmethod
    def result(self) -> dict[str, Any]:
        """The statistic of the measure with its intervals (docs/metrics.md)."""

    def plot(self) -> "Figure":
        """A matplotlib figure of the result in the style of the report."""
        from gest_dataset.report.page import plot  # imports matplotlib

        return plot(self)

    def _repr_html_(self) -> str:
        """The verdict, the figure and the numbers for a notebook."""
        from gest_dataset.report.page import notebook_html  # imports matplotlib

        return notebook_html(self)


@dataclass(frozen=True)
class RunWriter:
    """A run that is being written, or the `finished` run that the folder already holds (without a cache)."""

    path: Path
    manifest: Manifest
    cache: ResponseCache | None
    finished: "Run | None"

    def finish(self, outcome: RunResult) -> "Run":
        """Write the table, the result and the final manifest, and remove the cache."""
        path, manifest = self.path, self.manifest
        if self.finished:  # until its files are replaced, the run counts as unfinished
            write_json(path / MANIFEST, manifest.to_dict())
        (path / REPORT).unlink(missing_ok=True)  # of an earlier run
        facts = {"settings": manifest.identity(), "signature": outcome.signature}
        table = outcome.table.replace_schema_metadata({"gest": json.dumps(facts, sort_keys=True)})
        write_parquet(path / manifest.table, table)
        content = {
            "config": manifest.config,
            "measure": manifest.measure,
            "result": outcome.result(),
            "signature": outcome.signature,
            "skipped": outcome.skipped.to_pydict(),
        }
        write_json(path / RESULT, json_value(content))
        done = replace(
            manifest,
            status=DONE,
            signature=outcome.signature,
            metadata=json_value(outcome.metadata),
            seconds=outcome.metadata["seconds"],
            finished=now(),
            files={name: sha256((path / name).read_bytes()) for name in (manifest.table, RESULT)},
        )
        write_json(path / MANIFEST, done.to_dict())
        return read_run(path)


@contextmanager
def open_run(
    path: Path, manifest: Manifest, stop_early: bool = False, gates: Sequence[tuple[str, float]] = ()
) -> Iterator[RunWriter]:
    """Start, resume or reopen the run of a folder, which is locked meanwhile.

    A folder with another run is refused, unless that run left neither a result nor a cache. A run that
    was stopped early keeps its cache, and continues unless `stop_early` and its `gates` are satisfied. The
    run of a served model keeps it too, so that nothing is paid for again if another file is damaged.
    """
    check_run_folder(path)
    cache, owner = path / CACHE, crc32(json.dumps(manifest.identity(), sort_keys=True).encode()) >> 1
    with storage.folder_lock(path):
        finished = None
        try:
            existing = read_manifest(path) if (path / MANIFEST).exists() else None
        except (DataError, OutputError) as error:
            if not (cache.exists() and owner_of(cache) == owner) and not _has_table_of(path, manifest):
                raise
            logger.warning("%s It is written again.", error)
            existing = None
        if existing is not None and (existing.done or cache.exists()):
            made_by = f"The existing run was made by: {shlex.join(existing.command)}"
            hint = f"Choose another folder with --output. {made_by}"
            check_same(path, existing.identity(), manifest.identity(), hint)
        if existing is not None and existing.done:
            try:
                finished = read_run(path)
            except DataError as error:
                logger.warning("%s\nIt is written again.", error)
        stopped = finished and finished.manifest.metadata.get("stopped")
        if finished and (not stopped or (stop_early and is_decided(finished.result["result"], gates))):
            yield RunWriter(path, manifest, None, finished)
        else:
            write_json(path / MANIFEST, manifest.to_dict())
            with ResponseCache(cache, owner) as responses:
                yield RunWriter(path, manifest, responses, None)
        now = read_manifest(path)
        if now.done and not now.metadata.get("stopped") and "endpoint" not in now.settings:
            cache.unlink(missing_ok=True)


def _has_table_of(path: Path, manifest: Manifest) -> bool:
    try:
        facts = json.loads(pq.read_metadata(path / manifest.table).metadata[b"gest"])
    except (OSError, ValueError, LookupError, TypeError):  # pyarrow's errors are ValueErrors
        return False
    return bool(facts["settings"] == manifest.identity())


def new_manifest(
    *, settings: Mapping[str, Any], command: Sequence[str], device: "torch.device | None", **entries: Any
) -> Manifest:
    """The manifest of a run that starts now."""
    return Manifest(
        **entries,
        command=list(command),
        settings=json_value({**settings, **({"stereotypes": OWN_TABLE} if OWN_TABLE else {})}),
        versions=versions(),
        machine=machine(device),
        seeds={"bootstrap": SEED, "draws": DRAWS},
        started=now(),
        status=RUNNING,
    )


def versions() -> dict[str, str]:
    """The versions that numbers may depend on."""
    packages = {"gest_dataset": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):  # UDPipe is optional
            packages[package] = version(package)
    return packages


def machine(device: "torch.device | None") -> dict[str, Any]:
    """The processor, on which the last digits of a number may depend."""
    if device is None:
        return {"processor": platform.machine()}
    import torch  # slow to import, and not needed for translations in a file

    if device.type == "cuda":
        return {"processor": torch.cuda.get_device_name(device)}
    capability = torch.backends.cpu.get_cpu_capability() if device.type == "cpu" else device.type
    return {"processor": f"{platform.machine()} {capability}", "threads": torch.get_num_threads()}


def python_command(function: Callable[..., Any], arguments: Mapping[str, Any]) -> list[str]:
    """A call of a library function as a shell command, with the arguments that are not defaults."""

    def shorten(value: Any) -> str:
        return str(value) if isinstance(value, Path) else f"<{type(value).__name__}>"

    defaults = signature_of(function).parameters
    call = ", ".join(
        f"{name}={json.loads(json.dumps(value, default=shorten))!r}"
        for name, value in arguments.items()
        if name not in defaults or value != defaults[name].default
    )
    return ["python", "-c", f"import gest_dataset; gest_dataset.{function.__name__}({call})"]


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


# ---- reading ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A finished run: `manifest` is run.json, `result` is result.json."""

    path: Path
    manifest: Manifest
    table: pa.Table
    result: dict[str, Any]


def read_run(path: str | Path) -> Run:
    """The finished run in a folder; its files must have the hashes of the manifest."""
    path = Path(path)
    manifest = read_manifest(path)
    command = shlex.join(manifest.command)
    if not manifest.done:
        raise OutputError(f"The run in {path} is not finished. Resume it with: {command}")
    if manifest.settings.get("stereotypes", "") != OWN_TABLE:
        raise ConfigError(f"The run in {path} has other stereotypes: set or unset GEST_STEREOTYPES.")
    try:
        contents = {name: storage.read_bytes(path / name) for name in (manifest.table, RESULT)}
        for name, content in contents.items():
            if sha256(content) != manifest.files[name]:
                raise DataError(
                    f"{path / name} was changed after the run, so its numbers cannot be trusted. Restore "
                    f"the file, or run again: {command}"
                )
        table = read_parquet(pa.BufferReader(contents[manifest.table]))
        result = parse_json(contents[RESULT])
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise DataError(
            f"The run in {path} is damaged: {error}. Run again, which writes it anew: {command}"
        ) from error
    return Run(path, manifest, table, result)


Runs = Sequence[str | Path | Run]  # runs, or folders of runs


def find_runs(paths: Runs) -> list[Run]:
    """The finished runs in some folders and below them; unfinished ones are skipped with a warning."""
    runs: dict[Path, Run] = {}
    for entry in paths:
        if isinstance(entry, Run):
            runs.setdefault(entry.path.resolve(), entry)
            continue
        path = Path(entry)
        folders = [path]
        if path.is_dir() and not (path / MANIFEST).exists():
            folders = sorted(file.parent for file in path.rglob(MANIFEST)) or [path]
        finished = [folder for folder in folders if folder == path or read_manifest(folder).done]
        for folder in [folder for folder in folders if folder not in finished]:
            logger.warning("Skipping %s: the run is not finished.", folder)
        if not finished:
            raise OutputError(f"There is no finished run below {path}.")
        for folder in finished:
            runs.setdefault(folder.resolve(), read_run(folder))
    return list(runs.values())


def default_folder(name: str, revision: str | None = None, limit: int | None = None) -> Path:
    """The default folder for the runs of a model or translation system.

    A local path is named after its folder and its own name, so that `a/checkpoint-500` and
    `b/checkpoint-500` stay apart.

    >>> default_folder("EleutherAI/pythia-70m", revision="step1000", limit=5).as_posix()
    'gest-runs/EleutherAI--pythia-70m@step1000-limit5'
    """
    path = Path(name).expanduser()
    if path.exists():
        path = path.resolve()
        own_name = path.stem if path.is_file() else path.name
        name = own_name if path.parent == Path.cwd() else f"{path.parent.name}/{own_name}"
    name += (f"@{revision}" if revision else "") + (f"-limit{limit}" if limit else "")
    name = name.strip("/").replace("/", "--").replace(":", "-")
    return RUNS / re.sub(r"^\.+|[^\w.@-]", "_", name)
