"""A worker at its job: what goes wrong with a cell is told, and leaves the others."""

from __future__ import annotations

import errno
import inspect
import json
import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from gest_dataset.errors import ModelError, OutputError
from gest_dataset.models import score, scores
from gest_dataset.probes.probe import Options
from gest_dataset.runs.manifest import MANIFEST, read_manifest
from gest_dataset.storage import LOCK
from gest_dataset.sweep import work as at_work
from gest_dataset.sweep.grid import DONE, Job
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.suite import suite_of
from gest_dataset.sweep.whole import sweep
from gest_dataset.sweep.work import Event, streamed, work
from gest_dataset.version import __version__
from tests.conftest import in_one_thread
from tests.sweep.conftest import Here

CONFIGS = ("slovak_gender", "demo_sk_pairs", "crows_gender")


@pytest.fixture(scope="module", autouse=True)
def world(looked_here: None) -> Iterator[None]:
    with in_one_thread():
        yield


@pytest.fixture
def job(models: dict[str, Path], tmp_path: Path) -> Job:
    entry = {"model": str(models["one"]), "label": "one"}
    (subject,) = suite_of({"configs": list(CONFIGS), "models": [entry]}, "work").subjects
    return Job(subject, CONFIGS, "masked", 1, str(tmp_path / "out"), (), __version__)


def events(job: Job) -> list[Event]:
    told: list[Event] = []
    work(job, "cpu", told.append)
    return told


def ends(told: list[Event]) -> dict[str, str]:
    """How each config ended; with "" the job."""
    return {event.config: event.what for event in told if event.what != "begun"}


def test_each_cell_is_begun_and_done(job: Job) -> None:
    told = events(job)
    assert [(event.what, event.config) for event in told] == [
        *((what, config) for config in CONFIGS for what in ("begun", "done")),
        ("ended", ""),
    ]
    assert told[1].facts["new"]
    assert told[1].facts["number"] == "f_mu"
    assert not events(job)[1].facts["new"]


def test_the_same_events_come_as_a_stream(job: Job) -> None:
    assert [event.what for event in streamed(job, "cpu")] == ["begun", "done"] * 3 + ["ended"]


