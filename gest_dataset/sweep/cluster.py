"""Run a sweep on Ray (one machine or a cluster), or as a SLURM job array."""

from __future__ import annotations

import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gest_dataset.errors import ConfigError, OutputError
from gest_dataset.storage import atomic_path
from gest_dataset.sweep.run import Engine, Job, JobResult, Output, jobs_of, list_cells, run_job
from gest_dataset.sweep.suite import Suite, SuiteModel

_RETRIES = 2  # of a job whose worker or node is lost
_SLURM_SCRIPT = """#!/bin/bash
# Written by `gest sweep --engine slurm`. Each array task scores one model; a job without an array index
# builds the leaderboard.
#SBATCH --job-name=gest-sweep
if [ -n "$SLURM_ARRAY_TASK_ID" ]; then
    part=(--task "$SLURM_ARRAY_TASK_ID")
else
    part=(--leaderboard)
fi
exec {command} "${{part[@]}}"
"""


class RayEngine(Engine):
    """Runs each job as a Ray task with the resources of its model. Ray schedules and retries the tasks."""

    def __init__(self, address: str | None = None) -> None:
        """Connect to a cluster, or start Ray on this machine if there is none."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        try:
            import ray  # an optional dependency
        except ImportError as error:
            raise ConfigError('Ray is not installed. Run pip install "gest-dataset[ray]".') from error
        self.ray: Any = ray
        try:
            self.ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
            raise ConfigError(
                f"Cannot connect to Ray ({_first_line(error)}). Run `ray start --head`, or give --address."
            ) from error
        self.has_gpus = self.ray.cluster_resources().get("GPU", 0) > 0

    def problems(self, models: Sequence[SuiteModel]) -> list[str]:
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        problems = []
        for model in models:
            needs = self._resources(model)
            if not any(all(node.get(name, 0) >= value for name, value in needs.items()) for node in nodes):
                listed = ", ".join(f"{name} {value:,g}" for name, value in needs.items() if value)
                problems.append(f"{model.name}: no node of the cluster has {listed}.")
        return problems

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, JobResult]]:
        pending = {self._submit(job): job for job in jobs}
        while pending:
            (finished,), _ = self.ray.wait(list(pending), num_returns=1)
            job = pending.pop(finished)
            try:
                result = self.ray.get(finished)
            except OutputError as error:
                raise OutputError(_first_line(error)) from None
            except self.ray.exceptions.RayError as error:
                if len(job.configs) > 1:  # one config may be what ends the worker: run them one by one
                    parts = [replace(job, configs=(config,)) for config in job.configs]
                    pending |= {self._submit(part): part for part in parts}
                    continue
                reason = f"the Ray worker was lost {_RETRIES + 1} times: {_first_line(error)}. Set `memory`?"
                result = JobResult(dict.fromkeys(job.configs, reason))
            yield job, result

    def close(self) -> None:
        """Disconnect, which ends the tasks that still run."""
        self.ray.shutdown()

    def _submit(self, job: Job) -> Any:
        needs = self._resources(job.model)
        task = self.ray.remote(run_job).options(
            num_cpus=needs["CPU"],
            num_gpus=needs["GPU"],
            memory=needs["memory"] or None,
            max_retries=_RETRIES,
            name=f"gest sweep: {job.model.name}",
        )
        return task.remote(job, "cuda" if needs["GPU"] else "cpu")

    def _resources(self, model: SuiteModel) -> dict[str, float]:
        gpus = int(self.has_gpus) if model.gpus is None else model.gpus
        is_served = model.endpoint is not None
        return {"CPU": model.cpus, "GPU": 0 if is_served else gpus, "memory": model.memory or 0}


def submit_to_slurm(suite: Suite, suite_file: Path, output: Output) -> list[str]:
    """Submit a job array that scores the models which are not done, and a job that builds the leaderboard.

    Models with the same needs are one array; the index of a task is the model's position in the suite.
    Returns the ids of the jobs, the one of the leaderboard last.
    """
    if output.folder is None:
        raise ConfigError("SLURM needs an --output folder that all nodes share, not a URL.")
    folder = output.folder.resolve()
    jobs = jobs_of(list_cells(suite, folder), output, ())
    (folder / "slurm").mkdir(parents=True, exist_ok=True)
    script = folder / "slurm.sh"
    command = [sys.executable, "-m", "gest_dataset", "sweep", str(suite_file.resolve())]
    with atomic_path(script) as partial:
        text = _SLURM_SCRIPT.format(command=shlex.join([*command, "--output", str(folder)]))
        partial.write_text(text, encoding="utf-8")
    arrays: dict[tuple[str, ...], list[int]] = {}
    for job in jobs:
        arrays.setdefault(_slurm_resources(job.model), []).append(suite.models.index(job.model))
    logs = folder / "slurm"
    ids = [
        _sbatch(f"--array={','.join(map(str, tasks))}", f"--output={logs}/%A_%a.log", *resources, str(script))
        for resources, tasks in arrays.items()
    ]
    after = [f"--dependency=afterany:{':'.join(ids)}"] if ids else []
    return [*ids, _sbatch(*after, f"--output={logs}/leaderboard.log", str(script))]


def _slurm_resources(model: SuiteModel) -> tuple[str, ...]:
    resources = [f"--cpus-per-task={model.cpus}"]
    resources += [f"--gres=gpu:{model.gpus}"] if model.gpus else []
    resources += [f"--mem={-(-model.memory // 2**20)}M"] if model.memory else []
    return tuple(resources)


def _sbatch(*arguments: str) -> str:
    """Submit a job and return its id."""
    try:
        done = subprocess.run(
            ["sbatch", "--parsable", *arguments], capture_output=True, text=True, check=True
        )
    except FileNotFoundError as error:
        raise ConfigError("sbatch is not installed. Run this command on a SLURM login node.") from error
    except subprocess.CalledProcessError as error:
        raise ConfigError(f"sbatch refused the job: {error.stderr.strip()}") from error
    return done.stdout.strip().partition(";")[0]


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__
