"""Watching over jobs: what is lost goes out again, what fails leaves the others, everything is noted."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gest_dataset.errors import OutputError
from gest_dataset.sweep import state
from gest_dataset.sweep.drive import MOST_LOSSES, drive
from gest_dataset.sweep.grid import DONE, FAILED, Cell, Job, Row, jobs_of
from gest_dataset.sweep.looking import Look
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.suite import Subject, suite_of
from gest_dataset.sweep.work import BEGUN, ENDED, LEFT_OUT, LOST, STOP, Event

CONFIGS = ("demo_en", "demo_sk_pairs", "slovak_gender")


@dataclass
class Scripted:
    """An engine whose jobs tell what a script says of each config: the events, in their order."""

    script: Callable[[Job], Sequence[Event]]
    room: int = 2
    jobs: list[Job] = field(default_factory=list)
    told: deque[Event] = field(default_factory=deque)
    at_work: int = 0
    words: str = "a script"

    def lacking(self, subjects: Sequence[Subject]) -> list[str]:
        return []

    def has_room(self, job: Job) -> bool:
        return self.at_work < self.room

    def start(self, job: Job) -> None:
        self.jobs.append(job)
        self.at_work += 1
        self.told.extend(self.script(job))

    def wait(self) -> list[Event]:
        event = self.told.popleft()
        self.at_work -= event.what in (ENDED, LOST)
        return [event]

    def close(self) -> None:
        self.told.clear()


def rows_of(*models: str, parameters: Sequence[int] = ()) -> dict[str, Row]:
    suite = suite_of({"configs": list(CONFIGS), "models": list(models)}, "script")
    sizes = parameters or [1] * len(models)
    return {
        subject.name: Row(subject, Look("masked", size), dict.fromkeys(CONFIGS, Cell()))
        for subject, size in zip(suite.subjects, sizes, strict=True)
    }


def jobs(rows: dict[str, Row], folder: Path) -> list[Job]:
    return jobs_of(list(rows.values()), str(folder), (), "1")


def well(job: Job) -> list[Event]:
    """Everything goes well."""
    told = [
        event
        for config in job.configs
        for event in (Event(job.name, BEGUN, config), Event(job.name, "done", config))
    ]
    return [*told, Event(job.name, ENDED)]


def states(rows: dict[str, Row]) -> dict[str, list[str]]:
    return {name: [cell.state for cell in row.cells.values()] for name, row in rows.items()}


def test_all_cells_are_done_and_noted(tmp_path: Path) -> None:
    rows = rows_of("a", "b")
    rows = drive(jobs(rows, tmp_path), rows, Scripted(well), Place(str(tmp_path)))
    assert states(rows) == {"a": [DONE] * 3, "b": [DONE] * 3}
    for name in rows:
        noted = json.loads((tmp_path / "models" / f"{name}.json").read_text())
        assert [noted["cells"][config]["state"] for config in CONFIGS] == [DONE] * 3


def test_the_largest_model_goes_out_first(tmp_path: Path) -> None:
    rows = rows_of("small", "large", "middle", parameters=(1, 100, 10))
    engine = Scripted(well, room=1)
    drive(jobs(rows, tmp_path), rows, engine, Place(str(tmp_path)))
    assert [job.name for job in engine.jobs] == ["large", "middle", "small"]


def test_what_was_lost_goes_out_again_without_what_is_done(tmp_path: Path) -> None:
    first, second, third = CONFIGS

    def script(job: Job) -> list[Event]:
        if len(job.configs) < 3:
            return well(job)
        begun = [
            Event(job.name, BEGUN, first),
            Event(job.name, "done", first),
            Event(job.name, BEGUN, second),
        ]
        return [*begun, Event(job.name, LOST, reason="the node is gone")]

    rows = rows_of("a")
    engine = Scripted(script)
    rows = drive(jobs(rows, tmp_path), rows, engine, Place(str(tmp_path)))
    assert [job.configs for job in engine.jobs] == [CONFIGS, (second, third)]
    assert states(rows) == {"a": [DONE] * 3}
    assert rows["a"].cells[second].losses == ("the node is gone",)
    assert rows["a"].cells[third].losses == ()


def test_a_cell_that_loses_every_worker_fails_and_leaves_the_others(tmp_path: Path) -> None:
    second = CONFIGS[1]

    def script(job: Job) -> list[Event]:
        told: list[Event] = []
        for config in job.configs:
            told.append(Event(job.name, BEGUN, config))
            if config == second:
                return [*told, Event(job.name, LOST, reason="killed")]
            told.append(Event(job.name, "done", config))
        return [*told, Event(job.name, ENDED)]

    rows = rows_of("a", "b")
    engine = Scripted(script)
    rows = drive(jobs(rows, tmp_path), rows, engine, Place(str(tmp_path)))
    assert states(rows) == {"a": [DONE, FAILED, DONE], "b": [DONE, FAILED, DONE]}
    assert (
        f"{MOST_LOSSES} workers were lost at this config, the last one: killed"
        in rows["a"].cells[second].reason
    )
    assert sum(second in job.configs for job in engine.jobs if job.name == "a") == MOST_LOSSES


def test_a_model_that_loses_every_worker_while_it_is_loaded_fails(tmp_path: Path) -> None:
    def script(job: Job) -> list[Event]:
        return [Event(job.name, LOST, reason="killed")] if job.name == "a" else well(job)

    rows = rows_of("a", "b")
    engine = Scripted(script)
    rows = drive(jobs(rows, tmp_path), rows, engine, Place(str(tmp_path)))
    assert states(rows) == {"a": [FAILED] * 3, "b": [DONE] * 3}
    assert "before it had asked anything" in rows["a"].cells[CONFIGS[0]].reason
    assert [job.name for job in engine.jobs].count("a") == MOST_LOSSES


def test_what_fails_and_what_a_checkpoint_cannot_do_are_told_apart(tmp_path: Path) -> None:
    first, second, third = CONFIGS

    def script(job: Job) -> list[Event]:
        return [
            Event(job.name, BEGUN, first),
            Event(job.name, "failed", first, "no such weights"),
            Event(job.name, LEFT_OUT, second, "it has no such head"),
            Event(job.name, "done", third),
            Event(job.name, ENDED),
        ]

    rows = rows_of("a")
    rows = drive(jobs(rows, tmp_path), rows, Scripted(script), Place(str(tmp_path)))
    assert {config: cell.state for config, cell in rows["a"].cells.items()} == {first: FAILED, third: DONE}
    assert rows["a"].cells[first].reason == "no such weights"
    assert rows["a"].left_out == {second: "it has no such head"}


def test_a_place_that_cannot_be_written_to_ends_the_sweep(tmp_path: Path) -> None:
    def script(job: Job) -> list[Event]:
        done = [Event(job.name, BEGUN, CONFIGS[0]), Event(job.name, "done", CONFIGS[0])]
        return [*done, Event(job.name, STOP, reason="the disk is full")]

    rows = rows_of("a", "b")
    with pytest.raises(OutputError, match="the disk is full"):
        drive(jobs(rows, tmp_path), rows, Scripted(script), Place(str(tmp_path)))
    noted = json.loads((tmp_path / "models" / "a.json").read_text())
    assert noted["cells"][CONFIGS[0]]["state"] == DONE


def test_what_is_done_already_is_not_given_out(tmp_path: Path) -> None:
    rows = rows_of("a", "b")
    rows["a"] = rows["a"].with_cell(CONFIGS[1], Cell(DONE))
    rows["b"] = Row(rows["b"].subject, rows["b"].look, dict.fromkeys(CONFIGS, Cell(DONE)))
    (job,) = jobs(rows, tmp_path)
    assert (job.name, job.configs) == ("a", (CONFIGS[0], CONFIGS[2]))


def test_what_was_lost_goes_out_before_what_waits(tmp_path: Path) -> None:
    lost: list[str] = []

    def script(job: Job) -> list[Event]:
        if job.name == "large" and not lost:
            lost.append(job.name)
            return [Event(job.name, LOST, reason="killed")]
        return well(job)

    rows = rows_of("small", "large", parameters=(1, 100))
    engine = Scripted(script, room=1)
    drive(jobs(rows, tmp_path), rows, engine, Place(str(tmp_path)))
    assert [job.name for job in engine.jobs] == ["large", "large", "small"]


def test_a_loss_is_of_the_cell_that_was_on_its_way_or_of_none(tmp_path: Path) -> None:
    """Two are lost at a cell and two before any, once between two cells: no one has three."""
    first, second, _ = CONFIGS
    script = deque(
        [
            [Event("a", BEGUN, first), Event("a", LOST, reason="1")],
            [Event("a", LOST, reason="2")],
            [Event("a", BEGUN, first), Event("a", "done", first), Event("a", LOST, reason="3")],
            [Event("a", BEGUN, second), Event("a", LOST, reason="4")],
        ]
    )
    rows = rows_of("a")
    engine = Scripted(lambda job: script.popleft() if script else well(job))
    rows = drive(jobs(rows, tmp_path), rows, engine, Place(str(tmp_path)))
    assert states(rows) == {"a": [DONE] * 3}
    assert [cell.losses for cell in rows["a"].cells.values()] == [("1",), ("4",), ()]


def test_losses_are_known_to_the_command_that_goes_on(tmp_path: Path) -> None:
    """A driver that is killed, or out of memory itself, does not begin to count anew."""
    script = deque(
        [
            [Event("a", BEGUN, CONFIGS[0]), Event("a", LOST, reason="killed")],
            [Event("a", STOP, reason="the disk is full")],
        ]
    )
    rows, place = rows_of("a"), Place(str(tmp_path))
    with pytest.raises(OutputError):
        drive(jobs(rows, tmp_path), rows, Scripted(lambda job: script.popleft()), place)
    told = state.known(place, [rows["a"].subject])["a"]
    row, problems = state.with_kept(rows_of("a")["a"], told, place)
    assert problems == []
    assert row.cells[CONFIGS[0]] == Cell(losses=("killed",))
