"""Half precision on a CPU: its error is measured on some samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

import gest_dataset
from gest_dataset.models import score_run
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


def _half(config: str, model: Any, **more: Any) -> Any:
    return gest_dataset.score(model, config, device="cpu", dtype="bfloat16", **more)


@pytest.mark.parametrize("given", [str, tuple])
def test_the_error_is_that_of_the_scores(given: type) -> None:
    model = str(zoo.directory("bert")) if given is str else zoo.load("bert")
    half = _half("en", model, limit=6, templates=[1, 3])
    exact = gest_dataset.score(model, "en", limit=6, templates=[1, 3], device="cpu", dtype="float32")
    differences = np.abs(np.array(half.table["log_ratio"]) - np.array(exact.table["log_ratio"]))
    error = half.metadata["precision"]
    assert error["samples"] == 12
    assert error["median"] == pytest.approx(np.median(differences), abs=1e-4)
    assert error["largest"] == pytest.approx(differences.max(), abs=1e-4)
    assert any("(median)" in note for note in half.metadata["notes"])
    assert "precision" not in exact.metadata


def test_some_of_many_samples_and_every_template_are_scored_again() -> None:
    assert (
        _half("en", zoo.load("bert"), templates=[1]).metadata["precision"]["samples"]
        == score_run.PRECISION_SAMPLES
    )
    ids = [str(n) for n in range(100)]
    once = pa.table({"id": ids, "template": [3 if n == "50" else 1 for n in ids]})
    assert {"0", "50", "99"} <= score_run.sample_ids(once)


def test_probabilities_are_compared_as_log_ratios() -> None:
    half = _half("stereoset_en_intrasentence", zoo.load("gpt2"), limit=4)
    exact = gest_dataset.score(zoo.load("gpt2"), "stereoset_en_intrasentence", limit=4, device="cpu")
    ratios = [
        np.log(np.array(scores.table["stereotype"]) / np.array(scores.table["antistereotype"]))
        for scores in (half, exact)
    ]
    largest = np.abs(ratios[0] - ratios[1]).max()
    assert half.metadata["precision"]["largest"] == pytest.approx(largest, rel=0.01)


def test_a_planted_error_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    model = zoo.load("bert")
    honest = _half("en", model, limit=6, templates=[1]).metadata["precision"]["median"]
    forward = torch.nn.Linear.forward

    def lossy(layer: torch.nn.Linear, inputs: torch.Tensor) -> torch.Tensor:
        output = forward(layer, inputs)
        return (output * 4).round() / 4 if inputs.dtype == torch.bfloat16 else output

    monkeypatch.setattr(torch.nn.Linear, "forward", lossy)
    assert _half("en", model, limit=6, templates=[1]).metadata["precision"]["median"] > 3 * honest


def test_a_run_ends_without_memory_for_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_memory(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(score_run, "precision_error", out_of_memory)
    half = _half("en", zoo.load("bert"), limit=6, templates=[1])
    assert "precision" not in half.metadata
    assert "bfloat16: its error was not measured (CUDA out of memory)" in half.metadata["notes"]
