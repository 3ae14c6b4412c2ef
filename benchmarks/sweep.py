"""What a sweep of 10,000 cells costs the process that watches over it: memory, seconds to list and show them.

    python benchmarks/sweep.py [--models 1000]

The jobs are simulated: each tells at once that its cells are done, with the facts of a real run. Everything
else is the real thing: the loop, the notes on disk, the table of states and the leaderboard.
"""

from __future__ import annotations

import argparse
import io
import resource
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from gest_dataset.builders import GROUPS
from gest_dataset.sweep import board, page, prepare, state
from gest_dataset.sweep.drive import drive
from gest_dataset.sweep.grid import DONE, Job, jobs_of
from gest_dataset.sweep.looking import Look
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.suite import Subject, suite_of
from gest_dataset.sweep.work import BEGUN, ENDED, Event
from gest_dataset.version import __version__

ASKED = ["en", *GROUPS["slavic"]]
FACTS: dict[str, Any] = {
    "measure": "pairs",
    "number": "g_s",
    "symbol": "g_s",
    "estimate": [1.2, 1.1, 1.3],
    "zone": [0.9, 1.1],
    "verdict": "not shown",
    "templates": {},
    "signature": "gest:sk_pairs|data:0123456789ab|measure:pairs|model:a/model|dtype:float32|device:cuda",
    "revision": "0" * 40,
    "kind": "masked",
    "dtype": "float32",
    "device": "cuda",
    "parameters": 100_000_000,
    "asked": 2967,
    "scored": 2900,
    "seconds": 10.0,
    "toy": False,
    "limit": None,
    "tokens": 60_000,
    "worker": "node (process 1)",
    "new": True,
}


@dataclass
class Simulated:
    """An engine whose jobs are done at once."""

    told: deque[Event] = field(default_factory=deque)
    words: str = "simulated"

    def lacking(self, subjects: Sequence[Subject]) -> list[str]:
        return []

    def has_room(self, job: Job) -> bool:
        return len(self.told) < 1000

    def start(self, job: Job) -> None:
        for config in job.configs:
            self.told.append(Event(job.name, BEGUN, config))
            self.told.append(Event(job.name, "done", config, facts=FACTS))
        self.told.append(Event(job.name, ENDED))

    def wait(self) -> list[Event]:
        return [self.told.popleft()]

    def close(self) -> None:
        self.told.clear()


def resident() -> float:
    """Megabytes of this process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def looked(subjects: Sequence[Subject]) -> Any:
    return ((subject, Look("masked", 10**8)) for subject in subjects)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    number = parser.parse_args().models
    prepare.look_at = looked
    prepare._unreadable = lambda rows: []
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        told = {"configs": ASKED, "models": [f"owner/model-{n}" for n in range(number)]}
        suite = suite_of(told, "simulated").checked()
        rows = prepare.prepare(suite, place)
        state.begin(place, suite)
        jobs = jobs_of(list(rows.values()), folder, (), __version__)
        sizes = [resident()]
        done = 0

        def heard(*_: Any) -> None:
            nonlocal done
            done += 1
            if done % 2000 == 0:
                sizes.append(resident())

        start = time.perf_counter()
        rows = drive(jobs, rows, Simulated(), place, heard)
        seconds = time.perf_counter() - start
        cells = sum(row.count(DONE) for row in rows.values())
        print(f"{cells:,} cells: {seconds:.1f} s in the loop, {1000 * seconds / cells:.2f} ms a cell")
        print(f"memory: {sizes[0]:.0f} MB before, {max(sizes):.0f} MB at most, {sizes[-1]:.0f} MB after")

        # what is kept is marked by its run's manifest: one for all will do
        for name in rows:
            for config in ASKED:
                run = Path(folder) / "runs" / name / config
                run.mkdir(parents=True)
                (run / "run.json").write_text("{}" + " " * 5000)
        for row in rows.values():
            for config in ASKED:
                mark = state.mark_of(place, row.subject.name, config)
                row = row.with_cell(config, board.Cell(DONE, mark=mark, facts=FACTS))
            state.note(place, row)
        start = time.perf_counter()
        rows = prepare.prepare(suite, place)
        listed = time.perf_counter() - start
        assert sum(row.count(DONE) for row in rows.values()) == cells
        start = time.perf_counter()
        shown = Console(file=io.StringIO(), width=120)
        for row in rows.values():
            shown.print(row.subject.name, f"{row.count(DONE)} of {len(row.cells)}")
        print(f"listed in {listed:.1f} s, shown in {time.perf_counter() - start:.1f} s")
        start = time.perf_counter()
        text = page.rendered("simulated", list(rows.values()), [], ())
        print(f"leaderboard: {time.perf_counter() - start:.1f} s, {len(text) / 1e6:.1f} MB")
        print(f"memory: {resident():.0f} MB")


if __name__ == "__main__":
    main()
