"""Half precision on a CPU: its error beside float32 is measured and told, and a CPU that is slow at it."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pytest
import torch

import gest_dataset
from gest_dataset.models import device, precision
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
    told = found.metadata["precision"]
    assert told["samples"] == 12
    assert told["median"] == pytest.approx(np.median(differences), abs=1e-4)
    assert told["largest"] == pytest.approx(differences.max(), abs=1e-4)
    assert 0 < told["median"] <= told["largest"] < 0.5
    (note,) = [note for note in found.metadata["notes"] if "in the median" in note]
    assert note == (
        f"bfloat16 moves ln P(w_m) − ln P(w_f) by {told['median']:.2g} in the median and by "
        f"{told['largest']:.2g} at most, on 12 samples that were asked in float32 too"
    )
    assert "precision" not in exact.metadata


def test_of_many_samples_some_are_asked_again() -> None:
    found = half("en", zoo.load("bert"), templates=[1])
    assert found.table.num_rows > precision.SAMPLES
    assert found.metadata["precision"]["samples"] == precision.SAMPLES
    many = pa.table({"id": [str(n) for n in range(100)]})
    assert precision.some(many)[0] == "0"
    assert precision.some(many)[-1] == "99"
    assert len(precision.some(many)) == len(set(precision.some(many))) == precision.SAMPLES
    assert precision.some(many.slice(0, 3)) == ["0", "1", "2"]


def test_a_template_that_few_samples_have_is_asked_again_too() -> None:
    """Else nothing of it could be asked in float32, which is an error."""
    once = pa.table(
        {"id": [str(n) for n in range(100)], "template": [3 if n == 50 else 1 for n in range(100)]}
    )
    assert "50" in precision.some(once)


def test_probabilities_are_told_as_a_log_ratio() -> None:
    """A probability of 1e-6 that is wrong by a half is no small error."""
    found = half("stereoset_en_intrasentence", zoo.load("gpt2"), limit=4)
    exact = gest_dataset.score(zoo.load("gpt2"), "stereoset_en_intrasentence", limit=4, device="cpu").table
    own, theirs = (
        np.log(np.array(table["stereotype"]) / np.array(table["antistereotype"]))
        for table in (found.table, exact)
    )
    assert found.metadata["precision"]["largest"] == pytest.approx(np.abs(own - theirs).max(), rel=0.01)
    assert "ln of stereotype / anti-stereotype" in found.metadata["notes"][-1]


def test_a_planted_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
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
    ("units", "told"), [((False, False), True), ((False, True), False), ((True, True), False)]
)
def test_a_cpu_without_bfloat16_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, units: tuple[bool, bool], told: bool
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: units[0])
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: units[1])
    assert device.bfloat16_unit() == (None if told else "AMX" if units[0] else "AVX512-BF16")
    with caplog.at_level(logging.WARNING):
        found = half("en", zoo.load("bert"), limit=2, templates=[1])
    said = [note for note in found.metadata["notes"] if "this CPU does not compute in bfloat16" in note]
    assert len(said) == told
    assert all("float32 is faster" in note for note in said)


def test_where_float32_does_not_fit_it_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    class Little:
        available = 1000

    monkeypatch.setattr(psutil, "virtual_memory", Little)
    found = half("en", zoo.load("bert"), limit=2, templates=[1])
    assert "precision" not in found.metadata
    assert "is not measured: that takes" in found.metadata["notes"][-1]
