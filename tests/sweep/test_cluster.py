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
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.errors import ConfigError, OutputError
from gest_dataset.runs import read_run
from gest_dataset.sweep.run import DONE, FAILED, Cell, Engine, Job, resources, run_on_ray, submit_to_slurm
from gest_dataset.sweep.suite import Suite, parse_suite, read_suite
from tests.conftest import MANIFEST, MIRROR
from tests.support.herd import herd
from tests.sweep.conftest import finished_runs, run_suite

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
def engine(nodes: Any) -> Engine:
    nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    return partial(run_on_ray, address=nodes.address)


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
    engine: Engine, nodes: Any, folders: list[Path], tmp_path: Path
) -> None:
    """A worker and a node are killed; each finished run is computed once, and all scores are the same."""
    suite, output = suite_of(folders), tmp_path / "ray"
    run_suite(suite, tmp_path / "local")
    node = nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    killed: list[int] = []
    before: dict[str, tuple[int, int]] = {}

    def on_result(cells: list[Cell]) -> None:
        if not killed:
            while not ray_workers():
                time.sleep(0.02)
            killed.append(ray_workers()[0])
            os.kill(killed[0], signal.SIGKILL)
            before.update(finished_runs(output))
            nodes.remove_node(node)

    cells = run_suite(suite, output, engine, on_result=on_result)
    assert {cell.status for cell in cells} == {DONE}
    assert killed
    assert finished_runs(output).items() >= before.items()
    assert table_bytes(output) == table_bytes(tmp_path / "local")


