"""The hashes that identify a model: every weight and every behaviour of the tokenizer counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from gest_dataset.models.identity import fingerprint, model_hash, tokenizer_behaviour
from gest_dataset.models.loading import load_model
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


CHANGES: dict[str, Callable[[Any], object]] = {
    "limit": lambda tokenizer: setattr(tokenizer, "model_max_length", 7),
    "start": lambda tokenizer: setattr(tokenizer, "bos_token", "he"),
    "padding": lambda tokenizer: setattr(tokenizer, "pad_token", "he"),
    "side": lambda tokenizer: setattr(tokenizer, "truncation_side", "left"),
    "more special": lambda tokenizer: tokenizer.add_special_tokens({"additional_special_tokens": ["he"]}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_settings_are_part_of_the_behaviour(what: str) -> None:
    _, tokenizer = zoo.load("gpt2")
    before = tokenizer_behaviour(tokenizer)
    tokenizer("He said.", truncation=True, max_length=2)
    assert tokenizer_behaviour(tokenizer) == before
    CHANGES[what](tokenizer)
    assert tokenizer_behaviour(tokenizer) != before


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.bool])
def test_swapped_weights_have_another_hash(dtype: torch.dtype) -> None:
    row = torch.arange(12).reshape(3, 4).remainder(5).to(dtype)
    swapped = row.clone()
    swapped[1, [0, 2]] = row[1, [2, 0]]
    scale = torch.tensor(2.0)
    if dtype == torch.bool:
        swapped[0, 0] = ~row[0, 0]
    assert not torch.equal(row, swapped)
    own, *others = (
        model_hash(SimpleNamespace(state_dict=lambda w=weight: {"w": w, "scale": scale}))
        for weight in (row, swapped, row.reshape(4, 3), row.t().contiguous().t())
    )
    assert own not in others[:2]
    assert own == others[2]


def test_swapped_biases_have_another_hash(tmp_path: Path) -> None:
    model, tokenizer = zoo.load("bert")
    before = fingerprint(model, tokenizer)
    with torch.no_grad():
        model.cls.predictions.bias[[5, 9]] = torch.tensor([1.0, 2.0])
        other = fingerprint(model, tokenizer)
        model.cls.predictions.bias[[5, 9]] = torch.tensor([2.0, 1.0])
    marks = {mark["weights"] for mark in (before, other, fingerprint(model, tokenizer))}
    assert len(marks) == 3


def test_the_attention_implementation_is_part_of_a_run() -> None:
    """In half precision, and in some architectures, implementations differ by more than rounding."""
    folder, found = zoo.directory("gpt2"), []
    for attention in ("eager", "sdpa"):
        model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation=attention)
        loaded = load_model((model, AutoTokenizer.from_pretrained(folder)))
        found.append(loaded.settings()["attention"])
    assert found == ["eager", "sdpa"]
