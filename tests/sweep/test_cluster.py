"""Sweeps on a real Ray cluster and a real SLURM node; both are skipped if they are not installed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.errors import ConfigError, OutputError
from gest_dataset.sweep import cluster
from gest_dataset.sweep.cluster import RayEngine, submit_to_slurm
from gest_dataset.sweep.run import DONE, FAILED, Engine, Job, JobResult, Output, sweep
from gest_dataset.sweep.suite import Suite, find_suite, parse_suite
from tests.conftest import MANIFEST, MIRROR
from tests.support.herd import herd
from tests.sweep.conftest import finished_runs

CONFIGS = ("slovak_gender", "demo_sk_pairs", "crows_gender")
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return herd(tmp_path_factory.mktemp("herd"), [f"model-{number}" for number in range(6)])


def suite_of(folders: list[Path], **entry: Any) -> Suite:
    content = {"configs": list(CONFIGS), "models": [{"model": str(path), **entry} for path in folders]}
    return parse_suite(content, "herd")


def table_bytes(folder: Path) -> dict[str, bytes]:
    return {
        str(path.parent.relative_to(folder)): path.read_bytes()
        for path in folder.glob("runs/*/*/scores.parquet")
    }


# ---- Ray ---------------------------------------------------------------------------------------------------


@pytest.fixture
def nodes() -> Iterator[Any]:
    """A cluster whose head has no processors, and one node with one."""
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        made.add_node(num_cpus=1)
        yield made
    finally:
        made.shutdown()


@pytest.fixture
def engine(nodes: Any) -> Iterator[RayEngine]:
    nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    made = RayEngine(nodes.address)
    try:
        yield made
    finally:
        made.close()


def ray_workers() -> list[int]:
    """The processes that run a task of a sweep."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"ray::gest sweep" in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.slow
def test_killed_workers_and_nodes_lose_nothing_on_ray(
    engine: RayEngine, nodes: Any, folders: list[Path], tmp_path: Path
) -> None:
    """A worker and a node are killed; each finished run is computed once, and all scores are the same."""
    suite, output = suite_of(folders), tmp_path / "ray"
    sweep(suite, Output(str(tmp_path / "local")), Engine())
    node = nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    killed: list[int] = []
    before: dict[str, tuple[int, int]] = {}

    def on_result(job: Job, result: JobResult) -> None:
        if not killed:
            while not ray_workers():
                time.sleep(0.02)
            killed.append(ray_workers()[0])
            os.kill(killed[0], signal.SIGKILL)
            before.update(finished_runs(output))
            nodes.remove_node(node)

    cells = sweep(suite, Output(str(output)), engine, on_result=on_result)
    assert {cell.status for cell in cells} == {DONE}
    assert killed
    assert finished_runs(output).items() >= before.items()
    assert table_bytes(output) == table_bytes(tmp_path / "local")


@pytest.mark.slow
def test_a_killed_command_resumes_on_ray(nodes: Any, folders: list[Path], tmp_path: Path) -> None:
    nodes.wait_for_nodes()
    file, output = tmp_path / "suite.yaml", tmp_path / "out"
    listed = "\n".join(f"  - {path}" for path in folders)
    file.write_text(f"configs: {','.join(CONFIGS)}\nmodels:\n{listed}\n", encoding="utf-8")
    options = ["--engine", "ray", "--address", nodes.address, "--output", str(output)]
    command = [sys.executable, "-m", "gest_dataset", "sweep", str(file), *options]
    driver = subprocess.Popen(command, cwd=ROOT)
    while len(finished_runs(output)) < 5:
        assert driver.poll() is None
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    while ray_workers():  # Ray ends the tasks of a driver that is gone
        time.sleep(0.1)
    before = finished_runs(output)
    assert len(before) < len(folders) * len(CONFIGS)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{len(before)} of them already done" in done.stderr
    after = finished_runs(output)
    assert len(after) == len(folders) * len(CONFIGS)
    assert after.items() >= before.items()


