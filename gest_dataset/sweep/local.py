"""The engine on one machine: one process a device, which ends with the one that watches over the sweep."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from gest_dataset.sweep.apart import CONTEXT, apart, end_quietly
from gest_dataset.sweep.grid import Job
from gest_dataset.sweep.suite import Subject
from gest_dataset.sweep.work import ENDED, LOST, STOP, Event, work

_SECOND = 1.0


@dataclass
class Worker:
    """A process with some devices; `job` is what it does now."""

    devices: tuple[str, ...]
    process: SpawnProcess
    pipe: Connection
    life: Connection
    job: Job | None = None

    def end(self) -> None:
        """End the process now; what it has written on its way is whole at any instant."""
        self.pipe.close()
        self.life.close()
        if self.job is None:
            self.process.join(_SECOND)
        self.process.kill()
        self.process.join()


@dataclass
class Local:
    """Workers for the `devices` of this machine (`cuda:0`, …, or `cpu` alone)."""

    devices: tuple[str, ...]
    workers: list[Worker] = field(default_factory=list)

    @property
    def words(self) -> str:
        return (
            f"{len(self.devices)} process{'es' if len(self.devices) > 1 else ''} ({', '.join(self.devices)})"
        )

    def lacking(self, subjects: Sequence[Subject]) -> list[str]:
        gpus = sum(device != "cpu" for device in self.devices)
        return [
            f"{subject.name}: it needs {subject.needs.gpus} GPUs, and this machine has {gpus}."
            for subject in subjects
            if (subject.needs.gpus or 0) > gpus
        ]

    def has_room(self, job: Job) -> bool:
        return len(self._free()) >= self._number(job)

    def start(self, job: Job) -> None:
        worker = self._worker(self._number(job))
        worker.job = job
        worker.pipe.send(job)

    def wait(self) -> list[Event]:
        busy = [worker for worker in self.workers if worker.job is not None]
        ready = connection.wait([worker.pipe for worker in busy], _SECOND)
        return [event for worker in busy if worker.pipe in ready for event in self._heard(worker)]

    def close(self) -> None:
        for worker in self.workers:
            worker.end()
        self.workers.clear()

    def _heard(self, worker: Worker) -> list[Event]:
        if worker.job is None:
            return []
        try:
            event: Event = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            code = worker.process.exitcode or 0
            how = f"ended by signal {-code}" if code < 0 else f"ended with {code}"
            event = Event(worker.job.name, LOST, reason=f"its process was {how}")
        if event.what in (LOST, STOP):
            self.workers.remove(worker)
            worker.end()
        if event.what == ENDED:
            worker.job = None
        return [event]

    def _number(self, job: Job) -> int:
        """How many devices a job takes."""
        return max(1, job.subject.needs.gpus or 1)

    def _free(self) -> list[str]:
        """Devices that nobody works on."""
        taken = {device for worker in self.workers if worker.job is not None for device in worker.devices}
        return [device for device in self.devices if device not in taken]

    def _worker(self, number: int) -> Worker:
        """An idle worker with so many devices; others make way for a new one."""
        idle = [worker for worker in self.workers if worker.job is None]
        for worker in idle:
            if len(worker.devices) == number and worker.process.is_alive():
                return worker
        for worker in idle:
            self.workers.remove(worker)
            worker.end()
        made = _started(tuple(self._free()[:number]))
        self.workers.append(made)
        return made


def devices() -> tuple[str, ...]:
    """The devices of this machine: its GPUs, or the processor."""
    with apart() as pool:
        return tuple(pool.submit(_devices).result())


def _devices() -> list[str]:
    import torch

    if torch.cuda.is_available():
        return [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    return ["mps"] if torch.backends.mps.is_available() else ["cpu"]


def _started(own: tuple[str, ...]) -> Worker:
    os.environ["TQDM_DISABLE"] = "1"  # which tqdm reads when it is imported: before the worker can say so
    here, there = CONTEXT.Pipe()
    alive, life = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_serve, args=(own, there, alive), daemon=True)
    process.start()
    there.close()
    alive.close()
    return Worker(own, process, here, life)


def _serve(own: tuple[str, ...], pipe: Connection, alive: Connection) -> None:
    """Do jobs as they come, until nobody gives any."""
    end_quietly()
    threading.Thread(target=_end_with, args=(alive,), daemon=True).start()
    quieten()
    cuda = [device.partition(":")[2] for device in own if device.startswith("cuda")]
    if cuda:  # before torch looks: this process sees its own devices only
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        all_of_them = visible.split(",") if visible else [str(number) for number in range(128)]
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(all_of_them[int(number)] for number in cuda)
    device = "cuda" if cuda else own[0]
    try:
        while True:
            job: Job = pipe.recv()
            work(job, "cpu" if job.subject.needs.gpus == 0 else device, pipe.send)
            release()
    except (EOFError, OSError):
        return


def _end_with(alive: Connection) -> None:
    """End this process when the other end of a pipe is closed, however its process ended."""
    try:
        alive.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def quieten() -> None:
    """No bars and no warnings: what is worth telling is told by events."""
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    warnings.simplefilter("ignore")
    logging.getLogger("gest_dataset").setLevel(logging.ERROR)
    import datasets
    import transformers
    from tqdm import tqdm

    tqdm.set_lock(
        threading.RLock()
    )  # its own one is shared by processes, and left behind by one that is killed
    library: Any = transformers.utils.logging
    library.disable_progress_bar()
    datasets.disable_progress_bars()


def release() -> None:
    """Give the memory of a model back before the next one is loaded."""
    import gc

    import torch

    gc.collect()
    memory: Any = torch.cuda
    if memory.is_available():
        memory.empty_cache()
