"""One run in several processes: the same bytes as one process, whoever dies on the way.

The processes are real and speak through gloo, as a launcher starts them.
"""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch

import gest_dataset
from gest_dataset.errors import LostError, ModelError, OutputError, SettingError
from gest_dataset.models import batching
from gest_dataset.models.batching import answer
from gest_dataset.models.shards import Shards
from gest_dataset.models.stretches import Pace, Share, State, merge, next_stretch
from gest_dataset.models.team import ALONE, Team, team
from tests.runs.test_runs import Composed, queries
from tests.support import launching, zoo

pytestmark = pytest.mark.usefixtures("one_thread")

MEMORIES, POISONS, BUDGET = (10**9, 40, 25), (-1, 98, 99), 90
CASES = [(memory, poison) for memory in MEMORIES for poison in POISONS]


# The plan, shared ------------------------------------------------------------------------------------


def test_whole_batches_fall_to_the_process_with_the_fewest_tokens() -> None:
    sizes = [9, 9, 5, 5, 5, 2, 2, 2, 2]
    stretch = next_stretch(State(10), sizes, 99)
    assert stretch == [(0, 1), (1, 2), (2, 4), (4, 6), (6, 9)]
    assert Pace(2).shared(stretch, sizes) == [[(0, 1), (2, 4), (6, 9)], [(1, 2), (4, 6)]]


def test_tokens_are_even_over_all_stretches() -> None:
    """Also where each stretch alone could not be shared evenly."""
    random = np.random.default_rng(3)
    sizes = sorted((int(size) for size in random.integers(5, 60, 4000)), reverse=True)
    for processes in (2, 3, 4):
        state, pace = State(200), Pace(processes)
        while len(state.values) < len(sizes):
            stretch = next_stretch(state, sizes, pace.most + 1)
            pace.shared(stretch, sizes)
            state.values += [np.zeros(1)] * (stretch[-1][1] - stretch[0][0])
        assert max(pace.tokens) - min(pace.tokens) <= 200


def test_stretches_grow_to_the_seconds_that_they_are_to_take() -> None:
    pace = Pace(2)
    for seconds, batches in ((0.01, 4), (0.04, 16), (2.5, 32), (10.0, 16), (1000.0, 1)):
        pace.adapt([Share({}, None, None, 0.0), Share({}, None, None, seconds)])
        assert pace.batches == batches


def _share(found: Sequence[tuple[int, int]], **told: Any) -> Share:
    values = {batch: [np.array([float(i)]) for i in range(*batch)] for batch in found}
    return Share(values, told.get("full"), told.get("turned"), 1.0)


def test_what_comes_first_in_the_plan_counts_whoever_met_it() -> None:
    """Memory ran out at (4, 6), while another process went over to float32 at (8, 10)."""
    sizes, state = [5] * 12, State(10)
    stretch = next_stretch(state, sizes, 99)
    mine = _share([(0, 2)], full=(4, 6))
    theirs = _share([(2, 4), (6, 8), (8, 10)], turned=(8, 10))
    assert not merge(state, stretch, [mine, theirs], sizes)
    assert [float(value[0]) for value in state.values] == [0, 1, 2, 3]
    assert (state.budget, state.batches) == (5, 2)
    assert state.turns == [(8, 10)]  # no process can go back, so that all go over


# The same floats as one process ----------------------------------------------------------------------


