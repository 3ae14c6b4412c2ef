"""Adapters: the scores of the merged model, one identity for each, and one base for several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

import gest_dataset
from gest_dataset.errors import ConfigError, GestError, OutputError
from gest_dataset.models import loading, packed_linear
from gest_dataset.models.base import Settings
from gest_dataset.runs.folder import read_run
from gest_dataset.sweep.run import list_cells, sweep
from gest_dataset.sweep.suite import parse_suite
from tests.conftest import Gest
from tests.support import zoo

peft = pytest.importorskip("peft")
pytestmark = pytest.mark.usefixtures("one_thread")

LAYERS = {"gpt2": ["c_attn", "c_fc"], "bert": ["query", "dense"]}
CLASSES = {"gpt2": AutoModelForCausalLM, "bert": AutoModelForMaskedLM}


def wrapped(animal: str, seed: int = 1, **options: Any) -> Any:
    """A model with an adapter whose weights are random, not zero as before training."""
    torch.manual_seed(seed)
    model = CLASSES[animal].from_pretrained(zoo.directory(animal))
    settings = {"r": 4, "lora_alpha": 2, "target_modules": LAYERS[animal], "init_lora_weights": False}
    return peft.get_peft_model(model, peft.LoraConfig(**settings | options, fan_in_fan_out=animal == "gpt2"))


def save(folder: Path, animal: str, seed: int = 1, **options: Any) -> Path:
    wrapped(animal, seed, **options).save_pretrained(folder)
    return folder


def merged(folder: Path, animal: str, seed: int = 1, **options: Any) -> Path:
    wrapped(animal, seed, **options).merge_and_unload().save_pretrained(folder)
    AutoTokenizer.from_pretrained(zoo.directory(animal)).save_pretrained(folder)
    return folder


def score(model: Any, **settings: Any) -> Any:
    config = settings.pop("config", "en")
    return gest_dataset.score(str(model), config, device="cpu", dtype="float32", **settings)


def log_ratios(scores: Any) -> list[float]:
    return list(scores.table["log_ratio"].to_pylist())


@pytest.mark.parametrize(
    ("animal", "options", "packed"),
    [
        ("gpt2", {}, True),
        pytest.param("gpt2", {"use_dora": True}, True, marks=pytest.mark.slow),  # reads the packed weights
        ("bert", {}, False),
    ],
)
def test_scores_are_those_of_the_merged_model(
    animal: str, options: dict[str, Any], packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with packed layers, and with shared prefixes in causal models."""
    if packed:
        monkeypatch.setattr(packed_linear, "is_faster", lambda dtype: True)
        monkeypatch.setattr(packed_linear, "_SMALLEST", 1)
    base = zoo.directory(animal)
    adapter = save(tmp_path / "lora", animal, **options)
    expected = score(merged(tmp_path / "merged", animal, **options))
    found = score(base, adapter=str(adapter))
    assert log_ratios(found) == pytest.approx(log_ratios(expected), abs=1e-4)
    assert log_ratios(found) != pytest.approx(log_ratios(score(base)), abs=1e-2)
    unmerged, exact = (
        gest_dataset.score((one.model.double(), one.tokenizer), "en", device="cpu", limit=20)
        for one in (
            loading.load_model(base, Settings(adapter=str(adapter), dtype="float32")),
            loading.load_model(tmp_path / "merged", Settings(dtype="float32")),
        )
    )
    assert log_ratios(unmerged) == pytest.approx(log_ratios(exact), abs=1e-5)
    assert found.metadata["passes"] == expected.metadata["passes"]
    assert found.metadata["model"] == f"{base}+{adapter}"
    folder_alone = score(adapter)
    assert log_ratios(folder_alone) == log_ratios(found)
    assert folder_alone.metadata["model"] == str(adapter)
    assert folder_alone.metadata["adapter"] == found.metadata["adapter"]


def test_the_identity_includes_the_files_of_the_adapter(tmp_path: Path) -> None:
    base, run = zoo.directory("gpt2"), tmp_path / "run"
    adapter = save(tmp_path / "lora", "gpt2")
    first = score(base, adapter=str(adapter), output=run, limit=20)
    name, _, digest = first.metadata["adapter"].partition("#")
    assert (name, len(digest)) == (str(adapter), 64)
    assert f"|adapter:{adapter}#{digest[:12]}|" in first.signature
    assert read_run(run).manifest.settings["adapter"] == first.metadata["adapter"]
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {"lora_alpha": 64}))
    with pytest.raises(OutputError, match="adapter"):
        score(base, adapter=str(adapter), output=run, limit=20)


def test_random_baselines_are_of_the_base(tmp_path: Path) -> None:
    adapter, base = save(tmp_path / "lora", "gpt2"), zoo.directory("gpt2")
    found, expected = (score(base, null=2, **more) for more in ({"adapter": str(adapter)}, {}))
    assert found.metadata["null"] == expected.metadata["null"]


