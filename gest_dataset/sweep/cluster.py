"""Run a sweep on Ray (one machine or a cluster), or as a SLURM job array."""

import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import Template

from gest_dataset.errors import ConfigError, OutputError, convert_errors, describe_error, import_extra
from gest_dataset.storage import write_file
from gest_dataset.sweep.run import FAILED, Cell, Job, Work, jobs_of, list_cells
from gest_dataset.sweep.suite import Suite, SuiteModel
from gest_dataset.version import __version__

_RETRIES = 2  # of a job whose worker or node is lost
# Variables that decide which data are read
_VARIABLES = ("GEST_MIRROR", "GEST_SOURCES", "GEST_REPO", "GEST_HOME")


def run_on_ray(jobs: Iterable[Job], work: Work, address: str | None = None) -> Iterator[list[Cell]]:
    """Run each job as a Ray task with the resources of its model. Ray schedules and retries the tasks.

    Connects to a cluster, or starts Ray on this machine if there is none.
    """
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"} | os.environ
    ray = import_extra("ray", "ray")
    hint = "Run `ray start --head`, or give --address."
    with convert_errors(
        lambda error: ConfigError(f"Cannot connect to Ray ({describe_error(error)}). {hint}")
    ):
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        yield from _run_tasks(ray, jobs, work)
    finally:
        ray.shutdown()  # ends the tasks that still run


def _run_tasks(ray: Any, jobs: Iterable[Job], work: Work) -> Iterator[list[Cell]]:
    environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
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
        return task.remote(work, job, "cuda" if needs["GPU"] else "cpu", environment, __version__)

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
            reason = f"the Ray worker was lost {_RETRIES + 1} times: {describe_error(error)}. Set `memory`?"
            yield [replace(cell, status=FAILED, reason=reason) for cell in job]


def resources(model: SuiteModel, has_gpus: bool) -> dict[str, float]:
    """Return what a worker needs, by Ray's names."""
    gpus = int(has_gpus) if model.gpus is None else model.gpus
    return {"CPU": model.cpus, "GPU": 0 if model.endpoint else gpus, "memory": int(model.memory)}


def _run_on_worker(
    work: Work, job: Job, device: str, environment: Mapping[str, str], version: str
) -> list[Cell]:
    if version != __version__:
        raise ConfigError(f"This worker has gest-dataset {__version__}, the sweep uses {version}.")
    os.environ.update(environment)
    return work(job, device)


def submit_to_slurm(suite: Suite, suite_file: Path, output: Path) -> list[str]:
    """Submit a job array that scores the models which are not done, and a job that builds the leaderboard.

    Models with the same needs are one array; the index of a task is the model's position in the suite.
    Returns the ids of the jobs, the one of the leaderboard last.
    """
    folder = output.resolve()
    arrays: dict[tuple[str, ...], list[int]] = {}
    for job in jobs_of(list_cells(suite, folder)):
        model = job[0].model
        resources = [f"--cpus-per-task={model.cpus}"]
        resources += [f"--gres=gpu:{model.gpus}"] if model.gpus else []
        resources += [f"--mem={-(-int(model.memory) // 2**20)}M"] if model.memory else []
        arrays.setdefault(tuple(resources), []).append(suite.models.index(model))
    command = [sys.executable, "-m", "gest_dataset", "sweep", str(suite_file.resolve())]
    template = Template(Path(__file__).with_name("slurm.sh.jinja").read_text(encoding="utf-8"))
    script, logs = folder / "slurm.sh", folder / "slurm"
    logs.mkdir(parents=True, exist_ok=True)
    text = template.render(command=shlex.join([*command, "--output", str(folder)]))
    write_file(script, f"{text}\n")
    ids = [
        _sbatch(f"--array={','.join(map(str, tasks))}", f"--output={logs}/%A_%a.log", *resources, str(script))
        for resources, tasks in arrays.items()
    ]
    after = [f"--dependency=afterany:{':'.join(ids)}"] if ids else []
    return [*ids, _sbatch(*after, f"--output={logs}/leaderboard.log", str(script))]


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
