"""Run a sweep in this process, on Ray or on SLURM: each cell (one model on one config) is an ordinary run.

OUTPUT/runs/MODEL/CONFIG/   the runs, as `gest score` writes them
OUTPUT/leaderboard.html     and .csv, differences.csv (`sweep.leaderboard`)
"""

import logging
import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from filelock import Timeout
from jinja2 import Template

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import (
    ConfigError,
    DataError,
    GestError,
    OutputError,
    convert_errors,
    describe_error,
    import_extra,
)
from gest_dataset.measures import measure_of
from gest_dataset.models.loading import keep_base, name_and_kind
from gest_dataset.models.pretrained import gguf_path
from gest_dataset.models.score import score_configs, suitable_configs
from gest_dataset.probes.options import effective_options
from gest_dataset.runs.folder import read_run
from gest_dataset.runs.manifest import MANIFEST, differences, read_manifest
from gest_dataset.storage import check_folder, write_file
from gest_dataset.sweep.suite import Problems, Suite, SuiteModel
from gest_dataset.version import __version__

RUNS = "runs"
PAGE = "leaderboard.html"
_RETRIES = 2  # of a job whose worker or node is lost
# Variables that decide which data are read
_VARIABLES = ("GEST_MIRROR", "GEST_SOURCES", "GEST_REPO", "GEST_HOME")
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
    for _, of_model in groupby(jobs, lambda job: job[0].model.model):
        with keep_base():  # for its adapters
            for job in of_model:
                yield work(job, "cpu" if job[0].model.gpus == 0 else "auto")
        torch.cuda.empty_cache()


def list_cells(suite: Suite, folder: Path) -> list[Cell]:
    """Return the cells of a suite with their status, or raise one error that lists all problems."""
    cells: list[Cell] = []
    problems = Problems(list)
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
    return "causal" if model.endpoint else model.kind or name_and_kind(model.model, model)[1]


def seconds_per_sample(cells: Iterable[Cell], folder: Path | None) -> float | None:
    """The seconds per sample in the runs of finished cells; None if there are none."""
    runs = [read_manifest((folder or Path()) / RUNS / cell.name) for cell in cells]
    samples = sum(run.metadata["samples"] for run in runs)
    return sum(run.metadata["seconds"] for run in runs) / samples if samples else None


def sweep(
    cells: Iterable[Cell], output: Path, engine: Engine = run_here, command: Sequence[str] = ()
) -> Iterator[list[Cell]]:
    """Run the cells that are not done, and yield those of each job when it has finished."""
    check_folder(
        output, (RUNS, PAGE, "leaderboard.csv", "differences.csv", "slurm.sh", "slurm"), "`gest sweep`"
    )
    return engine(jobs_of(cells), partial(run_job, output=output.resolve(), command=command))


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
    try:
        manifest = read_manifest(path) if (path / MANIFEST).exists() else None
        if manifest is None or not manifest.done:
            return False
        read_run(path)
    except DataError:  # damaged: scoring the cell writes it again
        return False
    actual = {
        "null": 0,
        **manifest.settings,
        "chat_template": "chat_template" in manifest.settings,
        "model": manifest.model,
        "data": manifest.data_fingerprint,
        "gest_dataset": manifest.versions["gest_dataset"],
        "revision": manifest.metadata["requested_revision"],
    }
    file = gguf_path(model.model)
    names = ("revision", "endpoint", "limit", "null", "quantization", "chat_template")
    # what the suite leaves open is as in the run
    expected = {
        "model": "+".join(filter(None, (model.model if file is None else file.name, model.adapter))),
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
        raise ConfigError(f"{path} was scored with different settings ({listed}); change --output")
    return True


# ---- Ray and SLURM ---------------------------------------------------------------------------------------


def run_on_ray(jobs: Iterable[Job], work: Work, address: str | None = None) -> Iterator[list[Cell]]:
    """Run each job as a Ray task with the resources of its model. Ray schedules and retries the tasks.

    Connects to a cluster, or starts Ray on this machine if there is none.
    """
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"} | os.environ
    ray = import_extra("ray", "ray")
    hint = "Run `ray start --head`, or give --address."
    problem, folder = "Cannot connect to Ray", Path.cwd()
    with convert_errors(lambda error: ConfigError(f"{problem} ({describe_error(error)}). {hint}")):
        os.chdir(sysconfig.get_path("stdlib"))  # Ray's workers import modules from the current folder
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        finally:
            os.chdir(folder)
    try:
        yield from _run_tasks(ray, jobs, work)
    finally:
        ray.shutdown()  # ends the tasks that still run


def _run_tasks(ray: Any, jobs: Iterable[Job], work: Work) -> Iterator[list[Cell]]:
    given = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    paths = {name: os.path.realpath(value) for name, value in given.items() if Path(value).exists()}
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]

    def submit(job: Job) -> Any:
        model = job[0].model
        needs = resources(model, has_gpus=any(node.get("GPU") for node in nodes))
        if not any(all(node.get(name, 0) >= value for name, value in needs.items()) for node in nodes):
            listed = ", ".join(f"{name} {value:,g}" for name, value in needs.items() if value)
            raise ConfigError(f"{model.name}: no node of the cluster has {listed}.")
        task = ray.remote(_run_on_worker).options(
            num_cpus=needs["CPU"],
            num_gpus=needs["GPU"],
            memory=needs["memory"] or None,
            max_retries=_RETRIES,
            name=f"gest sweep: {model.name}",
        )
        return task.remote(work, job, "cuda" if needs["GPU"] else "cpu", given | paths, __version__)

    pending = {submit(job): job for job in jobs}
    while pending:
        (finished,), _ = ray.wait(list(pending), num_returns=1)
        job = pending.pop(finished)
        try:
            yield ray.get(finished)
        except OutputError as error:
            raise OutputError(describe_error(error)) from None
        except ray.exceptions.RayError as error:
            if len(job) > 1:  # one config may be what ends the worker: run them one by one
                pending |= {submit([cell]): [cell] for cell in job}
                continue
            lost = f"the Ray worker was lost {_RETRIES + 1} times: {describe_error(error)}"
            reason = f"{lost}. If memory ran out, set `memory`."
            yield [replace(cell, status=FAILED, reason=reason) for cell in job]


