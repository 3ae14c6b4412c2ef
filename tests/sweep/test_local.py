"""The engine of this machine: real processes, which are killed, and a command that is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gest_dataset.sweep import local
from gest_dataset.sweep.grid import DONE, Job, Row
from gest_dataset.sweep.local import Local
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.suite import suite_of
from gest_dataset.sweep.whole import Watcher, sweep
from gest_dataset.sweep.work import BEGUN, Event
from tests.conftest import in_one_thread
from tests.support.herd import herd
from tests.sweep.conftest import finished

CONFIGS = ("slovak_gender", "demo_sk_pairs", "crows_gender", "stereoset_control_gender")


# A worker that waits for a job, without the libraries that take long to import
_IDLE = """
from multiprocessing import Pipe
from gest_dataset.sweep import local

local.quieten = lambda: print("ready", flush=True)
(here, there), (alive, life) = Pipe(), Pipe(duplex=False)
local._serve(("cpu",), there, alive)
"""


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[None]:
    with in_one_thread():
        yield


def job(**needs: Any) -> Job:
    (subject,) = suite_of({"configs": "en", "models": [{"model": "m", **needs}]}, "s").subjects
    return Job(subject, ("en",), "masked", 1, "out", (), "1")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Devices of the workers that were started, which do nothing."""
    made: list[tuple[str, ...]] = []

    def start(own: tuple[str, ...]) -> Any:
        made.append(own)
        alive = SimpleNamespace(is_alive=lambda: True)
        return SimpleNamespace(
            devices=own,
            process=alive,
            job=None,
            pipe=SimpleNamespace(send=lambda job: None),
            end=lambda: None,
        )

    monkeypatch.setattr(local, "_started", start)
    return made


def test_each_device_has_one_process(started: list[tuple[str, ...]]) -> None:
    engine = Local(("cuda:0", "cuda:1"))
    for _ in range(2):
        assert engine.has_room(job())
        engine.start(job())
    assert not engine.has_room(job())
    assert started == [("cuda:0",), ("cuda:1",)]


def test_a_model_that_needs_two_gpus_gets_two(started: list[tuple[str, ...]]) -> None:
    engine = Local(("cuda:0", "cuda:1", "cuda:2"))
    engine.start(job())
    assert engine.has_room(job(gpus=2))
    engine.start(job(gpus=2))
    assert started == [("cuda:0",), ("cuda:1", "cuda:2")]
    assert not engine.has_room(job())


def test_an_idle_worker_is_taken_before_a_new_one(started: list[tuple[str, ...]]) -> None:
    engine = Local(("cpu",))
    engine.start(job())
    engine.workers[0].job = None
    engine.start(job())
    assert started == [("cpu",)]


def test_a_worker_that_has_died_idle_is_replaced(started: list[tuple[str, ...]]) -> None:
    engine = Local(("cpu",))
    engine.start(job())
    engine.workers[0].job = None
    engine.workers[0].process.is_alive = lambda: False
    engine.start(job())
    assert started == [("cpu",), ("cpu",)]
    assert len(engine.workers) == 1


@pytest.mark.parametrize(
    ("own", "visible", "seen", "devices"),
    [
        (("cuda:1", "cuda:3"), None, "1,3", ["cuda", "cpu"]),
        (("cuda:1", "cuda:3"), "4,5,6,7", "5,7", ["cuda", "cpu"]),
        (("mps",), None, None, ["mps", "cpu"]),
    ],
)
def test_a_worker_sees_its_own_devices(
    monkeypatch: pytest.MonkeyPatch, own: tuple[str, ...], visible: str | None, seen: str, devices: list[str]
) -> None:
    """A model that needs none of them computes on the processor."""
    asked: list[str] = []
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    for name in ("end_quietly", "quieten", "release"):
        monkeypatch.setattr(local, name, lambda: None)
    monkeypatch.setattr(local, "work", lambda job, device, tell: asked.append(device))
    (here, there), (alive, life) = Pipe(), Pipe(duplex=False)
    here.send(job())
    here.send(job(gpus=0))
    here.close()
    try:
        local._serve(own, there, alive)
        assert os.environ.get("CUDA_VISIBLE_DEVICES") == seen
    finally:
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        life.send_bytes(b"")  # its thread ends without ending this process
    assert asked == devices


def test_an_interrupt_ends_a_worker_without_a_word() -> None:
    """Ctrl-C reaches all processes of a terminal: a traceback of each would hide what the command says."""
    worker = subprocess.Popen(
        [sys.executable, "-c", _IDLE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    worker.send_signal(signal.SIGINT)
    _, said = worker.communicate(timeout=60)
    assert (worker.returncode, said) == (-signal.SIGINT, "")


def test_what_this_machine_lacks_is_told() -> None:
    subjects = [job(gpus=4).subject, job(gpus=1).subject, job().subject]
    assert Local(("cuda:0", "cuda:1")).lacking(subjects) == ["m: it needs 4 GPUs, and this machine has 2."]
    assert len(Local(("cpu",)).lacking(subjects)) == 2


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return herd(tmp_path_factory.mktemp("herd"), [f"model-{number}" for number in range(4)])


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_nothing_is_done_twice(models: list[Path], tmp_path: Path) -> None:
    engine = Local(("cpu",))
    killed: list[str] = []

    def heard(row: Row, event: Event) -> None:
        if event.what == BEGUN and event.config == CONFIGS[2] and not killed:
            killed.append(event.job)
            (worker,) = engine.workers
            os.kill(worker.process.pid or 0, signal.SIGKILL)

    suite = suite_of({"configs": list(CONFIGS), "models": [str(path) for path in models]}, "killed")
    rows: Mapping[str, Row] = sweep(suite, Place(str(tmp_path / "out")), engine, watcher=Watcher(heard=heard))
    engine.close()
    assert all(row.count(DONE) == len(CONFIGS) for row in rows.values())
    losses = {name: [cell.losses for cell in row.cells.values() if cell.losses] for name, row in rows.items()}
    assert losses.pop(killed[0]) == [("its process was ended by signal 9",)]
    assert set(map(len, losses.values())) == {0}


@pytest.mark.slow
def test_a_killed_command_costs_the_cell_in_flight_at_most(models: list[Path], tmp_path: Path) -> None:
    file, folder = tmp_path / "suite.yaml", tmp_path / "out"
    listed = "".join(f"  - {path}\n" for path in models)
    file.write_text(f"configs: {','.join(CONFIGS)}\nmodels:\n{listed}", encoding="utf-8")
    command = [sys.executable, "-m", "gest_dataset", "sweep", str(file), "--output", str(folder)]
    driver = subprocess.Popen(command)
    while len(finished(folder)) < 5:
        assert driver.poll() is None
        time.sleep(0.02)
    workers = _children(driver.pid)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in workers):  # they end with their driver
        assert time.monotonic() < until
        time.sleep(0.05)
    before = finished(folder)
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{len(before)} of them finished before" in done.stderr
    there = finished(folder)
    assert len(there) == len(models) * len(CONFIGS)
    assert {name: there[name] for name in before} == before


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in listed]
