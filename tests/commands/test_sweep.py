"""`gest sweep` as people use it: good suites and bad ones, interrupted ones, and what is shown."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.models.score import score
from tests.support import zoo
from tests.support.herd import bred
from tests.support.printed import english, planted

CONFIGS = "slovak_gender,demo_sk_pairs"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    found = {name: bred(folder / name, seed=seed) for seed, name in enumerate(("one", "broken"))}
    weights = found["broken"] / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])
    return found


def suite(folder: Path, models: Mapping[str, Path], more: str = "") -> str:
    listed = "".join(f"  - {{model: {path}, label: {name}}}\n" for name, path in models.items())
    file = folder / "suite.yaml"
    file.write_text(f"title: Two models\nconfigs: {CONFIGS}\nmodels:\n{listed}{more}", encoding="utf-8")
    return str(file)


def test_a_sweep_in_processes_of_its_own(models: Mapping[str, Path], tmp_path: Path, gest_here: Any) -> None:
    """A worker of this machine: one model is ranked, one fails with its reason, and the exit code says so."""
    file = suite(tmp_path, models)
    done = gest_here("sweep", file, "--output", "out")
    assert done.returncode == 1
    assert "Models: 2, cells: 4; 1 process (" in done.stderr
    assert "one 2 of 2 cells" in done.stdout
    assert "broken 0 of 2 cells 2 failed" in done.stdout
    assert "failed: broken/slovak_gender, broken/demo_sk_pairs" in done.stderr
    assert "cannot be loaded" in done.stderr
    assert done.stderr.rstrip().endswith("Report: out/leaderboard.html")
    again = gest_here("sweep", file, "--output", "out")
    assert again.returncode == 1
    assert "out holds a sweep of suite. Go on with it with --resume" in again.stderr


@pytest.fixture
def real(one_thread: None, tmp_path: Path) -> Path:
    score(str(zoo.directory("bert")), "en_1_0", device="cpu", output=tmp_path / "real" / "en_1_0")
    return tmp_path / "real"


def test_runs_beside_print(real: Path, tmp_path: Path, gest_here: Any) -> None:
    folder = tmp_path / "out"
    planted(real, folder, "en_1_0", "roberta-base", english("roberta-base"))
    done = gest_here("sweep", "papers/gest-english.yaml", "--output", str(folder), "--check-published")
    assert done.returncode == 0
    assert "33 cells of the suite have no finished run" in done.stderr
    assert "68 numbers stand beside print; 0 of them differ" in " ".join(done.stdout.split())
    shutil.rmtree(folder)
    planted(real, folder, "en_1_0", "roberta-base", english("roberta-base", 1.5))
    done = gest_here("sweep", "papers/gest-english.yaml", "--output", str(folder), "--check-published")
    assert done.returncode == 1
    assert "q_7" in done.stdout
    lines = (folder / "published.csv").read_text().splitlines()
    assert len(lines) == 69
    assert sum(line.endswith(",yes") for line in lines) == 1


def test_no_run_beside_print(tmp_path: Path, gest_here: Any) -> None:
    done = gest_here("sweep", "gest-slavic", "--output", str(tmp_path), "--check-published")
    assert done.returncode == 2
    assert "holds no finished run of a model that a paper has printed numbers of" in done.stderr


def test_a_bad_suite_is_refused_with_everything_that_is_wrong(tmp_path: Path, gest_here: Any) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("config: en\nmodels:\n  - {model: a, dtype: int3}\n  - {label: b}\n", encoding="utf-8")
    done = gest_here("sweep", str(file), "--output", "out", "--check-published")
    assert done.returncode == 2
    for part in (
        "config: there is no such key (did you mean configs?)",
        "models[1].dtype",
        "models[2].model",
    ):
        assert part in done.stderr


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--plan", "--check-published"), "--plan and --check-published are two things to tell"),
        (("--address", "here:1"), "--address is that of a Ray cluster"),
        ((), "Name it with --output"),
        (("--output", "out", "--engine", "slurm"), "--engine"),
    ],
)
def test_options_that_do_not_go_together(options: tuple[str, ...], reason: str, gest_here: Any) -> None:
    done = gest_here("sweep", "gest-slavic", *options)
    assert done.returncode == 2
    assert reason in done.stderr
