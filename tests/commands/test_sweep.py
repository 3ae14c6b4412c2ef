"""`gest sweep`: good and bad suites, what is printed, and the exit code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from datasets import load_dataset

from tests.commands.conftest import Gest
from tests.support.herd import bred

CONFIGS = "slovak_gender,demo_sk_pairs"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A model, and one whose weights are damaged."""
    folder = tmp_path_factory.mktemp("models")
    found = {name: bred(folder / name) for name in ("one", "broken")}
    (found["broken"] / "model.safetensors").write_bytes(b"damaged")
    return found


@pytest.fixture
def suite(models: Mapping[str, Path], tmp_path: Path) -> str:
    listed = "".join(f"  - {{model: {path}, label: {name}}}\n" for name, path in models.items())
    file = tmp_path / "suite.yaml"
    file.write_text(f"title: Two models\nprice: 2\nconfigs: {CONFIGS}\nmodels:\n{listed}", encoding="utf-8")
    return str(file)


def test_a_sweep_with_one_model_that_fails(suite: str, gest: Gest) -> None:
    done = gest("sweep", suite, "--output", "out")
    assert done.returncode == 1
    assert "Cells: 4." in done.stderr
    assert "one 2 of 2 cells" in done.stdout
    assert "broken 0 of 2 cells, 2 failed" in done.stdout
    assert "failed: broken/slovak_gender, broken/demo_sk_pairs" in done.stderr
    assert "Report: out/leaderboard.html" in done.stderr
    again = gest("sweep", suite, "--output", "out")
    assert again.returncode == 1
    assert "Cells: 4, 2 of them already done." in again.stderr


def test_a_task_is_one_model_and_the_leaderboard_comes_later(suite: str, gest: Gest, tmp_path: Path) -> None:
    assert gest("sweep", suite, "--output", "out", "--task", "0").returncode == 0
    assert not (tmp_path / "out" / "leaderboard.html").exists()
    assert gest("sweep", suite, "--output", "out", "--task", "1").returncode == 1
    done = gest("sweep", suite, "--output", "out", "--leaderboard")
    assert done.returncode == 0
    assert "2 of 4 cells are done, 2 to do" in (tmp_path / "out" / "leaderboard.html").read_text()


def test_a_cell_is_one_model_on_one_config(suite: str, gest: Gest, tmp_path: Path) -> None:
    assert gest("sweep", suite, "--output", "out", "--cell", "1").returncode == 0
    assert [path.parent.name for path in (tmp_path / "out").rglob("run.json")] == ["demo_sk_pairs"]
    assert not (tmp_path / "out" / "leaderboard.html").exists()
    assert gest("sweep", suite, "--output", "out", "--cell", "1").returncode == 0
    assert gest("sweep", suite, "--output", "out", "--cell", "2").returncode == 1
    done = gest("sweep", suite, "--output", "out", "--cell", "4")
    assert done.returncode == 2
    assert "--cell 4: the suite has cells 0 to 3." in done.stderr


def test_an_estimate(suite: str, gest: Gest, tmp_path: Path) -> None:
    """What is left, with hours for the models that have finished cells."""
    before = gest("sweep", suite, "--estimate")
    assert before.returncode == 0
    assert "0.00 device-hours" in before.stdout
    assert gest("sweep", suite, "--output", "out", "--task", "0").returncode == 0
    runs = tmp_path / "out" / "runs" / "one"
    shutil.rmtree(runs / "slovak_gender")
    manifest = runs / "demo_sk_pairs" / "run.json"
    content = json.loads(manifest.read_text())
    content["metadata"]["seconds"] = 7200 * content["metadata"]["samples"]
    manifest.write_text(json.dumps(content))
    after = gest("sweep", suite, "--output", "out", "--estimate").stdout
    hours = 2 * load_dataset("gest", "slovak_gender", split="test").num_rows
    assert f"{hours:.2f} device-hours, cost {2 * hours:.2f}" in " ".join(after.split())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--address", "here:1"), "--address needs --engine ray"),
        ((), "--output"),
        (("--output", "out", "--engine", "dask"), "--engine"),
        (("--output", "out", "--task", "99"), "--task 99"),
    ],
)
def test_wrong_use(options: tuple[str, ...], reason: str, gest: Gest) -> None:
    done = gest("sweep", "gest-slavic", *options)
    assert done.returncode == 2
    assert reason in done.stderr
