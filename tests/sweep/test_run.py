"""Sweeps with real models in this process: cells are ordinary runs, and their folders say what is done."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import datasets
import pytest

from gest_dataset.errors import ConfigError, OutputError
from gest_dataset.models import score as scoring
from gest_dataset.models import score_run
from gest_dataset.models.score import score
from gest_dataset.runs.folder import RunWriter, read_run
from gest_dataset.runs.manifest import MANIFEST
from gest_dataset.sweep.run import DONE, FAILED, LEFT_OUT, Cell, Job, Work, jobs_of, list_cells, run_job
from gest_dataset.sweep.suite import parse_suite
from tests.support import zoo
from tests.support.completions import MODEL, served
from tests.sweep.conftest import finished_runs, run_suite

CONFIGS = ["crows_gender", "demo_sk_pairs"]


def run(
    output: Path, models: Mapping[str, Path], *names: str, **content: Any
) -> tuple[list[Cell], list[tuple[str, list[str]]]]:
    """Run a suite; the cells, and the jobs that were run."""
    entries = [{"model": str(models[name]), "label": name} for name in names]
    suite = parse_suite({"configs": CONFIGS, "models": entries, **content}, "small")
    done = []

    def engine(jobs: Iterable[Job], work: Work) -> Iterator[list[Cell]]:
        for job in jobs:
            done.append((job[0].model.name, [cell.config for cell in job]))
            yield work(job, "cpu")

    return run_suite(suite, output, engine), done


@pytest.fixture(scope="module")
def swept(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Cell]]:
    """A sweep in which one model cannot be loaded, and one does not suit one of the configs."""
    folder = tmp_path_factory.mktemp("swept") / "out"
    return folder, run(folder, models, "one", "broken", "spans")[0]


@pytest.fixture
def copied(swept: tuple[Path, list[Cell]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(swept[0], tmp_path / "out"))


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def job(models: dict[str, Path], tmp_path: Path) -> Job:
    entry = {"model": str(models["one"]), "label": "one"}
    (job,) = jobs_of(list_cells(parse_suite({"configs": CONFIGS, "models": [entry]}, "work"), tmp_path))
    return job


def failures(job: Job, output: Path) -> dict[str, str]:
    return {cell.config: cell.reason for cell in run_job(job, "cpu", output) if cell.status == FAILED}


def test_a_cell_is_the_run_that_score_makes(
    swept: tuple[Path, list[Cell]], models: dict[str, Path], tmp_path: Path
) -> None:
    score(str(models["one"]), "crows_gender", device="cpu", output=tmp_path / "run")
    own = read_run(swept[0] / "runs" / "one" / "crows_gender")
    assert own.table.equals(read_run(tmp_path / "run").table)
    assert own.manifest.identity() == read_run(tmp_path / "run").manifest.identity()


def test_failed_and_unsuitable_cells_do_not_stop_the_others(swept: tuple[Path, list[Cell]]) -> None:
    assert {cell.name: cell.status for cell in swept[1]} == {
        "one/crows_gender": DONE,
        "one/demo_sk_pairs": DONE,
        "broken/crows_gender": FAILED,
        "broken/demo_sk_pairs": FAILED,
        "spans/demo_sk_pairs": DONE,
        "spans/crows_gender": LEFT_OUT,
    }
    reasons = {cell.name: cell.reason for cell in swept[1]}
    assert "broken" in reasons["broken/crows_gender"]
    assert "needs a causal or masked model" in reasons["spans/crows_gender"]


def test_the_same_command_computes_nothing_twice(copied: Path, models: dict[str, Path]) -> None:
    before = finished_runs(copied)
    cells, jobs = run(copied, models, "one", "spans", "two")
    assert jobs == [("two", CONFIGS)]
    assert finished_runs(copied).items() >= before.items()
    assert {cell.status for cell in cells} == {DONE, LEFT_OUT}


def test_failed_missing_and_unfinished_cells_run_again(
    copied: Path, models: dict[str, Path], tmp_path: Path
) -> None:
    fixed = {**models, "broken": models["two"]}
    shutil.rmtree(copied / "runs" / "one" / "crows_gender")
    manifest = copied / "runs" / "one" / "demo_sk_pairs" / MANIFEST
    manifest.write_text(manifest.read_text().replace('"done"', '"running"'))
    cells, jobs = run(copied, fixed, "one", "broken")
    assert jobs == [("one", CONFIGS), ("broken", CONFIGS)]
    assert {cell.status for cell in cells} == {DONE}


@pytest.mark.parametrize(
    ("content", "difference"),
    [
        ({"limit": 3}, "limit: none"),
        ({"rules": "two-matchings"}, "options"),
        ({"null": 1}, "null: 0"),
        ({"dtype": "bfloat16"}, "dtype: float32"),
    ],
)
def test_finished_runs_with_other_settings_are_refused(
    copied: Path, models: dict[str, Path], content: dict[str, Any], difference: str
) -> None:
    configs = {"configs": "crows_gender"}
    with pytest.raises(ConfigError, match=rf"one: .*was scored with different settings .*{difference}"):
        run(copied, models, "one", **configs, **content)


@pytest.mark.parametrize("file", [MANIFEST, "result.json", "scores.parquet"])
def test_a_damaged_cell_is_written_again(file: str, copied: Path, models: dict[str, Path]) -> None:
    folder = copied / "runs" / "one" / "crows_gender"
    expected = read_run(folder).table
    (folder / file).write_bytes(b"{")
    cells, done = run(copied, models, "one")
    assert done == [("one", ["crows_gender"])]
    assert {cell.status for cell in cells} == {DONE}
    assert read_run(folder).table.equals(expected)


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
        "models": [
            {"model": str(models["one"])},
            {"model": str(tmp_path / "missing")},
            {"model": str(models["causal"]), "templates": [1]},
        ],
    }
    with pytest.raises(ConfigError) as error:
        run_suite(parse_suite(content, "bad"), tmp_path / "out")
    text = str(error.value)
    for part in ("missing: ", "emplate 1", "en cannot be read"):
        assert part in text, part
    assert not (tmp_path / "out" / "runs").exists()


def test_the_model_is_loaded_once(job: Job, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = scoring.load_model
    monkeypatch.setattr(scoring, "load_model", lambda *args, **more: loaded.append(1) or load(*args, **more))
    assert failures(job, output) == {}
    assert len(loaded) == 1


def test_an_unexpected_error_fails_the_rest_of_a_model(
    job: Job, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_request = score_run.score_request

    def faulty(loaded: Any, request: Any, *more: Any) -> Any:
        if request.name == CONFIGS[1]:
            raise ZeroDivisionError("by zero")
        return score_request(loaded, request, *more)

    monkeypatch.setattr(score_run, "score_request", faulty)
    assert failures(job, output) == {CONFIGS[1]: "unexpected ZeroDivisionError: by zero"}
    assert [Path(name).name for name in finished_runs(output)] == [CONFIGS[0]]


def test_an_unwritable_output_stops_the_sweep(
    job: Job, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> Any:
        raise OutputError("refused") from OSError("disk full")

    monkeypatch.setattr(RunWriter, "finish", refused)
    with pytest.raises(OutputError, match="refused"):
        run_job(job, "cpu", output)


def test_a_served_model_has_the_scores_of_the_loaded_model(tmp_path: Path) -> None:
    tokenizer = str(zoo.directory("gpt2"))
    with served("gpt2") as server:
        entry = {"model": MODEL, "endpoint": f"{server.url}/v1/", "tokenizer": tokenizer}
        suite = parse_suite({"configs": CONFIGS, "models": [entry], "dtype": "bfloat16"}, "served")
        cells = run_suite(suite, tmp_path / "out")
    assert [cell.status for cell in cells] == [DONE, DONE]
    own = read_run(tmp_path / "out" / "runs" / MODEL / "demo_sk_pairs").table.to_pydict()
    here = score(tokenizer, "demo_sk_pairs", device="cpu").table.to_pydict()
    assert own["id"] == here["id"]
    assert own["log_ratio"] == pytest.approx(here["log_ratio"], abs=1e-4)
