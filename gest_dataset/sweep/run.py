"""Run a sweep: each cell (one model on one config) is an ordinary run.

OUTPUT/runs/MODEL/CONFIG/   the runs, as `gest score` writes them
OUTPUT/leaderboard.html     and .csv, .parquet, differences.csv (`sweep.leaderboard`)
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import fsspec
import torch
from filelock import Timeout

from gest_dataset.builders import CONFIGS, select_configs
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import ConfigError, GestError, OutputError
from gest_dataset.measures import measure_of
from gest_dataset.models.device import pick_device
from gest_dataset.models.loading import name_and_kind
from gest_dataset.models.names import gguf_path
from gest_dataset.models.score import Outcome, score_configs
from gest_dataset.models.scores import ScoredRun
from gest_dataset.models.selection import suitable_configs
from gest_dataset.models.served.model import connect
from gest_dataset.probes.options import effective_options
from gest_dataset.runs.folder import machine, versions
from gest_dataset.runs.manifest import MANIFEST, Manifest, differences, read_manifest
from gest_dataset.storage import check_folder
from gest_dataset.sweep.suite import Suite, SuiteModel
from gest_dataset.version import __version__

RUNS = "runs"
PAGE = "leaderboard.html"
TABLES = ("leaderboard.csv", "leaderboard.parquet", "differences.csv", "published.csv")
SLURM = ("slurm.sh", "slurm")
TO_DO, DONE, FAILED, LEFT_OUT = "to do", "done", "failed", "left out"
# Variables that decide which data are read; Ray workers get them from the driver
_ENVIRONMENT = ("GEST_MIRROR", "GEST_SOURCES", "GEST_REPO", "GEST_HOME")


@dataclass(frozen=True)
class Cell:
    """One model on one config, with the `reason` if it failed or was left out."""

    model: SuiteModel
    config: str
    status: str = TO_DO
    reason: str = ""

    @property
    def name(self) -> str:
        return f"{self.model.name}/{self.config}"


@dataclass(frozen=True)
class Output:
    """Where a sweep is stored: a folder that all workers see, or a URL that fsspec supports."""

    url: str

    @property
    def folder(self) -> Path | None:
        """The folder; None for a URL."""
        return None if "://" in self.url else Path(self.url)

    @contextmanager
    def local_copy(self) -> Iterator[Path]:
        """Yield the folder, or a temporary copy of what is at the URL."""
        if self.folder is not None:
            yield self.folder
            return
        with tempfile.TemporaryDirectory(prefix="gest-sweep-") as temporary:
            system, root = self._file_system()
            if system.exists(f"{root}/{RUNS}"):
                system.get(f"{root}/{RUNS}", f"{temporary}/{RUNS}", recursive=True)
            yield Path(temporary)

    def upload(self, folder: Path, pattern: str) -> None:
        """Copy files to the URL, the manifest of a run last: a run with a manifest is complete."""
        if self.folder is not None:
            return
        system, root = self._file_system()
        paths = [path for path in folder.glob(pattern) if path.is_file() and not path.name.startswith(".")]
        try:
            for path in sorted(paths, key=lambda path: (path.name == MANIFEST, path)):
                target = f"{root}/{path.relative_to(folder).as_posix()}"
                system.makedirs(target.rpartition("/")[0], exist_ok=True)
                system.put_file(str(path), target)
        except Exception as error:  # each file system has its own errors
            raise OutputError(f"Cannot write to {self.url}: {error}") from OSError(str(error))

    def _file_system(self) -> tuple[Any, str]:
        try:
            system, root = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise ConfigError(f"Cannot use {self.url}: {error}. Give a folder or another URL.") from error
        return system, str(root).rstrip("/")


@dataclass(frozen=True)
class Job:
    """The configs of one model that one worker runs. The worker loads the model once."""

    model: SuiteModel
    configs: tuple[str, ...]
    output: Output
    command: tuple[str, ...]
    version: str = __version__
    environment: Mapping[str, str] = field(
        default_factory=lambda: {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    )


@dataclass(frozen=True)
class JobResult:
    """The configs of a job that failed or were left out, with the reasons."""

    failed: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


class Engine:
    """Runs one job after the other in this process; `cluster.RayEngine` runs them in parallel."""

    def problems(self, models: Sequence[SuiteModel]) -> list[str]:
        """Return a line for each model that needs resources which are not available."""
        available = torch.cuda.device_count()
        return [
            f"{model.name}: it needs {model.gpus} GPUs, and this machine has {available}."
            for model in models
            if (model.gpus or 0) > available
        ]

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, JobResult]]:
        """Run the jobs and yield each one when it has finished."""
        for job in jobs:
            yield job, run_job(job, "cpu" if job.model.gpus == 0 else "auto")
            torch.cuda.empty_cache()

    def close(self) -> None:
        """End what still runs."""


def list_cells(
    suite: Suite, folder: Path, engine: Engine | None = None, on_model: Callable[[], None] = lambda: None
) -> list[Cell]:
    """Return the cells of a suite with their status, or raise one error that lists all problems."""
    cells: list[Cell] = []
    problems: list[str] = [] if engine is None else engine.problems(suite.models)
    with ThreadPoolExecutor(8) as pool:
        for model, kind in zip(suite.models, pool.map(_kind, suite.models), strict=True):
            on_model()
            try:
                if isinstance(kind, GestError):
                    raise kind
                if model.settings.configs:
                    cells += _cells_of(model, kind, folder)
            except GestError as error:
                problems.append(f"{model.name}: {_one_line(error)}")
    for config in dict.fromkeys(cell.config for cell in cells if cell.status == TO_DO):
        try:
            rows_of(config)
        except GestError as error:
            problems.append(f"configs: {config} cannot be read: {_one_line(error)}")
    suite.check(problems)
    return cells


def sweep(
    suite: Suite,
    output: Output,
    engine: Engine,
    command: Sequence[str] = (),
    on_start: Callable[[list[Cell]], None] = lambda cells: None,
    on_result: Callable[[Job, JobResult], None] = lambda job, result: None,
) -> list[Cell]:
    """Run the cells of a suite that are not done, and return all cells."""
    if output.folder is not None:
        check_folder(output.folder, {RUNS, PAGE, *TABLES, *SLURM}, "`gest sweep`")
    with output.local_copy() as folder:
        cells = list_cells(suite, folder, engine)
    on_start(cells)
    results: dict[str, JobResult] = {}
    for job, result in engine.run(jobs_of(cells, output, command)):
        before = results.get(job.model.name, JobResult())
        results[job.model.name] = JobResult(
            {**before.failed, **result.failed}, {**before.left_out, **result.left_out}
        )
        on_result(job, result)
    return [_with_result(cell, results[cell.model.name]) if cell.status == TO_DO else cell for cell in cells]


def jobs_of(cells: Sequence[Cell], output: Output, command: Sequence[str]) -> list[Job]:
    """Group the cells to do by model, in the order of the suite."""
    configs: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.status == TO_DO:
            configs.setdefault(cell.model.name, []).append(cell)
    return [
        Job(group[0].model, tuple(cell.config for cell in group), output, tuple(command))
        for group in configs.values()
    ]


def run_job(job: Job, device: str) -> JobResult:
    """Score one model on its configs. An error of one config does not stop the others.

    Raises OutputError if the output cannot be written, because every job would fail.
    """
    if job.version != __version__:
        raise ConfigError(f"This worker has gest-dataset {__version__}, the sweep uses {job.version}.")
    os.environ.update(job.environment)
    remaining = list(job.configs)
    failed: dict[str, str] = {}
    left_out: dict[str, str] = {}
    with _runs_folder(job) as folder:
        for config in job.configs:
            _remove_unusable(folder / config, job.model, device)
        while remaining:
            started: list[str] = []
            try:
                outcome = _score(job, remaining, folder, device, started)
            except Exception as error:
                cause = error.__cause__
                is_disk = isinstance(cause, OSError) and not isinstance(cause, Timeout)
                if isinstance(error, OutputError) and is_disk:
                    raise
                is_ours = isinstance(error, GestError)
                reason = str(error) if is_ours else f"unexpected {type(error).__name__}: {error}"
                # an error before the first config, such as a model that cannot be loaded, is of all
                wrong = [config for config in started[-1:] if config in remaining] or remaining
                failed |= dict.fromkeys(wrong, reason)
                remaining = [config for config in remaining if config not in wrong]
            else:
                failed |= {config: str(error) for config, error in outcome.failed.items()}
                left_out |= outcome.left_out
                break
    return JobResult(failed, left_out)


def _score(job: Job, configs: list[str], folder: Path, device: str, started: list[str]) -> Outcome:
    """Call `score_configs`; finished configs are taken off `configs`, and their runs are uploaded."""
    model, settings = job.model, job.model.settings
    scored: Any = model.model
    if model.endpoint is not None:
        scored = connect(model.endpoint, model.model, model.tokenizer, model.connections)
    several_gpus = (model.gpus or 0) > 1

    def on_done(entry: ScoredRun) -> None:
        configs.remove(entry.path.name)
        job.output.upload(folder.parent.parent, f"{RUNS}/{model.name}/{entry.path.name}/*")

    return score_configs(
        scored,
        dict.fromkeys(configs, False),
        folder,
        job.command,
        settings.options,
        settings.limit,
        settings.batch_tokens,
        settings.null,
        on_start=started.append,
        on_run=on_done,
        device="auto" if several_gpus else device,
        device_map="auto" if several_gpus else None,
        dtype=settings.dtype,
        revision=model.revision,
        trust_remote_code=settings.trust_remote_code,
        quantization=settings.quantization,
    )


@contextmanager
def _runs_folder(job: Job) -> Iterator[Path]:
    """Yield the folder for the runs of a model: in the output, or a temporary one if that is a URL."""
    if job.output.folder is not None:
        yield job.output.folder / RUNS / job.model.name
        return
    with tempfile.TemporaryDirectory(prefix="gest-sweep-") as temporary:
        yield Path(temporary) / RUNS / job.model.name


def _remove_unusable(run: Path, model: SuiteModel, device: str) -> None:
    """Remove an unfinished run that cannot continue: other settings, other packages or another processor."""
    try:
        manifest = read_manifest(run)
    except GestError:
        return
    here = machine(None if model.endpoint is not None else pick_device(device))
    same = (manifest.machine, manifest.versions) == (here, versions())
    if not manifest.done and not (same and not setting_differences(manifest, model, run.name)):
        shutil.rmtree(run, ignore_errors=True)


def setting_differences(manifest: Manifest, model: SuiteModel, config: str) -> list[str]:
    """Return a line for each setting in which a run differs from what the suite asks for."""
    settings, existing = model.settings, manifest.settings
    probe = measure_of(list(CONFIGS[config].features), config)[1]
    kind = existing["kind"]
    file = gguf_path(model.model)
    expected = {
        "model": model.model if file is None else file.name,
        "data": fingerprint_of(config),
        "endpoint": model.endpoint,
        "templates": [number for number in probe.query_builders(kind, settings.options) if number],
        "options": effective_options(settings.options, probe, kind),
        "limit": settings.limit,
        "null": settings.null,
        "quantization": settings.quantization,
        "dtype": existing["dtype"] if settings.dtype == "auto" else settings.dtype,
        "batch_tokens": settings.batch_tokens or existing.get("batch_tokens"),
    }
    actual = {"null": 0, **existing, "model": manifest.model, "data": manifest.data_fingerprint}
    if manifest.done:
        expected["revision"] = model.revision
        actual["revision"] = manifest.metadata["requested_revision"]
    return differences({name: actual.get(name) for name in expected}, expected)


def _kind(model: SuiteModel) -> str | GestError:
    """Return masked, causal or seq2seq, from the model's configuration; a served model is causal."""
    if model.endpoint is not None:
        return "causal"
    try:
        return name_and_kind(model.model, model.revision, model.settings.trust_remote_code)[1]
    except GestError as error:
        return error


