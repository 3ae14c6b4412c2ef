"""Code beside a model, in a suite's folder or in a pickle runs only with consent on the command line."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from gest_dataset.sweep.run import submit_to_slurm
from gest_dataset.sweep.suite import parse_suite
from tests.conftest import Gest
from tests.models.test_foreign_code import plant
from tests.support import zoo

pytestmark = pytest.mark.attack
# Modules that a sweep imports, also in its workers
_SHADOWED = ("multiprocessing", "torch", "yaml", "gest_dataset", "ray", "peft", "kernels", "sitecustomize")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(zoo.directory("bert"), tmp_path / "model"))


def test_a_suite_cannot_consent(gest: Gest, model: Path, tmp_path: Path) -> None:
    marker = tmp_path / "it-ran"
    plant(model, marker, "config.json")
    suite = tmp_path / "suite.yaml"
    for line in ("trust_remote_code: true\n", ""):
        suite.write_text(f"{line}models: [{model}]\nconfigs: en\nlimit: 20\n")
        done = gest("sweep", suite, "--estimate")
        assert done.returncode == 2
        assert "--trust-remote-code" in done.stderr
    assert not marker.exists()
    assert gest("sweep", suite, "--estimate", "--trust-remote-code").returncode == 0
    assert marker.exists()


def shadow(folder: Path) -> Path:
    """Modules in a folder that would leave a trace and fail; returns the trace."""
    trace = folder / "a-module-of-the-folder-ran"
    for name in _SHADOWED:
        (folder / f"{name}.py").write_text(f"open({str(trace)!r}, 'w')\nraise ImportError('planted')\n")
    return trace


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_sweep_imports_nothing_from_the_current_folder(
    engine: str, model: Path, tmp_path: Path, script_environment: Mapping[str, str]
) -> None:
    if engine == "ray":
        pytest.importorskip("ray", reason="the extra `ray` is not installed")
    trace = shadow(tmp_path)
    (tmp_path / "suite.yaml").write_text("models: [model]\nconfigs: demo_sk_pairs\ngpus: 0\n")
    program = str(Path(sys.executable).with_name("gest"))
    command = [program, "sweep", "suite.yaml", "--output", "out", "--engine", engine]
    done = subprocess.run(command, cwd=tmp_path, env=script_environment, capture_output=True, text=True)
    assert not trace.exists()
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "runs" / "model" / "demo_sk_pairs" / "result.json").exists()


def test_a_slurm_job_imports_nothing_from_its_folder(
    model: Path, tmp_path: Path, script_environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = parse_suite({"models": [str(model)], "configs": "demo_sk_pairs"}, "s", trust_remote_code=True)
    monkeypatch.setattr("gest_dataset.sweep.run._sbatch", lambda *arguments: "1")
    submit_to_slurm(suite, tmp_path / "suite.yaml", tmp_path / "out")
    trace = shadow(tmp_path)
    script = tmp_path / "out" / "slurm.sh"
    assert "--trust-remote-code" in script.read_text()
    done = subprocess.run(
        ["bash", str(script)], cwd=tmp_path, env=script_environment, capture_output=True, text=True
    )
    assert not trace.exists()
    assert "suite.yaml does not exist" in done.stderr


class _Payload:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> object:
        return Path.touch, (self.marker,)


@pytest.mark.usefixtures("one_thread")
def test_pickled_weights_run_nothing(gest: Gest, model: Path, tmp_path: Path) -> None:
    marker = tmp_path / "it-ran"
    (model / "model.safetensors").unlink()
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(_Payload(marker)))
    done = gest("score", model, "--limit", "20", "--device", "cpu")
    assert done.returncode == 1
    torch.save({"bert": _Payload(marker)}, model / "pytorch_model.bin")
    done = gest("score", model, "--limit", "20", "--device", "cpu")
    assert done.returncode == 1
    assert not marker.exists()


@pytest.mark.parametrize("chat", [False, True])
def test_an_adapter_is_refused_by_name(chat: bool, gest: Gest, model: Path) -> None:
    """With peft installed, transformers would add it, or load another base model; without, ignore it."""
    adapter = {"peft_type": "LORA", "base_model_name_or_path": "somebody/else", "target_modules": ["query"]}
    (model / "adapter_config.json").write_text(json.dumps(adapter))
    command = ("ask",) if chat else ("score",)
    done = gest(*command, model, "--limit", "20", "--device", "cpu")
    assert done.returncode == 1
    assert "adapter_config.json" in done.stderr
    assert "merge" in done.stderr


def test_unused_weights_are_named(gest: Gest, model: Path) -> None:
    weights = load_file(model / "model.safetensors")
    save_file({**weights, "extra.lora_A": torch.ones(2)}, model / "model.safetensors", {"format": "pt"})
    done = gest("score", model, "--limit", "20", "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    (note,) = (note for note in json.loads(done.stdout)["runs"][0]["metadata"]["notes"] if "extra" in note)
    assert note == "weights of the checkpoint that BertForMaskedLM does not use: extra.lora_A"
