"""Estimates: the queries are those of a run, and the operations those of a forward pass."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from gest_dataset.models.loading import load_empty_model
from gest_dataset.models.score import score
from gest_dataset.sweep import estimate as module
from gest_dataset.sweep.estimate import Work, count_operations, estimate, measure_speed, measure_work
from gest_dataset.sweep.suite import SuiteModel, parse_suite
from tests.support import zoo


@pytest.fixture(autouse=True)
def speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "measure_speed", lambda *_: 1e10)


def model(animal: str, **entry: Any) -> SuiteModel:
    content = {"configs": "demo_en", "models": [{"model": str(zoo.directory(animal)), **entry}]}
    return parse_suite(content, "estimate").models[0]


def work(animal: str, config: str) -> Work:
    return measure_work(load_empty_model(str(zoo.directory(animal))), config, model(animal))


@pytest.mark.parametrize(
    ("animal", "config"),
    [
        ("bert", "demo_en"),
        ("bert", "demo_sk_pairs"),
        ("bert", "stereoset_control_gender"),
        ("gpt2", "demo_en"),
        ("gpt2", "stereoset_en_intersentence"),
    ],
)
def test_the_queries_are_those_of_a_run(animal: str, config: str) -> None:
    counted = work(animal, config)
    passes = score(str(zoo.directory(animal)), config, device="cpu").metadata["passes"]
    assert (counted.inputs, counted.tokens) == (passes["inputs"], passes["tokens"])


def test_a_sample_of_the_rows_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    full = work("bert", "demo_en")
    monkeypatch.setattr(module, "_ROWS", 80)
    sample = work("bert", "demo_en")
    assert sample.tokens == pytest.approx(full.tokens, rel=0.1)
    assert sample.operations == pytest.approx(full.operations, rel=0.1)


@pytest.mark.parametrize("animal", ["bert", "gpt2", "llama", "phi", "albert", "t5"])
def test_operations_are_those_of_a_forward_pass(animal: str, tmp_path: Path) -> None:
    """Compared with torch's counter on the real model; the estimate reads no weights."""
    bare = Path(shutil.copytree(zoo.directory(animal), tmp_path / "bare"))
    (bare / "model.safetensors").unlink()
    network, _ = zoo.load(animal)
    inputs = {"input_ids": torch.ones(1, 16, dtype=torch.long)}
    if animal == "t5":
        inputs["decoder_input_ids"] = torch.ones(1, 4, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        network.base_model(**inputs)
    empty = load_empty_model(str(bare))
    assert {parameter.device.type for parameter in empty.model.parameters()} == {"meta"}
    assert count_operations(empty, 16, 4) == pytest.approx(counter.get_total_flops(), rel=0.15)


def test_an_estimate_is_the_sum_of_its_configs() -> None:
    configs = ["demo_en", "slovak_gender"]
    both = estimate(model("bert"), configs)
    parts = [estimate(model("bert"), [config]) for config in configs]
    for name in ("cells", "tokens", "FLOP"):
        assert both[name] == pytest.approx(sum(one[name] for one in parts))
    assert both["memory"] > 4 * both["size"]
    with_null = estimate(model("bert", null=2), ["demo_en"])
    assert with_null["FLOP"] == pytest.approx(3 * parts[0]["FLOP"])
    nothing = estimate(model("bert"), [])
    assert (nothing["hours"], nothing["tokens"]) == (0.0, 0)


def test_the_speed_of_this_machine_is_measured() -> None:
    assert measure_speed(torch.device("cpu"), torch.float32, 64, 512) > 1e6
