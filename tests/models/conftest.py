"""Tests with models of the zoo are slow, except with one or two models of each kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from gest_dataset.models import loading, packed_linear

FAST = {"bert", "bert-bent", "gpt2", "t5", "bert-nsp"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the other models as slow."""
    for item in items:
        parameters = getattr(item, "callspec", None)
        animal = parameters.params.get("animal", "bert") if parameters else "bert"
        if Path(__file__).parent in item.path.parents and animal not in FAST:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading weights fails the test."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the weights are read")

    for auto_class, _ in loading._KINDS.values():
        monkeypatch.setattr(auto_class, "from_pretrained", refuse)


@pytest.fixture
def bfloat16_layers() -> None:
    """Linear layers can be packed in bfloat16, which takes AVX-512 or newer instructions."""
    try:
        packed_linear._pack(torch.zeros(64, 64, dtype=torch.bfloat16))
    except RuntimeError as error:
        pytest.skip(str(error))
