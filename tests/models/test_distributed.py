"""One run in several processes: the scores of one process, also after a process was killed."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gest_dataset
from gest_dataset.errors import ScoringError, SettingError
from gest_dataset.models import distributed
from gest_dataset.progress import ProgressBar
from gest_dataset.runs.folder import CACHE, read_run
from tests.support import killing, zoo

pytestmark = pytest.mark.usefixtures("one_thread")
EVERY_KIND = [
    ("bert", "en"),
    ("gpt2", "stereoset_en_intrasentence"),
    ("t5", "stereoset_en_intrasentence"),
    ("bert-nsp", "stereoset_en_intersentence"),
    ("llama", "sk_pairs"),
    ("bert", "stereoset_control_gender"),
    ("gpt2", "winobias_type1_dev"),
]


def score(model: str, config: str, **options: Any) -> gest_dataset.Scores:
    return gest_dataset.score(model, config, device="cpu", batch_tokens=60, **options)


def assert_close(left: Any, right: Any) -> None:
    assert left.column_names == right.column_names
    for column in left.schema:
        one, other = (table[column.name].to_numpy(zero_copy_only=False) for table in (left, right))
        if str(column.type) == "double":
            np.testing.assert_allclose(one.astype(float), other.astype(float), atol=1e-6, rtol=1e-6)
        else:
            assert np.array_equal(one, other)


def _score_all(runs: list[tuple[str, str, Path]]) -> list[dict[str, Any]]:
    scores = [score(model, config, output=folder) for model, config, folder in runs]
    return [{"table": one.table, "signature": one.signature, "result": one.result()} for one in scores]


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_several_processes_have_the_scores_of_one(size: int, tmp_path: Path) -> None:
    runs = [
        (str(zoo.directory(animal)), config, tmp_path / f"{animal}-{config}") for animal, config in EVERY_KIND
    ]
    first, *others = killing.launch(size, _score_all, runs)
    for outcome in others:
        assert [one["signature"] for one in outcome] == [one["signature"] for one in first]
        for one, other in zip(first, outcome, strict=True):
            assert one["table"].equals(other["table"]), "every process gets the scores"
    for (model, config, folder), outcome in zip(runs, first, strict=True):
        alone = score(model, config)
        assert_close(outcome["table"], alone.table)
        run = read_run(folder)
        assert_close(run.table, alone.table)
        assert run.manifest.metadata["passes"]["inputs"] == alone.metadata["passes"]["inputs"]


def _progress() -> list[str]:
    """The lines in the log of a process about a job that takes long."""
    distributed.join("cpu")
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    package = logging.getLogger("gest_dataset")
    package.addHandler(handler)
    package.setLevel(logging.INFO)
    with ProgressBar(4, "inputs", hidden=not distributed.is_main()) as bar:
        bar._next_line = 0.0
        bar.update(1)
    return lines


def test_only_the_main_process_reports_progress() -> None:
    assert killing.launch(2, _progress) == [["1 of 4 inputs"], []]


def _slow_run(model: str, folder: Path, seconds: float) -> int:
    """Score slowly; the number of inputs that this process computed."""
    from gest_dataset.models import inference
    from gest_dataset.models.forward_passes import LanguageModelScorer

    inference.COMMIT_SECONDS = 0.0
    killing.slowly(seconds)
    compute = LanguageModelScorer.log_probs
    inputs = []

    def counting(self: Any, some: Any, asks: Any) -> Any:
        inputs.append(len(some))
        return compute(self, some, asks)

    LanguageModelScorer.log_probs = counting  # type: ignore[method-assign]
    score(model, "en", output=folder)
    return sum(inputs)


@pytest.mark.parametrize(("victim", "size"), [pytest.param(1, 1, marks=pytest.mark.slow), (0, 3)])
def test_a_killed_run_resumes_with_another_number_of_processes(
    victim: int, size: int, tmp_path: Path
) -> None:
    model, folder = str(zoo.directory("bert")), tmp_path / "run"
    launched = killing.start_together(2, _slow_run, model, folder, 0.02)
    killing.wait_for_rows(folder / CACHE, 20)
    launched.kill(victim)
    outcomes = launched.outcomes()
    assert outcomes[victim] is None
    error = outcomes[1 - victim]
    assert isinstance(error, ScoringError)
    assert "Run it again to resume" in str(error)
    cached = killing.rows(folder / CACHE) - 1  # one row is the state of the run
    computed = killing.launch(size, _slow_run, model, folder, 0.0)
    inputs = json.loads((folder / "run.json").read_text())["metadata"]["passes"]["inputs"]
    assert 0 < cached < inputs
    assert sum(computed) == inputs - cached, "cached values are not computed again"
    assert_close(read_run(folder).table, score(model, "en").table)


def test_options_that_several_processes_cannot_share(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match="2 processes cannot share cpu:0"):
        distributed.join("cpu:0")
    with pytest.raises(SettingError, match="A device map uses all GPUs in one process"):
        distributed.join("auto", "auto")


def test_without_a_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters set RANK and WORLD_SIZE for their machines."""
    for environment in ({}, {"RANK": "0", "WORLD_SIZE": "8"}, {"LOCAL_RANK": "0", "WORLD_SIZE": "1"}):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert (distributed.world_size(), distributed.is_main()) == (1, True)
        assert distributed.join("cpu") == "cpu"
    assert not torch.distributed.is_initialized()
