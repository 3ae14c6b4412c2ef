"""Half precision on a CPU: its error is measured on some samples, and `auto` uses it where it is small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

import gest_dataset
from gest_dataset.errors import OutputError
from gest_dataset.models import loading, packed_linear, score_run
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


# auto --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A BERT whose layers are large enough to be packed, and whose scores depend on the sentence."""
    path = tmp_path_factory.mktemp("wide")
    animal = zoo.BY_NAME["bert"]
    tokenizer = animal.tokenizer()
    torch.manual_seed(0)
    sizes = {"hidden_size": 256, "vocab_size": len(tokenizer), "initializer_range": 0.1}
    animal.model(animal.config(**animal.settings | sizes)).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return str(path)


@pytest.fixture
def fast_bfloat16(bfloat16_layers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a CPU with AVX512-BF16 or AMX, and for as few rows as the test mirror has."""
    monkeypatch.setattr(packed_linear, "is_faster", lambda dtype: True)
    monkeypatch.setattr(loading, "is_faster", lambda dtype: True)
    monkeypatch.setattr(score_run, "_LEAST_ROWS", 20)


@pytest.mark.usefixtures("fast_bfloat16")
def test_auto_computes_linear_layers_in_bfloat16_and_says_so(wide: str, tmp_path: Path) -> None:
    scores = gest_dataset.score(wide, "en", templates=[1, 3], device="cpu", output=tmp_path / "run")
    assert scores.metadata["dtype"] == "mixed_bfloat16", scores.metadata["notes"]
    assert "|dtype:mixed_bfloat16|" in scores.signature
    exact = gest_dataset.score(wide, "en", templates=[1, 3], device="cpu", dtype="float32")
    assert "dtype:float32" in exact.signature
    differences = np.abs(np.array(scores.table["log_ratio"]) - np.array(exact.table["log_ratio"]))
    assert 1e-5 < differences.max() < 0.1
    assert scores.metadata["precision"]["largest"] <= differences.max() + 1e-6
    assert any("mixed_bfloat16 changes a log ratio by" in note for note in scores.metadata["notes"])
    again = gest_dataset.score(wide, "en", templates=[1, 3], device="cpu", output=tmp_path / "run")
    assert again.table.equals(scores.table)
    with pytest.raises(OutputError, match=r"dtype: mixed_bfloat16 \(existing\), float32 \(new\)"):
        gest_dataset.score(
            wide, "en", templates=[1, 3], device="cpu", dtype="float32", output=tmp_path / "run"
        )


@pytest.mark.usefixtures("fast_bfloat16")
def test_auto_falls_back_to_float32_if_the_error_is_large(wide: str, monkeypatch: pytest.MonkeyPatch) -> None:
    linear = packed_linear._linear

    def lossy(states: torch.Tensor, weight: torch.Tensor, bias: Any) -> torch.Tensor:
        output = linear(states, weight, bias)
        return output + 0.1 * torch.randn_like(output) if weight.dtype == torch.bfloat16 else output

    monkeypatch.setattr(packed_linear, "_linear", lossy)
    monkeypatch.setitem(packed_linear._TOLERANCE, torch.bfloat16, 1.0)
    scores = gest_dataset.score(wide, "en", templates=[1], device="cpu")
    exact = gest_dataset.score(wide, "en", templates=[1], device="cpu", dtype="float32")
    assert scores.metadata["dtype"] == "float32"
    assert np.allclose(scores.table["log_ratio"], exact.table["log_ratio"], atol=1e-5)
    assert any("float32: bfloat16 changed the scores" in note for note in scores.metadata["notes"])


@pytest.mark.usefixtures("fast_bfloat16")
def test_auto_leaves_objects_and_short_runs_as_they_are(wide: str) -> None:
    pair = (AutoModelForMaskedLM.from_pretrained(wide), AutoTokenizer.from_pretrained(wide))
    assert gest_dataset.score(pair, "en", templates=[1]).metadata["dtype"] == "float32"
    assert gest_dataset.score(wide, "en", templates=[1], limit=19).metadata["dtype"] == "float32"