def _answers(folder: Path | None) -> list[tuple[list[list[float]], Any]]:
    """A process of a team: the values of every case, where it leads."""
    batching.clear_device_cache = lambda **_: None  # collects garbage, slowly
    logging.disable()
    crew, found = team("cpu"), []
    for number, (memory, poison) in enumerate(CASES):
        scorer = Composed(memory, poison)
        store = None if folder is None else Shards(folder / str(number))
        if crew.leads:
            values, passes = answer(
                queries(),
                scorer,
                BUDGET,
                store=store,
                team=crew,
                announce=lambda *told: crew.spread(lambda: told),
            )
            found.append(([list(value) for value in values], passes))
        else:
            work, state = crew.hear()
            batching.run(work, state, lambda scorer=scorer: scorer, store=store, team=crew)
    return found


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_floats_are_those_of_one_process(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where memory runs out or a number overflows, early or late."""
    monkeypatch.setattr(batching, "clear_device_cache", lambda **_: None)
    found = launching.launch(size, _answers, tmp_path)[0]
    for (memory, poison), (values, passes) in zip(CASES, found, strict=True):
        alone, expected = answer(queries(), Composed(memory, poison), BUDGET)
        assert [list(value) for value in alone] == values, (memory, poison)
        assert passes == expected


# Runs ------------------------------------------------------------------------------------------------


def _run(model: str, config: str, folder: Path, **given: Any) -> dict[str, Any]:
    from gest_dataset.models.score import score

    scores = score(model, config, device="cpu", batch_tokens=60, output=folder, **given)
    return {"table": scores.table.to_pydict(), "signature": scores.signature}


def _same_runs(one: Path, other: Path) -> None:
    for name in ("scores.parquet", "result.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    manifests = [json.loads((path / "run.json").read_text()) for path in (one, other)]
    for manifest in manifests:
        for timed in ("started", "finished", "seconds", "command"):
            del manifest[timed]
        del manifest["metadata"]["seconds"]
    assert manifests[0] == manifests[1]
    assert {path.name for path in one.iterdir()} == {path.name for path in other.iterdir()}


ALL_KINDS = [
    ("bert", "en"),
    ("gpt2", "stereoset_en_intrasentence"),
    ("t5", "stereoset_en_intrasentence"),
    ("bert-nsp", "stereoset_en_intersentence"),
    ("llama", "sk_pairs"),
    ("bert", "stereoset_control_gender"),
    ("bert", "crows_control_negation"),
    ("gpt2", "winobias_type1_dev"),
    ("gpt2", "sk_neutral"),
]


def _runs(places: list[tuple[str, str, Path]]) -> list[dict[str, Any]]:
    return [_run(model, config, folder) for model, config, folder in places]


def _compare(size: int, kinds: Sequence[tuple[str, str]], tmp_path: Path) -> None:
    places = [(str(zoo.directory(animal)), config, Path(f"{animal}-{config}")) for animal, config in kinds]
    found = launching.launch(size, _runs, [(m, c, tmp_path / "team" / path) for m, c, path in places])
    for outcome in found:
        assert outcome == found[0], "every process has the scores"
    for model, config, path in places:
        _run(model, config, tmp_path / "one" / path)
        _same_runs(tmp_path / "one" / path, tmp_path / "team" / path)


def test_two_processes_write_the_bytes_of_one(tmp_path: Path) -> None:
    _compare(2, ALL_KINDS, tmp_path)


@pytest.mark.slow
def test_four_processes_write_the_bytes_of_one(tmp_path: Path) -> None:
    _compare(4, ALL_KINDS, tmp_path)


def _twins(model: str) -> Any:
    scores = gest_dataset.score(model, "demo_en", [1], device="cpu", null=2)
    return scores.metadata["null"]


def test_twins_are_shared_too(tmp_path: Path) -> None:
    model = str(zoo.directory("bert"))
    found = launching.launch(2, _twins, model)
    alone = _twins(model)
    assert all(map(math.isfinite, alone)), alone
    assert found[0] == found[1] == alone


# A process that dies ---------------------------------------------------------------------------------


def _slow_run(model: str, folder: Path, seconds: float) -> int:
    """Batches that this process has computed; each takes so long at least."""
    from gest_dataset.models import shards, stretches

    stretches.SECONDS = 0.2
    shards.SECONDS = 0.0
    answered, calls = LanguageModel.answer, Counter[str]()

    def slow(self: Any, *arguments: Any) -> Any:
        time.sleep(seconds)
        found = answered(self, *arguments)
        calls["batches"] += 1
        return found

    LanguageModel.answer = slow  # type: ignore[method-assign]
    _run(model, "en", folder)
    return calls["batches"]


def _known(folder: Path) -> int:
    """Batches that are on the disk: of the last shard, and of parts that nobody has merged."""
    told = [json.loads(str(np.load(path)["told"])) for path in sorted(folder.glob("shards/0*.npz"))]
    parts = [json.loads(str(np.load(path)["told"])) for path in folder.glob("shards/part-*.npz")]
    kept = told[-1] if told else {"batches": 0, "end": 0}
    return kept["batches"] + sum(len(part["found"]) for part in parts if part["start"] == kept["end"])


def _killed(size: int, victim: int, model: str, folder: Path, shards: int) -> list[Any]:
    """A run whose process of that number is killed as soon as there are so many shards more."""
    before = len(list(folder.glob("shards/0*.npz")))
    launched = launching.start(size, _slow_run, model, folder, 0.02)
    deadline = time.monotonic() + launching.LONG
    while len(list(folder.glob("shards/0*.npz"))) < before + shards:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    launched.kill(victim)
    return launched.outcomes()


def _resumed(sizes: Sequence[tuple[int, int]], last: int, tmp_path: Path) -> None:
    model, folder = str(zoo.directory("bert")), tmp_path / "run"
    for size, victim in sizes:
        outcomes = _killed(size, victim, model, folder, 2)
        assert outcomes[victim] is None
        left = [outcome for rank, outcome in enumerate(outcomes) if rank != victim]
        for error in left:
            assert isinstance(error, LostError)
            assert f"Of the {size} processes of this run " in str(error)
            assert f"process {victim} (pid" in str(error)  # others may have ended since, because of it
        assert any(error.speaks for error in left) or size == 1
    known = _known(folder)
    computed = launching.launch(last, _slow_run, model, folder, 0.0)
    _run(model, "en", tmp_path / "one")
    _same_runs(tmp_path / "one", folder)
    batches = json.loads((folder / "run.json").read_text())["metadata"]["passes"]["batches"]
    assert 0 < known < batches
    assert sum(computed) == batches - known, "what was kept is not computed again"


def test_a_killed_run_goes_on_with_another_number_of_processes(tmp_path: Path) -> None:
    _resumed([(2, 1)], 3, tmp_path)


@pytest.mark.slow
def test_whoever_is_killed_the_run_goes_on(tmp_path: Path) -> None:
    _resumed([(3, 0), (2, 1), (4, 2)], 1, tmp_path)
    _resumed([(1, 0), (4, 3)], 2, tmp_path / "again")


def _silent(model: str, folder: Path) -> Any:
    """The second process stops in its first batch, and its connections stay open."""
    from datetime import timedelta

    from gest_dataset.models import team as processes

    processes.ANSWER = timedelta(seconds=20)

    def stop(self: Any, *_: Any) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    if os.environ["RANK"] == "1":
        LanguageModel.answer = stop  # type: ignore[method-assign,assignment]
    return _run(model, "en", folder)


@pytest.mark.slow
def test_nobody_waits_for_ever(tmp_path: Path) -> None:
    launched = launching.start(2, _silent, str(zoo.directory("bert")), tmp_path / "run")
    assert launched.pipes[0].poll(launching.LONG)
    error = launched.pipes[0].recv()
    launched.kill(1)
    assert isinstance(error, LostError)
    assert "One of the 2 processes of this run has ended, or does not answer (" in str(error)


# Errors ----------------------------------------------------------------------------------------------


def _full_disk(model: str, folder: Path) -> Any:
    """The second process cannot write its part."""
    from gest_dataset.models import shards

    def full(self: Any, *_: Any) -> None:
        raise OutputError("the disk is full")

    if os.environ["RANK"] == "1":
        shards.Shards.keep_part = full  # type: ignore[method-assign]
    return _run(model, "en", folder)


def test_an_error_of_one_process_is_the_error_of_all(tmp_path: Path) -> None:
    found = launching.launch(2, _full_disk, str(zoo.directory("bert")), tmp_path / "run")
    assert [(type(error), str(error)) for error in found] == [(OutputError, "the disk is full")] * 2


def _other_weights(models: list[str], folder: Path) -> Any:
    return _run(models[int(os.environ["RANK"])], "demo_en", folder)


def test_processes_that_would_not_compute_the_same_are_refused(tmp_path: Path) -> None:
    models = [str(zoo.directory(animal)) for animal in ("bert", "bert-untied")]
    for error in launching.launch(2, _other_weights, models, tmp_path / "run"):
        assert isinstance(error, ModelError)
        assert "Processes 0 and 1 of this run would not compute the same:\n  weights: " in str(error)


def _wrong(model: str, given: dict[str, Any]) -> Any:
    return gest_dataset.score(model, "demo_en", **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"device": "cpu:0"}, "2 processes cannot all compute on cpu:0"),
        ({"device_map": "auto"}, "A device map gives one process all devices, and here are 2"),
    ],
)
def test_what_several_processes_cannot_do(given: dict[str, Any], said: str) -> None:
    for error in launching.launch(2, _wrong, str(zoo.directory("bert")), given):
        assert isinstance(error, SettingError)
        assert said in str(error)


def test_without_a_launcher_a_process_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert team("cpu") is ALONE
    for name, value in {"RANK": "0", "WORLD_SIZE": "8"}.items():  # as a cluster sets them for its machines
        monkeypatch.setenv(name, value)
    assert team("cpu") is ALONE
    monkeypatch.setenv("LOCAL_RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert team("cpu") is ALONE
    assert not torch.distributed.is_initialized()


# Who has died, and who says so -----------------------------------------------------------------------


@pytest.fixture
def gone() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def crew(*members: tuple[str, int], rank: int = 0) -> Team:
    return Team(rank, len(members), members=members)


def test_a_process_of_another_machine_is_not_looked_for_here(gone: int) -> None:
    assert crew(("a", os.getpid()), ("a", gone)).dead() == [1]
    assert crew(("a", os.getpid()), ("b", gone)).dead() == []


def test_a_process_of_another_user_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refused)
    assert crew(("a", 1), ("a", 2)).dead() == []


def test_those_that_have_ended_are_counted_and_the_first_one_left_speaks(gone: int) -> None:
    here = ("a", os.getpid())
    ended = ("a", gone)
    assert f"process 0 (pid {gone}) has ended;" in str(crew(ended, here, rank=1).lost("silent"))
    two = crew(ended, ended, here, here, rank=2).lost("silent")
    assert f"process 0 (pid {gone}) and process 1 (pid {gone}) have ended;" in str(two)
    assert two.speaks
    assert not crew(ended, ended, here, here, rank=3).lost("silent").speaks


def test_a_process_may_look_alive_for_a_moment() -> None:
    """Until whoever has started it has heard of its end."""
    process = subprocess.Popen(["sleep", "0.2"])
    Thread(target=process.wait).start()
    assert crew(("a", os.getpid()), ("a", process.pid)).dead() == []
    assert "process 1 (pid" in str(crew(("a", os.getpid()), ("a", process.pid)).lost("silent"))


def test_a_launcher_that_ends_a_process_makes_it_say_why(gone: int) -> None:
    """What SIGTERM did before is as it was, but where the process is about to end by itself."""
    several, before = crew(("a", gone), ("a", os.getpid()), rank=1), signal.getsignal(signal.SIGTERM)
    try:
        with several.ended_by_launcher():
            assert signal.getsignal(signal.SIGTERM) != before
        assert signal.getsignal(signal.SIGTERM) == before
        with pytest.raises(KeyError), several.ended_by_launcher():
            raise KeyError("a fault")
        assert signal.getsignal(signal.SIGTERM) == before
        with pytest.raises(LostError, match=r"process 0 \(pid"), several.ended_by_launcher():
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def _faulty(folder: Path) -> Any:
    """The second process meets a fault that nobody foresaw, with an error that cannot be sent as it is."""

    class OfNobodyError(Exception):
        pass

    def work() -> str:
        if os.environ["RANK"] == "1":
            raise OfNobodyError("by zero")
        return "well"

    try:
        return team("cpu").each(work)
    except RuntimeError as error:
        return str(error)
    except OfNobodyError as error:
        return f"its own: {error}"


def test_a_fault_is_told_to_all_with_its_traceback(tmp_path: Path) -> None:
    first, second = launching.launch(2, _faulty, tmp_path)
    assert first.startswith("process 1 of the run failed:\nTraceback")
    assert "OfNobodyError: by zero" in first
    assert second == "its own: by zero"
