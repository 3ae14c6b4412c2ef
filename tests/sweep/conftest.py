"""What tests of sweeps share: a few small models, and an engine that works in this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gest_dataset.runs.manifest import MANIFEST, read_manifest
from gest_dataset.sweep import looking
from gest_dataset.sweep.grid import Job
from gest_dataset.sweep.suite import Subject
from gest_dataset.sweep.work import Event, work
from tests.support.herd import bred


@dataclass
class Here:
    """An engine that does a job at once, in this process: the real work, without a process for it."""

    told: deque[Event] = field(default_factory=deque)
    jobs: list[Job] = field(default_factory=list)
    words: str = "this process"

    def lacking(self, subjects: Sequence[Subject]) -> list[str]:
        return []

    def has_room(self, job: Job) -> bool:
        return not self.told

    def start(self, job: Job) -> None:
        self.jobs.append(job)
        work(job, "cpu", self.told.append)

    def wait(self) -> list[Event]:
        return [self.told.popleft()]

    def close(self) -> None:
        self.told.clear()


def finished(folder: Path) -> dict[str, tuple[int, int]]:
    """The finished runs below a folder: which file each manifest is, and of when."""
    found = {}
    for path in folder.glob(f"runs/*/*/{MANIFEST}"):
        if read_manifest(path.parent).done:
            told = path.stat()
            found[str(path.parent.relative_to(folder))] = (told.st_ino, told.st_mtime_ns)
    return found


@pytest.fixture(scope="module")
def looked_here() -> Iterator[None]:
    """The look at models in this process: one of its own takes seconds to import the library."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking, "apart", lambda: ThreadPoolExecutor(1))
        yield


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two masked models, a causal one, and one whose weights are damaged."""
    folder = tmp_path_factory.mktemp("models")
    found = {name: bred(folder / name, seed=seed) for seed, name in enumerate(("one", "two", "broken"))}
    found["causal"] = bred(folder / "causal", "gpt2")
    weights = found["broken"] / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])
    return found
