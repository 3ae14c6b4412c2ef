"""Sweeps with real models in this process: cells are ordinary runs, and their folders say what is done."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import fsspec
import pytest
from filelock import FileLock

from gest_dataset.errors import ConfigError, OutputError
from gest_dataset.models import score as scoring
from gest_dataset.models import scores
from gest_dataset.models.score import score
from gest_dataset.runs.folder import RunWriter, read_run
from gest_dataset.runs.manifest import MANIFEST, read_manifest
from gest_dataset.storage import LOCK
from gest_dataset.sweep.leaderboard import write_leaderboard
from gest_dataset.sweep.run import DONE, FAILED, LEFT_OUT, Cell, Engine, Job, Output, run_job, sweep
from gest_dataset.sweep.suite import parse_suite
from tests.support import zoo
from tests.support.completions import MODEL, served
from tests.sweep.conftest import finished_runs

CONFIGS = ["slovak_gender", "demo_sk_pairs"]


class RecordingEngine(Engine):
    """Records the jobs that it runs."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, tuple[str, ...]]] = []

    def run(self, jobs: Any) -> Any:
        self.jobs += [(job.model.name, job.configs) for job in jobs]
        return super().run([replace(job, model=replace(job.model, gpus=0)) for job in jobs])


def run(
    output: Path | str, models: Mapping[str, Path], *names: str, **content: Any
) -> tuple[list[Cell], list[tuple[str, tuple[str, ...]]]]:
    """Run a suite; the cells, and the jobs that were run."""
    entries = [{"model": str(models[name]), "label": name} for name in names]
    suite = parse_suite({"configs": CONFIGS, "models": entries, **content}, "small")
    engine = RecordingEngine()
    return sweep(suite, Output(str(output)), engine), engine.jobs


def statuses(cells: list[Cell]) -> dict[str, str]:
    return {cell.name: cell.status for cell in cells}


@pytest.fixture(scope="module")
def swept(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Cell]]:
    """A sweep in which one model cannot be loaded, and one does not suit one of the configs."""
    folder = tmp_path_factory.mktemp("swept") / "out"
    return folder, run(folder, models, "one", "broken", "causal")[0]


@pytest.fixture
def copied(swept: tuple[Path, list[Cell]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(swept[0], tmp_path / "out"))


@pytest.fixture
def job(models: dict[str, Path], tmp_path: Path) -> Job:
    entry = {"model": str(models["one"]), "label": "one"}
    (model,) = parse_suite({"configs": CONFIGS, "models": [entry]}, "work").models
    return Job(model, tuple(CONFIGS), Output(str(tmp_path / "out")), ())


def test_a_cell_is_the_run_that_score_makes(
    swept: tuple[Path, list[Cell]], models: dict[str, Path], tmp_path: Path
) -> None:
    score(str(models["one"]), "slovak_gender", device="cpu", output=tmp_path / "run")
    own = read_run(swept[0] / "runs" / "one" / "slovak_gender")
    assert own.table.equals(read_run(tmp_path / "run").table)
    assert own.manifest.identity() == read_run(tmp_path / "run").manifest.identity()


def test_failed_and_unsuitable_cells_do_not_stop_the_others(swept: tuple[Path, list[Cell]]) -> None:
    assert statuses(swept[1]) == {
        "one/slovak_gender": DONE,
        "one/demo_sk_pairs": DONE,
        "broken/slovak_gender": FAILED,
        "broken/demo_sk_pairs": FAILED,
        "causal/demo_sk_pairs": DONE,
        "causal/slovak_gender": LEFT_OUT,
    }
    reasons = {cell.name: cell.reason for cell in swept[1]}
    assert "broken" in reasons["broken/slovak_gender"]
    assert "needs a masked" in reasons["causal/slovak_gender"]


def test_the_same_command_computes_nothing_twice(copied: Path, models: dict[str, Path]) -> None:
    before = finished_runs(copied)
    cells, jobs = run(copied, models, "one", "causal", "two")
    assert jobs == [("two", tuple(CONFIGS))]
    assert finished_runs(copied).items() >= before.items()
    assert {cell.status for cell in cells} == {DONE, LEFT_OUT}


def test_failed_missing_and_unfinished_cells_run_again(
    copied: Path, models: dict[str, Path], tmp_path: Path
) -> None:
    fixed = {**models, "broken": models["two"]}
    shutil.rmtree(copied / "runs" / "one" / "slovak_gender")
    manifest = copied / "runs" / "one" / "demo_sk_pairs" / MANIFEST
    manifest.write_text(manifest.read_text().replace('"done"', '"running"'))
    cells, jobs = run(copied, fixed, "one", "broken")
    assert jobs == [("one", tuple(CONFIGS)), ("broken", tuple(CONFIGS))]
    assert set(statuses(cells).values()) == {DONE}


@pytest.mark.parametrize(
    ("content", "difference"),
    [
        ({"limit": 3}, "limit: none"),
        ({"cs": True}, "options"),
        ({"null": 1}, "null: 0"),
        ({"dtype": "bfloat16"}, "dtype: float32"),
    ],
)
def test_finished_runs_with_other_settings_are_refused(
    copied: Path, models: dict[str, Path], content: dict[str, Any], difference: str
) -> None:
    configs = {"configs": "slovak_gender"}
    with pytest.raises(ConfigError, match=rf"one: .*was scored with other settings .*{difference}"):
        run(copied, models, "one", **configs, **content)


def test_finished_runs_of_another_version_are_refused(copied: Path, models: dict[str, Path]) -> None:
    manifest = copied / "runs" / "one" / "slovak_gender" / MANIFEST
    content = json.loads(manifest.read_text())
    content["versions"]["gest_dataset"] = "0.0.1"
    manifest.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=r"gest-dataset: 0\.0\.1"):
        run(copied, models, "one")