@pytest.mark.slow
def test_problems_and_errors_on_ray(
    engine: Engine, folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = suite_of(folders[:1], gpus=2, memory="900000GB")
    with pytest.raises(ConfigError, match=r"no node of the cluster has CPU 1, GPU 2"):
        run_suite(large, tmp_path / "out", engine)
    with pytest.raises(OutputError):
        run_suite(suite_of(folders[:1]), Path("/proc/gest"), engine)
    monkeypatch.setattr("gest_dataset.sweep.run.run_job", _crash)
    cells = run_suite(suite_of(folders[:1]), tmp_path / "out", engine)
    assert {cell.status for cell in cells if cell.config != "slovak_gender"} == {DONE}
    (lost,) = (cell for cell in cells if cell.status == FAILED)
    assert lost.config == "slovak_gender"
    assert "the Ray worker was lost" in lost.reason


def _crash(job: Job, device: str, **_: Any) -> list[Cell]:
    """End the worker at one config, as too little memory does."""
    if "slovak_gender" in [cell.config for cell in job]:
        os._exit(9)
    return [replace(cell, status=DONE) for cell in job]


def test_resources_of_a_ray_task() -> None:
    entries = [
        {"model": "a"},
        {"model": "b", "gpus": 0},
        {"model": "c", "gpus": 2, "cpus": 3, "memory": "1GB"},
        {"model": "d", "endpoint": "http://host:1"},
    ]
    models = parse_suite({"configs": "en", "models": entries}, "s").models
    assert [resources(model, has_gpus=True)["GPU"] for model in models] == [1, 0, 2, 0]
    assert [resources(model, has_gpus=False)["GPU"] for model in models] == [0, 0, 2, 0]
    assert resources(models[2], has_gpus=True) == {"CPU": 3, "GPU": 2, "memory": 10**9}


# ---- SLURM -------------------------------------------------------------------------------------------------


def test_models_with_the_same_needs_are_one_job_array(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sbatch` is a stand-in that records its arguments; the script that it gets is run as SLURM does."""
    calls, sbatch = tmp_path / "calls", tmp_path / "bin" / "sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text(f'#!/bin/bash\necho "$@" >> {calls}\necho "$(wc -l < {calls});cluster"\n')
    sbatch.chmod(0o755)
    monkeypatch.setenv("PATH", f"{sbatch.parent}:{os.environ['PATH']}")
    listed = [f"- {folders[0]}", f"- {{model: {folders[1]}, memory: 1GB, gpus: 2}}", f"- {folders[2]}"]
    file, output = tmp_path / "suite.yaml", tmp_path / "out"
    file.write_text("\n".join(["configs: slovak_gender", "models:", *listed]), encoding="utf-8")
    assert submit_to_slurm(read_suite(file), file, output) == ["1", "2", "3"]
    first, second, last = calls.read_text().splitlines()
    assert "--array=0,2" in first
    assert "--cpus-per-task=1" in first
    assert "--array=1" in second
    assert "--gres=gpu:2 --mem=954M" in second
    assert "--dependency=afterany:1:2" in last
    variables = {"GEST_MIRROR": MIRROR, "GEST_SOURCES": MANIFEST, "PYTHONPATH": ROOT}
    for task in ({"SLURM_ARRAY_TASK_ID": "2"}, {}):
        environment = {**os.environ, **{name: str(value) for name, value in variables.items()}, **task}
        subprocess.run(["bash", str(output / "slurm.sh")], env=environment, check=True)
    assert len(finished_runs(output)) == 1
    assert "1 of 3 cells are done, 2 to do" in (output / "leaderboard.html").read_text()


def test_options_and_a_container(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All jobs get the options, and stand-ins for sbatch and apptainer record what is run in the image."""
    calls, programs = tmp_path / "calls", tmp_path / "bin"
    programs.mkdir()
    for name in ("sbatch", "apptainer"):
        (programs / name).write_text(f'#!/bin/bash\necho {name} "$@" >> {calls}\necho 7\n')
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)
    file, output = tmp_path / "suite.yaml", tmp_path / "out"
    options = {"partition": "gpu", "time": "04:00:00", "container": "gest.sif"}
    file.write_text(f"configs: slovak_gender\nslurm: {options}\nmodels:\n- {folders[0]}\n", encoding="utf-8")
    assert submit_to_slurm(read_suite(file), file, output) == ["7", "7"]
    subprocess.run(["bash", str(output / "slurm.sh")], check=True)
    *jobs, ran = calls.read_text().splitlines()
    assert len(jobs) == 2
    assert all("--partition=gpu --time=04:00:00" in job and "--container" not in job for job in jobs)
    inside = f"apptainer exec --nv --bind {output},{tmp_path} gest.sif gest sweep {file} --output {output}"
    assert ran == f"{inside} --leaderboard"


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A SLURM controller and one node in a private folder."""
    if os.getuid() != 0 or not all(map(shutil.which, ("sbatch", "slurmctld", "slurmd", "munged"))):
        pytest.skip("SLURM is not installed, or this is not root, who may start it")
    folder, host = tmp_path / "daemons", socket.gethostname().partition(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        ports = [first.getsockname()[1], second.getsockname()[1]]
    conf, template = folder / "slurm.conf", Path(__file__).with_name("slurm.conf").read_text()
    conf.write_text(template.format(host=host, folder=folder, ports=ports))
    monkeypatch.setenv("SLURM_CONF", str(conf))
    commands = [[program, "-D", "-f", str(conf)] for program in ("slurmctld", "slurmd")]
    if not Path("/run/munge/munge.socket.2").exists():
        Path("/run/munge").mkdir(exist_ok=True)
        shutil.chown("/run/munge", "munge")
        commands.insert(0, ["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "-F"])
    daemons = []
    try:
        for command in commands:
            daemons.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
            time.sleep(1)
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(30)


@pytest.mark.slow
def test_a_sweep_as_a_slurm_job_array(
    slurm: None, folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("GEST_MIRROR", MIRROR), ("GEST_SOURCES", MANIFEST), ("PYTHONPATH", ROOT)):
        monkeypatch.setenv(name, str(value))
    file, output = tmp_path / "suite.yaml", tmp_path / "out"
    file.write_text(f"configs: slovak_gender\nmodels:\n- {folders[0]}\n- {folders[1]}\n", encoding="utf-8")
    submit_to_slurm(read_suite(file), file, output)
    end = time.monotonic() + 300
    while subprocess.run(["squeue", "--noheader"], capture_output=True, check=True).stdout:
        assert time.monotonic() < end, "".join(log.read_text() for log in output.glob("slurm/*.log"))
        time.sleep(0.5)
    assert len(finished_runs(output)) == 2
    assert "2 of 2 cells are done" in (output / "leaderboard.html").read_text()


@pytest.mark.slow
def test_offline_nodes_with_a_shared_cache(slurm: None, folders: list[Path], tmp_path: Path) -> None:
    """A model of the Hub from the cache, without a network; a second submission only does what is missing."""
    cache = tmp_path / "shared" / "hub" / "models--owner--tiny"
    commit = "0123456789" * 4
    shutil.copytree(folders[0], cache / "snapshots" / commit)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(commit)
    file, output = tmp_path / "suite.yaml", tmp_path / "out"
    file.write_text("configs: [slovak_gender, demo_sk_pairs]\nmodels: [owner/tiny]\n", encoding="utf-8")
    variables = {"HF_HUB_OFFLINE": 1, "HF_HOME": tmp_path / "shared", "PYTHONPATH": ROOT}
    variables |= {"GEST_MIRROR": MIRROR, "GEST_SOURCES": MANIFEST}
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    options = ("--engine", "slurm", "--slurm", "partition=main", "--slurm", "time=10")
    command = [sys.executable, "-m", "gest_dataset", "sweep", str(file), "--output", str(output), *options]
    before: dict[str, tuple[int, int]] = {}
    for _ in range(2):
        subprocess.run(command, env=environment, cwd=tmp_path, check=True)
        end = time.monotonic() + 300
        while subprocess.run(["squeue", "--noheader"], capture_output=True, check=True).stdout:
            assert time.monotonic() < end, "".join(log.read_text() for log in output.glob("slurm/*.log"))
            time.sleep(0.5)
        runs = finished_runs(output)
        assert len(runs) == 2, "".join(log.read_text() for log in output.glob("slurm/*.log"))
        assert (
            read_run(output / "runs" / "owner--tiny" / "slovak_gender").manifest.metadata["revision"]
            == commit
        )
        assert before.items() <= runs.items()
        shutil.rmtree(output / "runs" / "owner--tiny" / "demo_sk_pairs")
        before = finished_runs(output)