def _cells_of(model: SuiteModel, kind: str, folder: Path) -> Iterator[Cell]:
    """Yield the cells of a model. Configs that do not suit its kind are left out."""
    configs = select_configs(",".join(model.settings.configs))
    chosen, left_out = suitable_configs(dict.fromkeys(configs, False), kind, model.model)
    for config in chosen:
        probe = measure_of(list(CONFIGS[config].features), config)[1]
        if not (probe.intersentence and kind == "masked"):  # loading shows whether it has such a head
            probe.query_builders(kind, model.settings.options)  # raises if the options do not suit it
        yield Cell(model, config, DONE if _is_done(model, config, folder) else TO_DO)
    yield from (Cell(model, config, LEFT_OUT, reason) for config, reason in left_out.items())


def _is_done(model: SuiteModel, config: str, folder: Path) -> bool:
    """Whether a cell has a finished run; raise ConfigError if that was made with other settings."""
    path = folder / RUNS / model.name / config
    if not (path / MANIFEST).exists():
        return False
    try:
        manifest = read_manifest(path)
    except GestError:
        return False  # scoring reports what is wrong with it
    if not manifest.done:
        return False
    lines = [line.strip() for line in setting_differences(manifest, model, config)]
    version = manifest.versions["gest_dataset"]
    lines += [f"gest-dataset: {version} (existing), {__version__} (new)"] if version != __version__ else []
    if lines:
        raise ConfigError(f"{path} was scored with other settings ({'; '.join(lines)}); change --output")
    return True


def _with_result(cell: Cell, result: JobResult) -> Cell:
    if cell.config in result.left_out:
        return replace(cell, status=LEFT_OUT, reason=result.left_out[cell.config])
    if cell.config in result.failed:
        return replace(cell, status=FAILED, reason=result.failed[cell.config])
    return replace(cell, status=DONE)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
