"""Packed linear layers: the values of the plain ones, and the model's own weights afterwards."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

from gest_dataset.models import packed_linear
from gest_dataset.models.packed_linear import is_faster, packed_linear_layers

IDS = torch.arange(5, 65).reshape(4, 15)
MODELS = {
    "bert": lambda: BertForMaskedLM(BertConfig(num_hidden_layers=1, vocab_size=100)),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(n_layer=1, vocab_size=100)),
    "t5": lambda: T5ForConditionalGeneration(T5Config(num_layers=1, vocab_size=100)),
}


@pytest.fixture(autouse=True)
def faster(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pack on every machine, whatever the measurement says."""
    monkeypatch.setattr(packed_linear, "is_faster", lambda dtype: True)
    with torch.inference_mode():
        yield


def logits(model: PreTrainedModel) -> Tensor:
    arguments = {"decoder_input_ids": IDS} if model.config.is_encoder_decoder else {}
    return model(IDS, **arguments).logits


def activations(model: nn.Module) -> list[nn.Module]:
    return [module for module in model.modules() if type(module) in packed_linear._ACTIVATIONS]


@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_the_plain_layers_and_weights_come_back(name: str) -> None:
    model = MODELS[name]().eval()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    expected = logits(model)
    with packed_linear_layers(model, lambda: logits(model).numpy()) as packed:
        assert packed
        assert any(parameter.numel() == 0 for parameter in model.parameters()), "no second copy"
        assert any("forward" in vars(module) for module in activations(model)), "computed with the layer"
        assert torch.allclose(logits(model), expected, atol=1e-4)
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key]), key
    assert torch.equal(logits(model), expected)
    assert not any("forward" in vars(module) for module in model.modules())


@pytest.mark.usefixtures("bfloat16_layers")
@pytest.mark.parametrize("name", MODELS)
def test_bfloat16_rounds_the_products_and_weights_come_back(name: str) -> None:
    model = MODELS[name]().eval()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    expected = logits(model)
    with packed_linear_layers(model, lambda: logits(model).numpy(), torch.bfloat16) as packed:
        assert packed
        assert sum(parameter.numel() == 0 for parameter in model.parameters()) > 1, "no second copy"
        found = logits(model)
    assert found.dtype == torch.float32
    assert not torch.allclose(found, expected, atol=1e-5)
    assert torch.allclose(found, expected, atol=0.03 * float(expected.abs().max()))
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key]), key


def test_a_split_weight_is_the_nearest_bfloat16_and_any_bits_come_back() -> None:
    bits = torch.randint(-(2**31), 2**31, (64, 64)).to(torch.int32)
    bits[0, 0], bits[0, 1] = 0x3F808000, 0x3F80FFFF  # between two numbers, and nearly the higher one
    rounded, low = packed_linear._split(bits.view(torch.float32))
    assert torch.equal(packed_linear._joined(rounded, low).view(torch.int32), bits)
    weight = torch.randn(64, 64)
    error = (packed_linear._split(weight)[0].float() - weight).abs()
    assert torch.equal(error, (weight.bfloat16().float() - weight).abs())


def test_weights_come_back_after_an_error() -> None:
    model = MODELS["bert"]().eval()
    expected = logits(model)
    with pytest.raises(KeyboardInterrupt), packed_linear_layers(model, lambda: logits(model).numpy()):
        raise KeyboardInterrupt
    assert torch.equal(logits(model), expected)


def test_a_model_that_gives_other_values_stays_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS["bert"]().eval()
    expected = logits(model)
    original = packed_linear._linear
    monkeypatch.setattr(packed_linear, "_linear", lambda *args, **options: original(*args, **options) * 1.01)
    with packed_linear_layers(model, lambda: logits(model).numpy()) as packed:
        assert not packed
        assert torch.equal(logits(model), expected)


class ReadsWeights(nn.Module):
    """A model that multiplies with the weights of its layer itself."""

    dtype = torch.float32

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(300, 300)

    def forward(self, states: Tensor) -> Tensor:
        return states @ self.layer.weight


def test_a_model_that_reads_its_weights_stays_plain() -> None:
    model, states = ReadsWeights(), torch.randn(4, 300)
    expected = model(states)
    with packed_linear_layers(model, lambda: model(states).numpy()) as packed:
        assert not packed
        assert torch.equal(model(states), expected)


class ActivatesTwice(nn.Module):
    """A model that uses its activation without the layer, too."""

    dtype = torch.float32

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.activation = nn.Linear(300, 400), nn.ReLU()

    def forward(self, states: Tensor) -> Tensor:
        return self.activation(self.layer(states)).sum() + self.activation(states)


def test_an_activation_with_another_use_stays_separate() -> None:
    model, states = ActivatesTwice(), torch.randn(4, 300)
    expected = model(states)
    with packed_linear_layers(model, lambda: model(states).numpy()) as packed:
        assert packed == [model.layer]
        assert "forward" not in vars(model.activation)
        assert torch.allclose(model(states), expected, rtol=1e-4)


def test_half_precision_tied_and_hooked_layers_stay_plain() -> None:
    half = MODELS["bert"]().to(torch.bfloat16).eval()
    with packed_linear_layers(half, lambda: logits(half).numpy()) as packed:
        assert not packed
    tied = MODELS["bert"]().eval()
    layer = tied.bert.encoder.layer[0]
    layer.attention.self.query.weight = layer.attention.self.key.weight
    layer.attention.self.value.register_forward_hook(lambda module, inputs, output: output * 2)
    packable = packed_linear.packable_layers(tied)
    assert layer.output.dense in packable
    for kept in (layer.attention.self.query, layer.attention.self.key, layer.attention.self.value):
        assert kept not in packable
    assert tied.get_output_embeddings() not in packable


def test_the_measurement_runs_on_this_machine() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        assert isinstance(is_faster(dtype), bool)


def test_a_cpu_without_bfloat16_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is that of oneDNN limited to AVX2 (`ONEDNN_MAX_CPU_ISA=AVX2`)."""
    pack = packed_linear._pack

    def limited(weight: Tensor) -> Tensor:
        if weight.dtype == torch.bfloat16:
            raise RuntimeError("mkldnn_reorder_linear_weight: bf16 path needs the cpu support avx512bw")
        return pack(weight)

    monkeypatch.setattr(packed_linear, "_pack", limited)
    assert is_faster.__wrapped__(torch.bfloat16) is False
