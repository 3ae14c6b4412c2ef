"""The engine on a Ray cluster: a job is a task, with the resources that its model needs.

Ray itself tries nothing again: what is lost with a worker or a node is known to the sweep, which gives out
again what is not done. A task yields its events, so that each cell is heard of when it is there.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gest_dataset.errors import ConfigError
from gest_dataset.sweep.grid import Job
from gest_dataset.sweep.suite import Subject
from gest_dataset.sweep.work import LOST, Event
from gest_dataset.version import __version__

_WAITING = 64  # jobs beyond those that run which Ray holds: it finds the worker for each
_SECOND = 1.0
# What says which data are read; a worker on another machine gets them from the one that began the sweep
_OF_DATA = ("GEST_MIRROR", "GEST_SOURCES", "GEST_REPO", "GEST_HOME")
_PACKAGES = ("torch", "transformers", "tokenizers")


@dataclass
class Cluster:
    """A Ray cluster that this process is connected to."""

    ray: Any
    gpus: bool
    flying: dict[Any, Job] = field(default_factory=dict)

    @property
    def words(self) -> str:
        total = self.ray.cluster_resources()
        nodes = sum(node["Alive"] for node in self.ray.nodes())
        return f"Ray, {nodes} nodes with {total.get('CPU', 0):g} CPUs and {total.get('GPU', 0):g} GPUs"

    def lacking(self, subjects: Sequence[Subject]) -> list[str]:
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        lines = []
        for subject in subjects:
            wanted = self._resources(subject)
            if not any(_holds(node, wanted) for node in nodes):
                told = ", ".join(f"{name} {value:,g}" for name, value in wanted.items() if value)
                lines.append(f"{subject.name}: no node of the cluster has what it needs ({told}).")
        return lines

    def has_room(self, job: Job) -> bool:
        return len(self.flying) < float(self.ray.cluster_resources().get("CPU", 1)) + _WAITING

    def start(self, job: Job) -> None:
        wanted = self._resources(job.subject)
        memory = wanted.pop("memory")
        task = self.ray.remote(_task).options(
            num_cpus=wanted["CPU"],
            num_gpus=wanted["GPU"],
            memory=memory or None,
            max_retries=0,
            num_returns="streaming",
            name=f"gest sweep: {job.name}",
        )
        settings = {name: os.environ[name] for name in _OF_DATA if name in os.environ}
        device = "cuda" if wanted["GPU"] else "cpu"
        self.flying[task.remote(job, device, settings)] = job

    def wait(self) -> list[Event]:
        if not self.flying:
            return []
        ready, _ = self.ray.wait(list(self.flying), num_returns=1, timeout=_SECOND)
        return [event for stream in ready for event in self._heard(stream)]

    def close(self) -> None:
        for stream in self.flying:
            self.ray.cancel(stream, force=True)
        self.flying.clear()
        self.ray.shutdown()

    def _heard(self, stream: Any) -> list[Event]:
        try:
            event: Event = self.ray.get(next(stream))
        except StopIteration:
            del self.flying[stream]
            return []
        except self.ray.exceptions.RayError as error:
            job = self.flying.pop(stream)
            return [Event(job.name, LOST, reason=_first_line(error))]
        return [event]

    def _resources(self, subject: Subject) -> dict[str, float]:
        gpus = subject.needs.gpus
        if subject.server is not None:
            gpus = 0
        elif gpus is None:
            gpus = int(self.gpus)
        return {"CPU": subject.needs.cpus, "GPU": gpus, "memory": subject.needs.memory or 0}


def _holds(node: Mapping[str, float], wanted: Mapping[str, float]) -> bool:
    return all(node.get(name, 0) >= value for name, value in wanted.items())


def connect(address: str | None) -> Cluster:
    """Connect to a cluster (without an address to the one of RAY_ADDRESS or of this machine, or a new one);
    mixed versions of this package on its nodes are refused.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray as library
    except ImportError as error:
        raise ConfigError(
            'Ray is not installed. Install it here and on every node: pip install "gest-dataset[ray]"'
        ) from error
    ray: Any = library
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        where = f"at {address}" if address else "here"
        raise ConfigError(
            f"There is no Ray cluster {where}: {_first_line(error)}. Start one (ray start --head), or give "
            f"its address with --address."
        ) from error
    found = Cluster(ray, gpus=ray.cluster_resources().get("GPU", 0) > 0)
    try:
        check_versions(_versions(ray))
    except BaseException:
        found.close()
        raise
    return found


def check_versions(found: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse nodes (by name, with their versions) that have another version of this package than we have, or
    among themselves other versions of what computes.
    """
    others = {node: own.get("gest_dataset", "") for node, own in found.items()}
    wrong = {node: own for node, own in others.items() if own != __version__}
    if wrong:
        lines = "\n".join(f"- {node}: {own or 'none'}" for node, own in wrong.items())
        raise ConfigError(
            f"The sweep is begun with gest-dataset {__version__}, and nodes have other versions, whose "
            f"numbers need not agree:\n{lines}\nInstall one version everywhere."
        )
    for package in _PACKAGES:
        versions = {node: own.get(package, "none") for node, own in found.items()}
        if len(set(versions.values())) > 1:
            lines = "\n".join(f"- {node}: {own}" for node, own in versions.items())
            raise ConfigError(
                f"Nodes have different versions of {package}, on which the last digits depend:\n{lines}\n"
                f"Install one version everywhere."
            )


def _versions(ray: Any) -> dict[str, dict[str, str]]:
    """The versions on every node, by its name."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node for node in ray.nodes() if node["Alive"]]
    asked = {
        f"{node['NodeManagerHostname']} ({node['NodeID'][:8]})": ray.remote(_own_versions)
        .options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
        .remote()
        for node in nodes
    }
    found = {}
    for name, answer in asked.items():
        try:
            found[name] = ray.get(answer)
        except ray.exceptions.RayError as error:
            if "ModuleNotFoundError" not in str(error):
                raise ConfigError(f"The node {name} cannot work: {_first_line(error)}") from error
            found[name] = {}
    return found


def _own_versions() -> dict[str, str]:
    """The versions where this is called."""
    from importlib.metadata import version

    from gest_dataset import version as own

    return {"gest_dataset": own.__version__, **{package: version(package) for package in _PACKAGES}}


def _task(job: Job, device: str, settings: Mapping[str, str]) -> Iterator[Event]:
    """A job on a worker of Ray."""
    from gest_dataset.sweep.local import quieten, release
    from gest_dataset.sweep.work import streamed

    os.environ.update(settings)
    quieten()
    yield from streamed(job, device)
    release()


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__
