"""The plan: what it counts is what a run asks, and what it computes is what a model computes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from gest_dataset.models.loading import load_empty_model
from gest_dataset.models.score import score
from gest_dataset.sweep import device, plan
from gest_dataset.sweep.device import Speed, measure
from gest_dataset.sweep.grid import Cell, Row
from gest_dataset.sweep.looking import Look, rough_size
from gest_dataset.sweep.plan import Questions, estimate, operations, questions, shape_of, total
from gest_dataset.sweep.suite import suite_of
from tests.conftest import in_one_thread
from tests.support import zoo

SPEED = Speed("cpu", "float32", (64, 768), (1e9, 1e10), 0.5)


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[None]:
    with in_one_thread():
        yield


def row(animal: str, *configs: str, **told: Any) -> Row:
    entry = {"model": str(zoo.directory(animal)), **told}
    (subject,) = suite_of({"configs": list(configs), "models": [entry]}, "plan").checked().subjects
    return Row(subject, Look("", 0), dict.fromkeys(configs, Cell()))


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
def test_the_questions_are_those_of_a_run(animal: str, config: str) -> None:
    asked = questions(load_empty_model(str(zoo.directory(animal))), config, row(animal, config))
    passes = score(str(zoo.directory(animal)), config, device="cpu").metadata["passes"]
    assert asked.inputs == passes["inputs"]
    assert asked.tokens == passes["tokens"]
    assert asked.decoder_tokens == 0


def test_of_many_rows_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = questions(load_empty_model(str(zoo.directory("bert"))), "demo_en", row("bert", "demo_en"))
    monkeypatch.setattr(plan, "_ROWS", 80)
    part = questions(load_empty_model(str(zoo.directory("bert"))), "demo_en", row("bert", "demo_en"))
    assert part.rows == whole.rows
    assert part.tokens == pytest.approx(whole.tokens, rel=0.1)


def test_the_decoder_of_a_pair_is_counted_apart() -> None:
    asked = questions(load_empty_model(str(zoo.directory("t5"))), "demo_en", row("t5", "demo_en"))
    assert asked.decoder_tokens > 0
    shape = shape_of(load_empty_model(str(zoo.directory("t5"))).model)
    assert shape.decoder > 0
    assert shape.body > 0


@pytest.mark.parametrize("animal", ["bert", "gpt2", "llama", "mistral", "phi", "qwen2", "albert", "roberta"])
def test_the_operations_are_those_of_a_forward_pass(animal: str) -> None:
    """Without the head: the counter of torch counts what the layers compute."""
    model, _ = zoo.load(animal)
    length, texts = 16, 4
    body = model.base_model
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        body(torch.ones(texts, length, dtype=torch.long))
    asked = Questions(texts, texts, texts, texts * length, 0, 0, 0.0)
    assert operations(shape_of(model), asked) == pytest.approx(counter.get_total_flops(), rel=0.15)


def test_the_head_counts_where_it_is_asked_about_all_words() -> None:
    model, _ = zoo.load("gpt2")
    shape = shape_of(model)
    less, more = (operations(shape, Questions(1, 1, 1, 10, 0, number, 0.0)) for number in (0, 3))
    assert more - less == 3 * 2 * shape.width * shape.vocabulary


def test_no_weights_are_read(tmp_path: Path) -> None:
    shutil.copytree(zoo.directory("bert"), tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    loaded = load_empty_model(str(tmp_path / "bare"))
    assert {parameter.device.type for parameter in loaded.model.parameters()} == {"meta"}
    assert shape_of(loaded.model).parameters == zoo.load("bert")[0].num_parameters()


def test_an_estimate_adds_up() -> None:
    found = estimate(row("bert", "demo_en", "slovak_gender"), {"auto": SPEED})
    alone = [estimate(row("bert", config), {"auto": SPEED}) for config in ("demo_en", "slovak_gender")]
    assert found.problem == ""
    assert found.tokens == pytest.approx(sum(one.tokens for one in alone))
    assert found.operations == pytest.approx(sum(one.operations or 0 for one in alone))
    assert found.memory is not None
    assert found.memory > 4 * (found.parameters or 0)
    twins = estimate(row("bert", "demo_en", null=2), {"auto": SPEED})
    assert twins.operations == pytest.approx(3 * (alone[0].operations or 0))


def test_what_is_done_takes_nothing() -> None:
    done = row("bert", "demo_en").with_cell("demo_en", Cell("done"))
    assert (estimate(done, {"auto": SPEED}).seconds, estimate(done, {"auto": SPEED}).tokens) == (0.0, 0)


def test_of_a_server_nothing_is_known() -> None:
    served = row("bert", "demo_en")
    (subject,) = suite_of(
        {"configs": "demo_en", "models": [{"model": "m", "endpoint": "http://host:1"}]}, "plan"
    ).subjects
    found = estimate(Row(subject, served.look, served.cells), {})
    assert found.seconds is None
    assert "behind a server" in found.problem


def test_hours_on_several_devices() -> None:
    made = [plan.Estimate(str(n), 1, seconds=seconds) for n, seconds in enumerate((3600.0, 1800.0, 1800.0))]
    assert total(made, 1) == (2.0, 2.0)
    assert total(made, 2) == (2.0, 1.0)
    assert total(made, 8) == (2.0, 1.0)  # the longest model


def test_the_speed_between_two_widths() -> None:
    assert SPEED.at(64) == pytest.approx(1e9)
    assert SPEED.at(768) == SPEED.at(5000) == pytest.approx(1e10)
    assert 1e9 < SPEED.at(300) < 1e10


def test_a_measurement_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_WIDTHS", (64, 128))
    monkeypatch.setattr(device, "_SECONDS", 0.01)
    found = measure("cpu", "float32")
    assert (found.device, found.dtype, found.widths) == ("cpu", "float32", (64, 128))
    assert all(speed > 1e6 for speed in found.operations)
    assert found.statistic > 0


@pytest.mark.parametrize(
    ("settings", "parameters"),
    [
        (
            {"hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072, "vocab_size": 30522},
            110e6,
        ),
        ({"n_embd": 1600, "n_layer": 48, "vocab_size": 50257}, 1557e6),
        (
            {"hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336, "vocab_size": 32000},
            7241e6,
        ),
        ({"text_config": {"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100}}, 0.12e6),
    ],
)
def test_a_rough_size_is_of_the_right_order(settings: dict[str, Any], parameters: float) -> None:
    assert 0.6 < rough_size(settings) / parameters < 1.6