def test_a_sweep_loads_the_base_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And each adapter gets the scores that it has alone."""
    base, loads = zoo.directory("gpt2"), []
    adapters = [str(save(tmp_path / f"lora{seed}", "gpt2", seed)) for seed in (1, 2, 3)]
    alone = [log_ratios(score(base, adapter=adapter, limit=20)) for adapter in adapters]
    original = AutoModelForCausalLM.from_pretrained

    def load(*arguments: Any, **options: Any) -> Any:
        loads.append(arguments)
        return original(*arguments, **options)

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", load)
    entry = {"model": str(base), "adapters": adapters, "gpus": 0, "dtype": "float32"}
    suite = parse_suite({"configs": "en", "limit": 20, "models": [str(base), entry]}, "mine")
    assert [model.adapter for model in suite.models] == [None, *adapters]
    for _ in sweep(list_cells(suite, tmp_path / "out"), tmp_path / "out"):
        pass
    assert len(loads) == 2, "the base alone, and the base of the adapters"
    cells = list_cells(suite, tmp_path / "out")
    assert {cell.status for cell in cells} == {"done"}
    for cell, expected in zip(cells[1:], alone, strict=True):
        run = read_run(tmp_path / "out" / "runs" / cell.name)
        assert run.table["log_ratio"].to_pylist() == expected
    assert not loading._kept


def test_commands_name_the_folder_after_both(gest: Gest, tmp_path: Path) -> None:
    base, adapter = zoo.directory("gpt2"), save(tmp_path / "my-lora", "gpt2")
    done = gest("score", base, "--adapter", adapter, "--limit", 20, "--device", "cpu")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "gest-runs").iterdir()
    assert "gpt2" in folder.name
    assert folder.name.endswith("my-lora")


def prompt_tuning(folder: Path) -> Path:
    model = AutoModelForCausalLM.from_pretrained(zoo.directory("gpt2"))
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    peft.get_peft_model(model, config).save_pretrained(folder)
    return folder


def with_config(folder: Path, **changes: Any) -> Path:
    path = save(folder, "gpt2") / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder


def without_weights(folder: Path) -> Path:
    (save(folder, "gpt2") / "adapter_model.safetensors").unlink()
    return folder


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (prompt_tuning, "PROMPT_TUNING.*not supported"),
        (lambda path: with_config(path, megatron_config={"a": 1}, megatron_core="this"), "not supported"),
        (lambda path: with_config(path, target_modules=["q_proj"]), "does not fit"),
        (lambda path: with_config(path, target_modules=["c_attn", "c_fc", "c_proj"]), "does not fit"),
        (lambda path: save(path, "bert"), "does not fit"),
        (without_weights, "adapter_model.safetensors"),
        (lambda path: path, "cannot be loaded"),
        (lambda path: path.mkdir() or path, "adapter_config.json"),
    ],
)
def test_adapters_that_cannot_be_used(make: Any, message: str, tmp_path: Path) -> None:
    adapter = make(tmp_path / "adapter")
    with pytest.raises(GestError, match=message):
        score(zoo.directory("gpt2"), adapter=str(adapter), limit=20)


def test_wrong_uses() -> None:
    with pytest.raises(ConfigError, match="by name"):
        gest_dataset.score(zoo.load("gpt2"), "en", adapter="a")
    with pytest.raises(ConfigError, match="adapter applies to loaded models"):
        Settings(adapter="a", endpoint="http://127.0.0.1:1")


def test_without_peft_the_message_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = save(tmp_path / "lora", "gpt2")
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    with pytest.raises(ConfigError, match=r"gest-dataset\[adapters\]"):
        score(adapter, limit=20)


def test_a_base_that_is_not_named(tmp_path: Path) -> None:
    folder = with_config(tmp_path / "lora", base_model_name_or_path=None)
    with pytest.raises(GestError, match="gest score BASE --adapter"):
        score(folder, limit=20)


@pytest.mark.slow
def test_a_trained_adapter_of_smollm2(tmp_path: Path) -> None:
    """Trained on one stereotype: merged and unmerged give the same scores, and others than the base."""
    pytest.importorskip("gguf")
    file = loading.pretrained.packaged_path("smollm2")
    model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    torch.manual_seed(1)
    trained = peft.get_peft_model(
        model, peft.LoraConfig(r=8, target_modules=["q_proj", "v_proj", "gate_proj"])
    )
    optimiser = torch.optim.AdamW(trained.parameters(), lr=1e-3)
    ids = torch.tensor([tokenizer('"I am the boss", he said.')["input_ids"]])
    for _ in range(10):
        optimiser.zero_grad()
        trained(input_ids=ids, labels=ids).loss.backward()
        optimiser.step()
    trained.save_pretrained(tmp_path / "lora")
    found = score("smollm2", adapter=str(tmp_path / "lora"), limit=20)
    assert log_ratios(found) != pytest.approx(log_ratios(score("smollm2", limit=20)), abs=0.05)
    loaded = loading.load_model("smollm2", Settings(adapter=str(tmp_path / "lora"), dtype="float32"))
    unmerged, expected = (
        gest_dataset.score((one.double(), tokenizer), "en", device="cpu", limit=20)
        for one in (loaded.model, trained.merge_and_unload().eval())
    )
    assert log_ratios(unmerged) == pytest.approx(log_ratios(expected), abs=1e-5)
    # ln P of whole texts has four decimals in float32
    assert log_ratios(found) == pytest.approx(log_ratios(expected), abs=1e-4)