def test_a_run_begun_with_other_settings_or_on_another_machine_starts_over(
    copied: Path, models: dict[str, Path]
) -> None:
    for config, change in (
        ("slovak_gender", {"machine": {"processor": "another", "threads": 99}}),
        ("demo_sk_pairs", {"versions": {"gest_dataset": "0.0.1"}}),
    ):
        manifest = copied / "runs" / "one" / config / MANIFEST
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"status": "running"} | change))
    cells, _ = run(copied, models, "one")
    assert {cell.status for cell in cells} == {DONE}
    run_folder = copied / "runs" / "one" / "slovak_gender"
    assert read_manifest(run_folder).machine["processor"] != "another"


def test_a_folder_with_other_files_is_refused(models: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(OutputError, match=r"thesis\.tex"):
        run(tmp_path, models, "one")


def test_all_problems_are_reported_before_anything_starts(
    models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("GEST_MIRROR", str(tmp_path / "empty"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")  # others have built "en"
    content = {
        "configs": "en,demo_en",
        "titel": "x",
        "models": [
            {"model": str(models["one"]), "gpus": 99},
            {"model": str(tmp_path / "missing")},
            {"model": str(models["causal"]), "templates": [1]},
            {"model": "./other", "dtype": "float99"},
        ],
    }
    with pytest.raises(ConfigError) as error:
        sweep(parse_suite(content, "bad"), Output(str(tmp_path / "out")), Engine())
    text = str(error.value)
    for part in ("titel", "needs 99 GPUs", "missing: ", "emplate 1", "float99", "en cannot be read"):
        assert part in text, part
    assert not (tmp_path / "out" / "runs").exists()


def test_the_model_is_loaded_once(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = scoring.load_model
    monkeypatch.setattr(scoring, "load_model", lambda *args, **more: loaded.append(1) or load(*args, **more))
    assert run_job(job, "cpu").failed == {}
    assert len(loaded) == 1


def test_an_unexpected_error_fails_one_cell(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    score_request = scores.score_request

    def faulty(loaded: Any, request: Any, *more: Any) -> Any:
        if request.name == CONFIGS[0]:
            raise ZeroDivisionError("by zero")
        return score_request(loaded, request, *more)

    monkeypatch.setattr(scores, "score_request", faulty)
    assert run_job(job, "cpu").failed == {CONFIGS[0]: "unexpected ZeroDivisionError: by zero"}
    assert [Path(name).name for name in finished_runs(Path(job.output.url))] == [CONFIGS[1]]


def test_a_locked_run_folder_fails_one_cell(job: Job) -> None:
    folder = Path(job.output.url) / "runs" / "one" / CONFIGS[0]
    folder.mkdir(parents=True)
    with FileLock(folder / LOCK):
        result = run_job(job, "cpu")
    assert list(result.failed) == [CONFIGS[0]]
    assert "Another process" in result.failed[CONFIGS[0]]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_an_unwritable_output_stops_the_sweep(job: Job, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refused(*_: Any) -> Any:
        raise OutputError("refused") from OSError(number, "refused")

    monkeypatch.setattr(RunWriter, "finish", refused)
    with pytest.raises(OutputError, match="refused"):
        run_job(job, "cpu")


def test_a_sweep_can_be_stored_at_a_url(models: dict[str, Path]) -> None:
    url = "memory://sweeps/small"
    cells, _ = run(url, models, "one")
    assert {cell.status for cell in cells} == {DONE}
    system = fsspec.filesystem("memory")
    assert system.exists("/sweeps/small/runs/one/slovak_gender/run.json")
    cells, jobs = run(url, models, "one", "two")
    assert [name for name, _ in jobs] == ["two"]
    output = Output(url)
    with output.local_copy() as folder:
        write_leaderboard("small", cells, folder)
        output.upload(folder, "*")
    assert b"<html" in system.cat_file("/sweeps/small/leaderboard.html")
    with pytest.raises(ConfigError, match="Cannot use nonsense://x"):
        run("nonsense://x", models, "one")


def test_a_served_model_has_the_scores_of_the_loaded_model(tmp_path: Path) -> None:
    tokenizer = str(zoo.directory("gpt2"))
    with served("gpt2") as server:
        entry = {"model": MODEL, "endpoint": f"{server.url}/v1/", "tokenizer": tokenizer}
        suite = parse_suite({"configs": CONFIGS, "models": [entry], "dtype": "bfloat16"}, "served")
        cells = sweep(suite, Output(str(tmp_path / "out")), Engine())
    assert sorted(cell.status for cell in cells) == [DONE, LEFT_OUT]
    own = read_run(tmp_path / "out" / "runs" / MODEL / "demo_sk_pairs").table.to_pydict()
    here = score(tokenizer, "demo_sk_pairs", device="cpu").table.to_pydict()
    assert own["id"] == here["id"]
    assert own["log_ratio"] == pytest.approx(here["log_ratio"], abs=1e-4)
