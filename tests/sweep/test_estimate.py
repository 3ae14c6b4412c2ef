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
from gest_dataset.sweep.estimate import (
    Estimate,
    Queries,
    count_operations,
    count_queries,
    estimate,
    measure_speed,
    model_shape,
    total_hours,
)
from gest_dataset.sweep.suite import SuiteModel, parse_suite
from tests.support import zoo


@pytest.fixture(autouse=True)
def speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "measure_speed", lambda *_: 1e10)


def model(animal: str, **entry: Any) -> SuiteModel:
    content = {"configs": "demo_en", "models": [{"model": str(zoo.directory(animal)), **entry}]}
    return parse_suite(content, "estimate").models[0]


def queries(animal: str, config: str) -> Queries:
    return count_queries(load_empty_model(str(zoo.directory(animal))), config, model(animal))


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
    counted = queries(animal, config)
    passes = score(str(zoo.directory(animal)), config, device="cpu").metadata["passes"]
    assert (counted.inputs, counted.tokens) == (passes["inputs"], passes["tokens"])
    assert counted.decoder_tokens == 0


def test_a_sample_of_the_rows_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    full = queries("bert", "demo_en")
    monkeypatch.setattr(module, "_ROWS", 80)
    sample = queries("bert", "demo_en")
    assert sample.samples == full.samples
    assert sample.tokens == pytest.approx(full.tokens, rel=0.1)


def test_a_decoder_is_counted_apart() -> None:
    shape = model_shape(load_empty_model(str(zoo.directory("t5"))).model)
    assert queries("t5", "demo_en").decoder_tokens > 0
    assert min(shape.decoder, shape.body) > 0


@pytest.mark.parametrize("animal", ["bert", "gpt2", "llama", "phi", "albert"])
def test_operations_are_those_of_a_forward_pass(animal: str) -> None:
    """Compared with torch's counter, without the head."""
    network, _ = zoo.load(animal)
    length, texts = 16, 4
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        network.base_model(torch.ones(texts, length, dtype=torch.long))
    counted = count_operations(model_shape(network), Queries(texts, texts, texts * length, 0, 0, 0.0))
    assert counted == pytest.approx(counter.get_total_flops(), rel=0.15)


def test_the_head_counts_where_it_is_normalised() -> None:
    shape = model_shape(zoo.load("gpt2")[0])
    less, more = (count_operations(shape, Queries(1, 1, 10, 0, number, 0.0)) for number in (0, 3))
    assert more - less == 3 * 2 * shape.width * shape.vocabulary


def test_no_weights_are_read(tmp_path: Path) -> None:
    shutil.copytree(zoo.directory("bert"), tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    loaded = load_empty_model(str(tmp_path / "bare"))
    assert {parameter.device.type for parameter in loaded.model.parameters()} == {"meta"}
    assert model_shape(loaded.model).parameters == zoo.load("bert")[0].num_parameters()


def test_an_estimate_is_the_sum_of_its_configs() -> None:
    configs = ["demo_en", "slovak_gender"]
    both = estimate(model("bert"), configs)
    parts = [estimate(model("bert"), [config]) for config in configs]
    assert both.problem == ""
    assert both.tokens == pytest.approx(sum(one.tokens for one in parts))
    assert both.operations == pytest.approx(sum(one.operations or 0 for one in parts))
    assert both.memory is not None
    assert both.memory > 4 * (both.parameters or 0)
    with_null = estimate(model("bert", null=2), ["demo_en"])
    assert with_null.operations == pytest.approx(3 * (parts[0].operations or 0))
    nothing = estimate(model("bert"), [])
    assert (nothing.seconds, nothing.tokens) == (0.0, 0)


def test_a_served_model_is_not_estimated() -> None:
    content = {"configs": "demo_en", "models": [{"model": "m", "endpoint": "http://host:1"}]}
    found = estimate(parse_suite(content, "served").models[0], ["demo_en"])
    assert found.seconds is None
    assert "served model" in found.problem


def test_hours_on_several_devices_are_at_least_those_of_the_longest_model() -> None:
    estimates = [Estimate(str(n), 1, seconds=seconds) for n, seconds in enumerate((3600.0, 1800.0, 1800.0))]
    assert [total_hours(estimates, devices) for devices in (1, 2, 8)] == [(2.0, 2.0), (2.0, 1.0), (2.0, 1.0)]


def test_the_speed_of_this_machine_is_measured() -> None:
    assert measure_speed(torch.device("cpu"), torch.float32, 64, 512) > 1e6