@pytest.mark.slow
def test_problems_and_errors_on_ray(
    engine: RayEngine, folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = suite_of(folders[:1], gpus=2, memory="900TB")
    with pytest.raises(ConfigError, match=r"no node of the cluster has CPU 1, GPU 2"):
        sweep(large, Output(str(tmp_path / "out")), engine)
    with pytest.raises(OutputError):
        sweep(suite_of(folders[:1]), Output("/proc/gest"), engine)
    monkeypatch.setattr(cluster, "run_job", _crash)
    cells = sweep(suite_of(folders[:1]), Output(str(tmp_path / "out")), engine)
    assert {cell.status for cell in cells if cell.config != "slovak_gender"} == {DONE}
    (lost,) = (cell for cell in cells if cell.status == FAILED)
    assert lost.config == "slovak_gender"
    assert "the Ray worker was lost" in lost.reason


def _crash(job: Job, device: str) -> JobResult:
    """End the worker at one config, as too little memory does."""
    if "slovak_gender" in job.configs:
        os._exit(9)
    return JobResult()


def test_resources_of_a_ray_task() -> None:
    entries = [
        {"model": "a"},
        {"model": "b", "gpus": 0},
        {"model": "c", "gpus": 2, "cpus": 3, "memory": "1GB"},
        {"model": "d", "endpoint": "http://host:1"},
    ]
    models = parse_suite({"configs": "en", "models": entries}, "s").models
    engine = object.__new__(RayEngine)
    engine.has_gpus = True
    assert [engine._resources(model)["GPU"] for model in models] == [1, 0, 2, 0]
    engine.has_gpus = False
    assert [engine._resources(model)["GPU"] for model in models] == [0, 0, 2, 0]
    assert engine._resources(models[2]) == {"CPU": 3, "GPU": 2, "memory": 10**9}


# ---- SLURM -------------------------------------------------------------------------------------------------


def test_models_with_the_same_needs_are_one_job_array(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def sbatch(command: list[str], **_: Any) -> Any:
        calls.append(command)
        return subprocess.CompletedProcess(command, 0, f"{len(calls)};cluster\n", "")

    monkeypatch.setattr(cluster.subprocess, "run", sbatch)
    entries = [{"model": str(path)} for path in folders[:3]]
    entries[1] |= {"gpus": 2, "memory": "1GB"}
    suite = parse_suite({"configs": "slovak_gender", "models": entries}, "array")
    ids = submit_to_slurm(suite, find_suite("gest-english"), Output(str(tmp_path / "out")))
    assert ids == ["1", "2", "3"]
    first, second, last = calls
    assert {"--array=0,2", "--cpus-per-task=1"} <= {*first}
    assert {"--array=1", "--gres=gpu:2", "--mem=954M"} <= {*second}
    assert "--dependency=afterany:1:2" in last
    script = (tmp_path / "out" / "slurm.sh").read_text()
    assert f"--output {tmp_path / 'out'}" in script
    with pytest.raises(ConfigError, match="not a URL"):
        submit_to_slurm(suite, find_suite("gest-english"), Output("memory://x"))


_SLURM_CONF = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A SLURM controller and one node in a private folder."""
    if not all(shutil.which(program) for program in ("sbatch", "slurmctld", "slurmd", "munged")):
        pytest.skip("SLURM is not installed")
    if os.getuid() != 0:
        pytest.skip("starting SLURM needs root")
    folder, host = tmp_path / "slurm-daemons", socket.gethostname().partition(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    port, node_port = _free_port(), _free_port()
    conf = folder / "slurm.conf"
    conf.write_text(_SLURM_CONF.format(host=host, folder=folder, port=port, node_port=node_port))
    monkeypatch.setenv("SLURM_CONF", str(conf))
    daemons = []
    if not Path("/run/munge/munge.socket.2").exists():
        Path("/run/munge").mkdir(exist_ok=True)
        shutil.chown("/run/munge", "munge")
        daemons.append(subprocess.Popen(["su", "-s", "/bin/bash", "munge", "-c", "/usr/sbin/munged -F"]))
        time.sleep(1)
    try:
        for program in ("slurmctld", "slurmd"):
            daemons.append(subprocess.Popen([program, "-D", "-f", str(conf)], stderr=subprocess.DEVNULL))
            time.sleep(2)
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(30)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@pytest.mark.slow
def test_a_sweep_as_a_slurm_job_array(
    slurm: None, folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("GEST_MIRROR", MIRROR), ("GEST_SOURCES", MIRROR / MANIFEST), ("PYTHONPATH", ROOT)):
        monkeypatch.setenv(name, str(value))
    file, output = tmp_path / "suite.yaml", tmp_path / "out"
    listed = "\n".join(f"  - {path}" for path in folders[:2])
    file.write_text(f"configs: slovak_gender\nmodels:\n{listed}\n", encoding="utf-8")
    command = [sys.executable, "-m", "gest_dataset", "sweep", str(file), "--output", str(output)]
    done = subprocess.run([*command, "--engine", "slurm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    end = time.monotonic() + 300
    while not (output / "leaderboard.html").exists():
        logs = "".join(path.read_text() for path in (output / "slurm").glob("*.log"))
        assert time.monotonic() < end, logs
        time.sleep(1)
    while subprocess.run(["squeue", "--noheader"], capture_output=True).stdout:
        time.sleep(0.5)
    assert len(finished_runs(output)) == 2
    assert "2 of 2 cells are done" in (output / "leaderboard.html").read_text()