def test_the_model_is_loaded_once(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = score.load_model
    monkeypatch.setattr(
        score, "load_model", lambda *given, **named: loaded.append(1) or load(*given, **named)
    )
    events(job)
    assert len(loaded) == 1


def test_another_version_stops_with_both_named(job: Job) -> None:
    (told,) = events(replace(job, version="0.0.1"))
    assert told.what == "stop"
    assert f"has gest-dataset {__version__}, and the sweep was begun with 0.0.1" in told.reason


def test_a_fault_is_of_one_cell_and_of_its_process(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = scores.measure

    def faulty(loaded: Any, request: Any, *more: Any) -> Any:
        if request.name == CONFIGS[1]:
            raise ZeroDivisionError("by zero")
        return measure(loaded, request, *more)

    monkeypatch.setattr(scores, "measure", faulty)
    told = events(job)
    assert ends(told) == {CONFIGS[0]: "done", CONFIGS[1]: "failed", "": "lost"}
    assert "ZeroDivisionError: by zero" in next(event.reason for event in told if event.what == "failed")


def test_a_folder_with_something_else_fails_its_cell_alone(job: Job, tmp_path: Path) -> None:
    run = tmp_path / "out" / "runs" / "one" / CONFIGS[0]
    run.mkdir(parents=True)
    (run / "thesis.tex").touch()
    assert ends(events(job)) == {CONFIGS[0]: "failed", CONFIGS[1]: "done", CONFIGS[2]: "done", "": "ended"}


def test_a_run_that_another_process_writes_is_waited_for(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "out" / "runs" / "one" / CONFIGS[0]
    run.mkdir(parents=True)
    lock = FileLock(run / LOCK)
    lock.acquire()
    waited = []
    monkeypatch.setattr(at_work.time, "sleep", lambda seconds: waited.append(seconds) or lock.release())
    assert set(ends(events(job)).values()) == {"done", "ended"}
    assert len(waited) == 1


def test_what_was_begun_on_another_machine_is_begun_anew(job: Job, tmp_path: Path) -> None:
    events(replace(job, configs=CONFIGS[:1]))
    run = tmp_path / "out" / "runs" / "one" / CONFIGS[0]
    told = json.loads((run / MANIFEST).read_text())
    told |= {"status": "running", "machine": {"processor": "another", "threads": 99}}
    (run / MANIFEST).write_text(json.dumps(told))
    assert ends(events(job))[CONFIGS[0]] == "done"
    assert read_manifest(run).machine["processor"] != "another"


def test_a_place_without_room_ends_the_sweep_and_keeps_what_is_done(
    job: Job, models: dict[str, Path], tmp_path: Path
) -> None:
    """No file can be larger than a table of scores is."""
    suite = suite_of({"configs": list(CONFIGS), "models": [str(models["one"])]}, "full")
    place = Place(str(tmp_path / "full"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    class Filling(Here):
        def start(self, job: Job) -> None:
            def tell(event: Event) -> None:
                self.told.append(event)
                if event.what == "done":
                    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, hard))

            try:
                work(job, "cpu", tell)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    with pytest.raises(OutputError) as error:
        sweep(suite, place, Filling())
    assert "could not be written" in str(error.value)
    assert f"1 of 3 cells are finished, and kept in {place}" in str(error.value)
    rows = sweep(suite, place, Here(), resume=True)
    assert all(row.count(DONE) == len(CONFIGS) for row in rows.values())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_what_the_place_refuses_stops_everybody(
    job: Job, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(*_: Any) -> Any:
        raise OutputError("refused") from OSError(number, "refused")

    monkeypatch.setattr(scores.writing, "finish", refused)
    assert events(job)[-1].what == "stop"


def test_a_place_that_cannot_be_made_is_told_at_once(models: dict[str, Path]) -> None:
    suite = suite_of({"configs": "slovak_gender", "models": [str(models["one"])]}, "nowhere")
    with pytest.raises(OutputError, match="/proc/gest"):
        sweep(suite, Place("/proc/gest"), Here())


def test_a_run_that_is_whole_stays_wherever_it_was_made(job: Job, tmp_path: Path) -> None:
    job = replace(job, configs=CONFIGS[:1])
    events(job)
    run = tmp_path / "out" / "runs" / "one" / CONFIGS[0]
    told = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps(told | {"machine": {"processor": "another", "threads": 99}}))
    done = next(event for event in events(job) if event.what == "done")
    assert not done.facts["new"]
    assert read_manifest(run).machine["processor"] == "another"


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ({}, {"device": "cpu", "dtype": "auto", "revision": None, "quantization": None}),
        ({"dtype": "float16", "trust_remote_code": True}, {"dtype": "float16", "trust_remote_code": True}),
        ({"quantization": "4bit", "revisions": ["r1"]}, {"quantization": "4bit", "revision": "r1"}),
        ({"gpus": 1}, {"device": "cpu"}),
        ({"gpus": 2}, {"device": "auto", "device_map": "auto"}),
        ({"limit": 3, "batch_tokens": 9, "null": 2}, {"limit": 3, "batch_tokens": 9, "null": 2}),
        ({"templates": [3]}, {"options": Options((3,))}),
    ],
)
def test_a_model_is_asked_as_the_suite_says(
    job: Job, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], asked: dict[str, Any]
) -> None:
    given: dict[str, Any] = {}
    signature = inspect.signature(score.score_configs)

    def noted(*arguments: Any, **named: Any) -> Any:
        bound = signature.bind(*arguments, **named).arguments
        given.update({**bound, **bound.pop("loading")})
        raise ModelError("it was asked")

    monkeypatch.setattr(score, "score_configs", noted)
    (subject,) = suite_of({"configs": "en", "models": [{"model": "m", **told}]}, "s").checked().subjects
    assert ends(events(replace(job, subject=subject))) == dict.fromkeys(CONFIGS, "failed") | {"": "ended"}
    assert {name: given[name] for name in asked} == asked
    assert ("device_map" in given) is ("device_map" in asked)


def test_a_worker_that_is_ended_says_so_in_its_stream(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: Any) -> None:
        raise SystemExit("out of time")

    monkeypatch.setattr(at_work, "work", ended)
    (told,) = streamed(job, "cpu")
    assert (told.what, told.reason) == ("lost", "SystemExit: out of time")
