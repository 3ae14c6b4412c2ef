"""Half precision on a CPU: its error is measured on some samples, and a slow CPU is noted."""

from __future__ import annotations

from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pytest
import torch

import gest_dataset
from gest_dataset.models import precision
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


def half(config: str, model: Any, **more: Any) -> Any:
    return gest_dataset.score(model, config, device="cpu", dtype="bfloat16", **more)


@pytest.mark.parametrize("given", [str, tuple])
def test_the_error_is_that_of_the_scores(given: type) -> None:
    """Of a folder and of loaded objects: on all samples, where they are few."""
    model = str(zoo.directory("bert")) if given is str else zoo.load("bert")
    found = half("en", model, limit=6, templates=[1, 3])
    exact = gest_dataset.score(model, "en", limit=6, templates=[1, 3], device="cpu", dtype="float32")
    differences = np.abs(np.array(found.table["log_ratio"]) - np.array(exact.table["log_ratio"]))
    error = found.metadata["precision"]
    assert error["samples"] == 12
    assert error["median"] == pytest.approx(np.median(differences), abs=1e-4)
    assert error["largest"] == pytest.approx(differences.max(), abs=1e-4)
    assert 0 < error["median"] <= error["largest"] < 0.5
    (note,) = [note for note in found.metadata["notes"] if "(median)" in note]
    assert note.startswith(f"bfloat16 changes ln P(w_m) − ln P(w_f) by {error['median']:.2g} (median)")
    assert "precision" not in exact.metadata


def test_some_of_many_samples_are_scored_again() -> None:
    found = half("en", zoo.load("bert"), templates=[1])
    assert found.table.num_rows > precision.SAMPLES
    assert found.metadata["precision"]["samples"] == precision.SAMPLES
    many = pa.table({"id": [str(n) for n in range(100)]})
    assert precision.sample_ids(many)[0] == "0"
    assert precision.sample_ids(many)[-1] == "99"
    assert len(precision.sample_ids(many)) == len(set(precision.sample_ids(many))) == precision.SAMPLES
    assert precision.sample_ids(many.slice(0, 3)) == ["0", "1", "2"]


def test_every_template_has_a_sample() -> None:
    """Else nothing of it could be asked in float32, which is an error."""
    once = pa.table(
        {"id": [str(n) for n in range(100)], "template": [3 if n == 50 else 1 for n in range(100)]}
    )
    assert "50" in precision.sample_ids(once)


def test_probabilities_are_compared_as_log_ratios() -> None:
    """A probability of 1e-6 that is wrong by a half is no small error."""
    found = half("stereoset_en_intrasentence", zoo.load("gpt2"), limit=4)
    exact = gest_dataset.score(zoo.load("gpt2"), "stereoset_en_intrasentence", limit=4, device="cpu").table
    own, theirs = (
        np.log(np.array(table["stereotype"]) / np.array(table["antistereotype"]))
        for table in (found.table, exact)
    )
    assert found.metadata["precision"]["largest"] == pytest.approx(np.abs(own - theirs).max(), rel=0.01)
    assert "ln of stereotype / anti-stereotype" in found.metadata["notes"][-1]


def test_a_planted_error_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that lose more than bfloat16 does show."""
    model, tokenizer = zoo.load("bert")
    honest = half("en", (model, tokenizer), limit=6, templates=[1]).metadata["precision"]["median"]
    made = torch.nn.Linear.forward

    def lossy(layer: torch.nn.Linear, given: torch.Tensor) -> torch.Tensor:
        answer = made(layer, given)
        return (answer * 4).round() / 4 if given.dtype == torch.bfloat16 else answer

    monkeypatch.setattr(torch.nn.Linear, "forward", lossy)
    assert half("en", (model, tokenizer), limit=6, templates=[1]).metadata["precision"]["median"] > 3 * honest


@pytest.mark.parametrize(
    ("units", "slow"), [((False, False), True), ((False, True), False), ((True, True), False)]
)
def test_a_cpu_without_a_bfloat16_unit(
    monkeypatch: pytest.MonkeyPatch, units: tuple[bool, bool], slow: bool
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: units[0])
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: units[1])
    notes = half("en", zoo.load("bert"), limit=2, templates=[1]).metadata["notes"]
    assert any("this CPU has no fast unit for bfloat16" in note for note in notes) is slow


def test_float32_that_does_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Little:
        available = 1000

    monkeypatch.setattr(psutil, "virtual_memory", Little)
    found = half("en", zoo.load("bert"), limit=2, templates=[1])
    assert "precision" not in found.metadata
    assert "is not measured: float32 does not fit" in found.metadata["notes"][-1]
