"""Devices and number types; models spread over devices (here CPU and disk), and quantised ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gest_dataset
from gest_dataset.errors import ConfigError, ModelError, OutputError, SettingError
from gest_dataset.models.base import Settings
from gest_dataset.models.device import main_device, pick_device
from gest_dataset.models.loading import load_model
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

# Model -> config, and which of its parts are on the disk; the others are in the memory. Where the first
# parameter is among them, the model's own `device` says `meta`.
SPREAD: dict[str, tuple[str, tuple[str, ...]]] = {
    "bert": ("en", ("bert.encoder.layer.0", "bert.encoder.layer.1")),
    "gpt2": ("stereoset_en_intrasentence", ("transformer.wpe", "transformer.h.0")),
    "llama": ("sk_pairs", ("model.embed_tokens", "model.layers.1", "lm_head")),
    "t5": ("stereoset_en_intrasentence", ("encoder.block.0", "decoder.block.1")),
    "bert-nsp": ("stereoset_en_intersentence", ("bert.embeddings", "cls")),
}


def places(animal: str) -> dict[str, str]:
    """A device map: each module that holds weights itself, in the memory or on the disk."""
    on_disk = SPREAD[animal][1]
    model = zoo.load(animal)[0]
    holders = {name.rpartition(".")[0] for name, _ in model.named_parameters(remove_duplicate=False)}
    parts = {next((part for part in on_disk if f"{name}.".startswith(f"{part}.")), name) for name in holders}
    return {part: "disk" if part in on_disk else "cpu" for part in sorted(parts)}


def _score(model: str, config: str, **given: Any) -> gest_dataset.Scores:
    return gest_dataset.score(model, config, limit=12, **given)


@pytest.mark.parametrize("animal", SPREAD)
def test_a_spread_model_has_the_scores_of_a_plain_one(animal: str) -> None:
    config, model = SPREAD[animal][0], str(zoo.directory(animal))
    plain, spread = _score(model, config, device="cpu"), _score(model, config, device_map=places(animal))
    for column in plain.table.schema:
        one, other = (scores.table[column.name].to_numpy() for scores in (plain, spread))
        if str(column.type) == "double":
            np.testing.assert_allclose(other, one, atol=1e-5)
        else:
            assert np.array_equal(one, other)
    assert spread.signature == plain.signature


@pytest.mark.parametrize("animal", SPREAD)
def test_a_spread_model_has_the_identity_of_a_plain_one(animal: str) -> None:
    plain = load_model(str(zoo.directory(animal)), Settings(device="cpu", dtype="float32"))
    spread = load_model(str(zoo.directory(animal)), Settings(dtype="float32", device_map=places(animal)))
    assert any(weight.is_meta for weight in spread.model.state_dict().values())
    assert spread.settings(None) == plain.settings(None) | {"spread": True}
    assert spread.device == main_device(spread.model) == torch.device("cpu")
    assert spread.facts() == plain.facts()
    assert any(weight.is_meta for weight in spread.model.state_dict().values()), "it stays where it was"


def test_a_spread_run_is_not_a_plain_run(tmp_path: Path) -> None:
    """The last digits differ: a head that is spread is not cut down to the words that are asked for."""
    model, spread = str(zoo.directory("bert")), places("bert")
    first = _score(model, "en", device_map=spread, output=tmp_path)
    assert _score(model, "en", device_map=spread, output=tmp_path).table.equals(first.table)
    with pytest.raises(OutputError, match=r"spread: true \(existing\), none \(new\)"):
        _score(model, "en", device="cpu", output=tmp_path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"device": "cpu", "device_map": "auto"}, "cannot be combined with"),
        ({"device_map": "evenly"}, "cannot be loaded: .*'auto', 'balanced'"),
        ({"quantization": "2bit"}, "Unknown quantization='2bit'; choose one of '8bit', '4bit'"),
        ({"endpoint": "http://x", "device_map": "auto"}, "device_map applies to loaded models only"),
        ({"endpoint": "http://x", "quantization": "8bit"}, "quantization applies to loaded models only"),
        ({"endpoint": "http://x", "revision": "main"}, "revision applies to loaded models only"),
        ({"tokenizer": "bert"}, "tokenizer applies to served models only"),
    ],
)
def test_options_that_exclude_each_other(given: dict[str, Any], said: str) -> None:
    with pytest.raises((ConfigError, ModelError), match=said):
        _score(str(zoo.directory("bert")), "en", **given)


def test_loaded_objects_stay_where_they_are() -> None:
    spread = load_model(str(zoo.directory("bert")), Settings(dtype="float32", device_map=places("bert")))
    pair = (spread.model, spread.tokenizer)
    again = _score(str(zoo.directory("bert")), "en", device_map=places("bert"))
    assert _score(pair, "en").table.equals(again.table)
    with pytest.raises(SettingError, match="Omit device and dtype"):
        _score(pair, "en", dtype="float16")
    with pytest.raises(SettingError, match="apply to models by name"):
        _score(pair, "en", device_map="auto")
    with pytest.raises(ModelError, match="Omit --null"):
        _score(pair, "en", null=1)


# Quantised -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Llama whose rows are long enough for blocks of 64 weights."""
    path = tmp_path_factory.mktemp("wide")
    animal = zoo.BY_NAME["llama"]
    sizes = {"hidden_size": 128, "intermediate_size": 128, "head_dim": 32}
    tokenizer = animal.tokenizer()
    model = zoo.untrained(replace(animal, settings=animal.settings | sizes), tokenizer)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(0.3)  # so that its attention is not on one token alone
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return str(path)


@pytest.mark.parametrize(("bits", "near"), [("8bit", 0.99), ("4bit", 0.8)])
def test_quantised_models_answer_nearly_the_same(bits: str, near: float, wide: str, tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    plain = gest_dataset.score(wide, "sk_pairs", device="cpu")
    found = gest_dataset.score(wide, "sk_pairs", device="cpu", quantization=bits, output=tmp_path / "run")
    columns = [scores.table["log_ratio"].to_numpy() for scores in (plain, found)]
    assert not np.array_equal(*columns)
    assert np.corrcoef(*columns)[0, 1] > near
    assert f"|quantization:{bits}|" in found.signature
    assert found.metadata["quantization"] == bits
    assert "quantization" not in plain.signature
    page = gest_dataset.report([tmp_path / "run"], tmp_path / "page.html")
    assert f"cpu, float32, {bits}" in page.read_text(encoding="utf-8")
    with pytest.raises(OutputError, match=rf"quantization: {bits} \(existing\), none \(new\)"):
        gest_dataset.score(wide, "sk_pairs", device="cpu", output=tmp_path / "run")
    again = gest_dataset.score(wide, "sk_pairs", device="cpu", quantization=bits, output=tmp_path / "run")
    assert again.table.equals(found.table)


# Devices and number types -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cuda", "mps", "best"),
    [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_the_best_available_device(monkeypatch: pytest.MonkeyPatch, cuda: bool, mps: bool, best: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert pick_device("auto") == torch.device(best)


@pytest.mark.parametrize("name", ["cuda:99", "toaster"])
def test_a_missing_device(name: str) -> None:
    assert pick_device("cpu") == torch.device("cpu")
    reason = "" if name == "toaster" else r" \(.*\)"
    message = rf"^The device '{name}' cannot be used{reason}\. Use auto, cuda, cuda:N, mps or cpu\.$"
    with pytest.raises(SettingError, match=message):
        pick_device(name)
    with pytest.raises(SettingError, match=f"The device '{name}'"):  # the Hub is not contacted
        gest_dataset.score("somebody/model", "en", device=name)
