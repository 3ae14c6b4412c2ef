"""Sweeps on a Ray cluster of three nodes: processes and nodes are killed, nothing is lost or done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.errors import ConfigError
from gest_dataset.sweep import cluster as engine_of_ray
from gest_dataset.sweep.cluster import check_versions
from gest_dataset.sweep.grid import DONE, TO_DO, Row
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.suite import Suite, suite_of
from gest_dataset.sweep.whole import Watcher, sweep
from gest_dataset.sweep.work import DONE as CELL_DONE
from gest_dataset.sweep.work import LOST, Event
from gest_dataset.version import __version__
from tests.conftest import ROOT, in_one_thread
from tests.support.herd import herd
from tests.sweep.conftest import Here, finished

CONFIGS = (
    "slovak_gender",
    "crows_gender",
    "stereoset_control_gender",
    "winobias_type1_test",
    "demo_sk_pairs",
    "demo_uk_pairs",
)
MODELS = [f"model-{number:02}" for number in range(24)]
KILLED_AT, NODE_LOST_AT = 20, 60  # cells that are finished by then


def same(**versions: str) -> dict[str, str]:
    packages = {"torch": "2.13.0", "transformers": "5.23.0", "tokenizers": "0.22"}
    return {"gest_dataset": __version__, **packages, **versions}


def test_nodes_with_another_version_are_named_with_both() -> None:
    with pytest.raises(ConfigError, match=rf"{__version__}.*\n- second: 0\.0\.1\nInstall one version"):
        check_versions({"first": same(), "second": same(gest_dataset="0.0.1")})


def test_a_node_without_the_package_is_named() -> None:
    with pytest.raises(ConfigError, match="- second: none"):
        check_versions({"first": same(), "second": {}})


def test_nodes_that_compute_with_other_versions_are_named() -> None:
    with pytest.raises(
        ConfigError, match=r"different versions of torch.*\n- first: 2\.13\.0\n- second: 2\.4"
    ):
        check_versions({"first": same(), "second": same(torch="2.4")})


def test_nodes_of_one_version_are_taken() -> None:
    check_versions({"first": same(), "second": same()})


def test_a_model_takes_what_its_suite_says_and_a_served_one_no_gpu() -> None:
    entries = [
        {"model": "a"},
        {"model": "b", "gpus": 0},
        {"model": "c", "gpus": 2, "cpus": 3, "memory": "1GB"},
        {"model": "d", "endpoint": "http://host:1"},
    ]
    subjects = suite_of({"configs": "en", "models": entries}, "s").checked().subjects
    with_gpus, without = (engine_of_ray.Cluster(None, gpus=gpus) for gpus in (True, False))
    assert [with_gpus._resources(one)["GPU"] for one in subjects] == [1, 0, 2, 0]
    assert [without._resources(one)["GPU"] for one in subjects] == [0, 0, 2, 0]
    assert with_gpus._resources(subjects[2]) == {"CPU": 3, "GPU": 2, "memory": 10**9}


def test_a_node_holds_what_it_has_to_the_last() -> None:
    assert engine_of_ray._holds({"CPU": 2, "memory": 5.0}, {"CPU": 2, "GPU": 0, "memory": 5})
    assert not engine_of_ray._holds({"CPU": 2}, {"CPU": 2, "GPU": 1})


# ---- a cluster ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return herd(tmp_path_factory.mktemp("herd"), MODELS)


@pytest.fixture
def nodes() -> Iterator[Any]:
    """A head without processors, and two nodes with one each."""
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    from ray.cluster_utils import Cluster

    with in_one_thread():
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        try:
            yield made
        finally:
            made.shutdown()


def suite(models: list[Path], configs: tuple[str, ...] = CONFIGS) -> Suite:
    found = suite_of({"configs": list(configs), "models": [str(path) for path in models]}, "herd")
    assert found.problems == ()
    return found


def swept(nodes: Any, models: list[Path], folder: Path, watcher: Watcher | None = None) -> Mapping[str, Row]:
    workers = engine_of_ray.connect(nodes.address)
    try:
        return sweep(suite(models), Place(str(folder)), workers, watcher=watcher)
    finally:
        workers.close()


def scores(folder: Path) -> dict[str, bytes]:
    return {
        str(path.parent.relative_to(folder)): path.read_bytes()
        for path in folder.glob("runs/*/*/scores.parquet")
    }


class Killer:
    """Kills a process, and later a node, while they are at a model; sees what is finished by then."""

    def __init__(self, nodes: Any, last: Any, folder: Path) -> None:
        self.nodes, self.last, self.folder = nodes, last, folder
        self.seen: dict[str, tuple[int, int]] = {}
        self.computed: Counter[str] = Counter()
        self.lost: list[str] = []
        self.killed = 0

    def heard(self, row: Row, event: Event) -> None:
        if event.what == LOST:
            self.lost.append(event.reason)
        if event.what != CELL_DONE:
            return
        self.computed[f"{event.job}/{event.config}"] += event.facts["new"]
        if row.count(TO_DO) == 0:
            return  # its worker has nothing to lose
        worker = int(event.facts["worker"].rpartition(" ")[2].rstrip(")"))
        if not self.killed and len(self.computed) >= KILLED_AT:
            self.killed = worker
            os.kill(worker, signal.SIGKILL)
        if not self.seen and len(self.computed) >= NODE_LOST_AT and self._of_the_last_node(worker):
            self.seen = finished(self.folder)
            self.nodes.remove_node(self.last)

    def _of_the_last_node(self, worker: int) -> bool:
        (raylet,) = (info.process.pid for info in self.last.all_processes["raylet"])
        parent = Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1]
        return int(parent) == raylet


@pytest.mark.slow
def test_nothing_is_lost_with_a_process_and_a_node_and_nothing_is_done_twice(
    nodes: Any, models: list[Path], tmp_path: Path
) -> None:
    nodes.add_node(num_cpus=1)
    killer = Killer(nodes, nodes.add_node(num_cpus=1), tmp_path / "lost")
    nodes.wait_for_nodes()
    quiet = sweep(suite(models), Place(str(tmp_path / "quiet")), Here())
    assert all(row.count(DONE) == len(CONFIGS) for row in quiet.values())

    rows = swept(nodes, models, tmp_path / "lost", Watcher(heard=killer.heard))
    assert len(rows) == len(MODELS)
    assert all(row.count(DONE) == len(CONFIGS) for row in rows.values())
    assert len(killer.lost) >= 2
    # no run took the place of another one, and each was computed to its end at most once
    there = finished(tmp_path / "lost")
    assert len(killer.seen) >= NODE_LOST_AT
    assert {name: there[name] for name in killer.seen} == killer.seen
    assert set(killer.computed.values()) <= {0, 1}
    assert len(killer.computed) == len(MODELS) * len(CONFIGS)
    assert scores(tmp_path / "lost") == scores(tmp_path / "quiet")


def gest_sweep(address: str, file: Path, folder: Path, *more: str) -> list[str]:
    own = [str(file), "--engine", "ray", "--address", address, "--output", str(folder)]
    return [sys.executable, "-m", "gest_dataset", "sweep", *own, *more]


@pytest.mark.slow
def test_a_killed_driver_costs_the_cells_in_flight_at_most(
    nodes: Any, models: list[Path], tmp_path: Path
) -> None:
    nodes.add_node(num_cpus=1)
    nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    file, folder = tmp_path / "suite.yaml", tmp_path / "out"
    listed = "\n".join(f"  - {path}" for path in models[:8])
    file.write_text(f"configs: {','.join(CONFIGS)}\nmodels:\n{listed}\n", encoding="utf-8")
    driver = subprocess.Popen(gest_sweep(nodes.address, file, folder), cwd=ROOT)
    while len(finished(folder)) < 12:
        assert driver.poll() is None
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    time.sleep(5)  # until Ray has ended the tasks of a driver that is gone
    before = finished(folder)
    assert len(before) < 8 * len(CONFIGS)

    done = subprocess.run(
        gest_sweep(nodes.address, file, folder, "--resume"), cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"{len(before)} of them finished before" in done.stderr
    there = finished(folder)
    assert len(there) == 8 * len(CONFIGS)
    assert {name: there[name] for name in before} == before


@pytest.mark.slow
def test_a_node_with_another_version_of_the_package_is_refused(
    nodes: Any, models: list[Path], tmp_path: Path
) -> None:
    package = tmp_path / "old" / "gest_dataset"
    package.mkdir(parents=True)
    for path in (ROOT / "gest_dataset").iterdir():
        if path.name != "version.py":
            (package / path.name).symlink_to(path)
    for name in ("builders", "metrics"):
        (package / name).symlink_to(ROOT / name)
    (package / "version.py").write_text('__version__ = "0.0.1"\n', encoding="utf-8")
    nodes.add_node(num_cpus=1)
    nodes.add_node(num_cpus=1, env_vars={"PYTHONPATH": str(package.parent)})
    nodes.wait_for_nodes()
    file = tmp_path / "suite.yaml"
    file.write_text(f"configs: slovak_gender\nmodels: [{models[0]}]\n", encoding="utf-8")
    # the script, from elsewhere: Ray hands the folder of a driver's own code on to its workers
    script = str(Path(sys.executable).with_name("gest"))
    own = ["--engine", "ray", "--address", nodes.address, "--output", "out"]
    command = [script, "sweep", str(file), *own]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert f"begun with gest-dataset {__version__}, and nodes have other versions" in done.stderr
    assert "): 0.0.1\nInstall one version everywhere" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_what_no_node_has_is_told_before_anything_starts(
    nodes: Any, models: list[Path], tmp_path: Path
) -> None:
    nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    told = {"configs": "slovak_gender", "models": [{"model": str(models[0]), "gpus": 2, "memory": "900TB"}]}
    workers = engine_of_ray.connect(nodes.address)
    try:
        with pytest.raises(ConfigError, match=r"no node of the cluster has what it needs \(CPU 1, GPU 2"):
            sweep(suite_of(told, "large"), Place(str(tmp_path / "out")), workers)
    finally:
        workers.close()
