"""What does the jobs of a sweep: processes of this machine (`sweep.local`) or a cluster (`sweep.cluster`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gest_dataset.sweep.grid import Job
from gest_dataset.sweep.suite import Subject
from gest_dataset.sweep.work import Event


class Engine(Protocol):
    """Jobs in, events out."""

    @property
    def words(self) -> str:
        """Where it works, in a few words."""

    def lacking(self, subjects: Sequence[Subject]) -> list[str]:
        """What models need and no worker has, a line each."""
        ...

    def has_room(self, job: Job) -> bool:
        """Whether a job can be taken now: there is a worker for it, or it may wait for one."""
        ...

    def start(self, job: Job) -> None:
        """Take a job."""
        ...

    def wait(self) -> list[Event]:
        """What the jobs tell; nothing after a second in which none did."""
        ...

    def close(self) -> None:
        """End everything that still runs."""
        ...
