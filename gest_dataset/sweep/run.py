"""Run a sweep: each cell (one model on one config) is an ordinary run.

OUTPUT/runs/MODEL/CONFIG/   the runs, as `gest score` writes them
OUTPUT/leaderboard.html     and .csv, differences.csv (`sweep.leaderboard`)
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import torch
from filelock import Timeout

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import ConfigError, GestError, OutputError
from gest_dataset.measures import measure_of
from gest_dataset.models.loading import name_and_kind
from gest_dataset.models.pretrained import gguf_path
from gest_dataset.models.score import score_configs, suitable_configs
from gest_dataset.probes.options import effective_options
from gest_dataset.runs.manifest import MANIFEST, differences, read_manifest
from gest_dataset.storage import check_folder
from gest_dataset.sweep.suite import Problems, Suite, SuiteModel
from gest_dataset.version import __version__

RUNS = "runs"
PAGE = "leaderboard.html"
TABLES = ("leaderboard.csv", "differences.csv")
TO_DO, DONE, FAILED, LEFT_OUT = "to do", "done", "failed", "left out"


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


Job = Sequence[Cell]  # cells of one model, which one worker runs
Work = Callable[[Job, str], list[Cell]]  # runs a job on a device
Engine = Callable[[Iterable[Job], Work], Iterator[list[Cell]]]  # runs jobs, and yields the cells of each


def run_here(jobs: Iterable[Job], work: Work) -> Iterator[list[Cell]]:
    """Run one job after the other in this process."""
    for job in jobs:
        yield work(job, "cpu" if job[0].model.gpus == 0 else "auto")
        torch.cuda.empty_cache()


def list_cells(suite: Suite, folder: Path) -> list[Cell]:
    """Return the cells of a suite with their status, or raise one error that lists all problems."""
    cells: list[Cell] = []
    problems = Problems()
    with ThreadPoolExecutor(8) as pool:  # the kinds of models are read from the Hub
        kinds = [pool.submit(_kind_of, model) for model in suite.models]
    for model, future in zip(suite.models, kinds, strict=True):
        with problems.collect(model.name):
            kind = future.result()
            chosen, left_out = suitable_configs(dict.fromkeys(model.selected, False), kind, model.model)
            for config in chosen:
                cells.append(Cell(model, config, DONE if _is_done(model, config, kind, folder) else TO_DO))
            cells += [Cell(model, config, LEFT_OUT, reason) for config, reason in left_out.items()]
    for config in dict.fromkeys(cell.config for cell in cells if cell.status == TO_DO):
        with problems.collect(f"{config} cannot be read"):
            rows_of(config)
    problems.check(suite.name)
    return cells


def _kind_of(model: SuiteModel) -> str:
    return "causal" if model.endpoint else name_and_kind(model.model, model)[1]


def sweep(
    cells: Iterable[Cell], output: Path, engine: Engine = run_here, command: Sequence[str] = ()
) -> Iterator[list[Cell]]:
    """Run the cells that are not done, and yield those of each job when it has finished."""
    check_folder(output, (RUNS, PAGE, *TABLES, "slurm.sh", "slurm"), "`gest sweep`")
    return engine(jobs_of(cells), partial(run_job, output=output, command=command))


def jobs_of(cells: Iterable[Cell]) -> list[Job]:
    """The cells to do, by model."""
    to_do = [cell for cell in cells if cell.status == TO_DO]
    return [list(group) for _, group in groupby(to_do, lambda cell: cell.model.name)]


def run_job(job: Job, device: str, output: Path, command: Sequence[str] = ()) -> list[Cell]:
    """Score one model on its configs. An unexpected error ends only this job.

    Raises OutputError if the output cannot be written, because every job would fail.
    """
    model = job[0].model
    waiting = [cell.config for cell in job]
    endings: dict[str, tuple[str, str]] = {}
    try:
        outcome = score_configs(
            model.model,
            dict.fromkeys(waiting, False),
            output / RUNS / model.name,
            command,
            model.placed(device),
            flat=False,
            on_run=lambda run: waiting.remove(run.path.name),
        )
        endings = {config: (FAILED, str(error)) for config, error in outcome.failed.items()}
        endings |= {config: (LEFT_OUT, reason) for config, reason in outcome.left_out.items()}
    except Exception as error:
        cause = error.__cause__
        if isinstance(error, OutputError) and isinstance(cause, OSError) and not isinstance(cause, Timeout):
            raise
        unexpected = "" if isinstance(error, GestError) else f"unexpected {type(error).__name__}: "
        endings = dict.fromkeys(waiting, (FAILED, f"{unexpected}{error}"))
    return [Cell(model, cell.config, *endings.get(cell.config, (DONE,))) for cell in job]


def _is_done(model: SuiteModel, config: str, kind: str, folder: Path) -> bool:
    """Whether a cell has a finished run; raise ConfigError if its options do not suit it, or differ."""
    probe = measure_of(list(CONFIGS[config].features), config)[1]
    if not (probe.intersentence and kind == "masked"):  # loading shows whether it has such a head
        probe.query_builders(kind, model)
    path = folder / RUNS / model.name / config
    manifest = read_manifest(path) if (path / MANIFEST).exists() else None
    if manifest is None or not manifest.done:
        return False
    actual = {
        "null": 0,
        **manifest.settings,
        "model": manifest.model,
        "data": manifest.data_fingerprint,
        "gest_dataset": manifest.versions["gest_dataset"],
        "revision": manifest.metadata["requested_revision"],
    }
    file = gguf_path(model.model)
    names = ("revision", "endpoint", "limit", "null", "quantization")
    # what the suite leaves open is as in the run
    expected = {
        "model": model.model if file is None else file.name,
        "data": fingerprint_of(config),
        "gest_dataset": __version__,
        "templates": [number for number in probe.query_builders(actual["kind"], model) if number],
        "options": effective_options(model, probe, actual["kind"]),
        "dtype": actual["dtype"] if model.dtype == "auto" else model.dtype,
        "batch_tokens": model.batch_tokens or actual.get("batch_tokens"),
        **{name: getattr(model, name) for name in names},
    }
    if lines := differences({name: actual.get(name) for name in expected}, expected):
        listed = "; ".join(line.strip() for line in lines)
        raise ConfigError(f"{path} was scored with other settings ({listed}); change --output")
    return True