def resources(model: SuiteModel, has_gpus: bool) -> dict[str, float]:
    """Return what a worker needs, by Ray's names."""
    gpus = int(has_gpus) if model.gpus is None else model.gpus
    return {"CPU": model.cpus, "GPU": 0 if model.endpoint else gpus, "memory": int(model.memory)}


def _run_on_worker(work: Work, job: Job, device: str, paths: Mapping[str, str], version: str) -> list[Cell]:
    if version != __version__:
        raise ConfigError(f"This worker has gest-dataset {__version__}, the sweep uses {version}.")
    os.environ.update(paths)
    return work(job, device)


def submit_to_slurm(suite: Suite, suite_file: Path, output: Path) -> list[str]:
    """Submit a job array that scores the models which are not done, and a job that builds the leaderboard.

    Models with the same needs are one array; the index of a task is the model's position in the suite. With
    a `container`, Apptainer runs the tasks. Returns the ids of the jobs, the one of the leaderboard last.
    """
    folder, options = output.resolve(), dict(suite.slurm)
    image = options.pop("container", None)
    common = [f"--{name}={value}" for name, value in options.items()]
    arrays: dict[tuple[str, ...], list[int]] = {}
    for job in jobs_of(list_cells(suite, folder)):
        model = job[0].model
        needs = [f"--cpus-per-task={model.cpus}"]
        needs += [f"--gres=gpu:{model.gpus}"] if model.gpus else []
        needs += [f"--mem={-(-int(model.memory) // 2**20)}M"] if model.memory else []
        arrays.setdefault(tuple(needs), []).append(suite.models.index(model))
    # with -m, Python would import modules from the folder in which the job starts
    start = "import sys; del sys.path[0]; from gest_dataset.cli import main; main()"
    python = [sys.executable, "-c", start]
    container = ["apptainer", "exec", "--nv", "--bind", f"{folder},{suite_file.resolve().parent}"]
    runner = [*container, str(image), "gest"] if image else python
    command = [*runner, "sweep", str(suite_file.resolve())]
    command += ["--trust-remote-code"] if any(model.trust_remote_code for model in suite.models) else []
    template = Template(Path(__file__).with_name("slurm.sh.jinja").read_text(encoding="utf-8"))
    script, logs = folder / "slurm.sh", folder / "slurm"
    logs.mkdir(parents=True, exist_ok=True)
    text = template.render(command=shlex.join([*command, "--output", str(folder)]))
    write_file(script, f"{text}\n")
    ids = []
    for resources, tasks in arrays.items():
        own = (f"--array={','.join(map(str, tasks))}", f"--output={logs}/%A_%a.log")
        ids.append(_sbatch(*own, *common, *resources, str(script)))
    after = [f"--dependency=afterany:{':'.join(ids)}"] if ids else []
    return [*ids, _sbatch(*after, f"--output={logs}/leaderboard.log", *common, str(script))]


def _sbatch(*arguments: str) -> str:
    """Submit a job and return its id."""
    command = ["sbatch", "--parsable", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise ConfigError("sbatch is not installed. Run this command on a SLURM login node.") from error
    except subprocess.CalledProcessError as error:
        raise ConfigError(f"sbatch refused the job: {error.stderr.strip()}") from error
    return done.stdout.strip().partition(";")[0]
