"""The fast paths of scorers: gathered states, rows of the output matrix, half precision, unusual models."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset, load_dataset
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import (
    BertForMaskedLM,
    BertLMHeadModel,
    FNetConfig,
    FNetForMaskedLM,
)

import gest_dataset
from gest_dataset.errors import ModelError, ScoringError
from gest_dataset.models import forward_passes, packed_linear
from gest_dataset.models.forward_passes import Head, LanguageModelScorer
from gest_dataset.probes.queries import Input, Lookup
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


def score(model: Any, config: Any = "en", **options: Any) -> gest_dataset.Scores:
    return gest_dataset.score(model, config, device="cpu", **options)


def log_ratios(scores: gest_dataset.Scores) -> np.ndarray[Any, Any]:
    return np.array(scores.table["log_ratio"])


# ---- only what is needed is computed ---------------------------------------------------------------------


class LargestTensor(TorchDispatchMode):
    """The most rows of the vocabulary's width that any operation returns."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width, self.rows = width, 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(tensor, torch.Tensor) and tensor.dim() > 1 and tensor.shape[-1] == self.width:
                self.rows = max(self.rows, tensor.numel() // self.width)
        return result


@pytest.mark.parametrize("animal", ["bert", "xlm-roberta", "modernbert"])
def test_contrasts_never_build_the_vocabulary(animal: str) -> None:
    """Only the check, with two inputs, sees all positions."""
    model, tokenizer = zoo.load(animal)
    with LargestTensor(model.get_output_embeddings().weight.shape[0]) as largest:
        scores = score((model, tokenizer), templates=[1, 2, 3, 4])
    assert scores.metadata["passes"]["inputs"] > 100
    assert not scores.metadata["notes"]
    sentences = load_dataset("gest", "en", split="test")["sentence"]
    texts = [f'The woman said: "{sentence}"' for sentence in sentences]
    assert largest.rows <= 2 * max(len(ids) for ids in tokenizer(texts)["input_ids"])


@pytest.mark.parametrize("animal", ["bert", "gpt2", "gemma2", "t5"])
@pytest.mark.parametrize("tokens", [7, 10_000])
@pytest.mark.parametrize("rows", [1, 3])
def test_logits_in_slices(monkeypatch: pytest.MonkeyPatch, animal: str, tokens: int, rows: int) -> None:
    model, tokenizer = zoo.load(animal)
    kind = zoo.BY_NAME[animal].family
    decoder = (0, 5, 6, 7) if kind == "seq2seq" else ()
    inputs = [Input((9, 8, 7, 6, 5), decoder), Input((5, 6, 7), decoder)]
    size = model.get_output_embeddings().out_features
    targets = (0, 6, 7, 99, 100, size - 1)  # on both sides of the ends of slices
    lookups = [[Lookup(p, (t,), True) for p in range(3) for t in targets] for _ in inputs]
    scorer = LanguageModelScorer(model, kind, tokenizer.pad_token_id or 0)
    monkeypatch.setattr(forward_passes, "_SLICE", tokens)
    monkeypatch.setattr(forward_passes, "_LOGITS_BYTES", rows * 4 * min(tokens, size))
    scorer.check(inputs, lookups)
    assert scorer.cuts, scorer.notes
    columns = Head.columns
    shapes: list[tuple[int, int]] = []

    def counting(self: Head, states: torch.Tensor, ids: Any) -> torch.Tensor:
        logits = columns(self, states, ids)
        shapes.append(tuple(logits.shape))
        return logits

    monkeypatch.setattr(Head, "columns", counting)
    answers = scorer.log_probs(inputs, lookups)
    for given, some, values in zip(inputs, lookups, answers, strict=True):
        arguments = {"input_ids": torch.tensor([given.input_ids])}
        if decoder:
            arguments["decoder_input_ids"] = torch.tensor([decoder])
        with torch.no_grad():
            expected = model(**arguments).logits[0].double().log_softmax(dim=-1)
        np.testing.assert_allclose(values, [expected[a.position, a.targets[0]] for a in some], atol=2e-5)
    assert all(n <= rows and width <= tokens for n, width in shapes)
    assert sum(n * width for n, width in shapes) == 6 * size, "each logit is computed once"


@pytest.fixture
def left_out(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The shares of positions that packed layers left out, one for each call in a batch."""
    shares: list[float] = []
    of_read = LanguageModelScorer._of_read

    def recorded(scorer: LanguageModelScorer, forward: Any, states: torch.Tensor) -> torch.Tensor:
        if scorer.read is not None and len(states) > 2:  # not in the check
            shares.append(1 - len(scorer.read[0]) / states[..., 0].numel())
        return of_read(scorer, forward, states)

    monkeypatch.setattr(LanguageModelScorer, "_of_read", recorded)
    monkeypatch.setattr(packed_linear, "_SMALLEST", 0)
    monkeypatch.setattr(packed_linear, "is_faster", lambda dtype: True)
    return shares


@pytest.mark.parametrize("animal", ["bert", "gpt2"])
def test_layers_after_the_last_attention_leave_out_positions(
    animal: str, left_out: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One position in a text of more than ten tokens is used; three layers leave out the others."""
    given = {"limit": 8, "templates": [3]}
    found = log_ratios(score(zoo.load(animal), **given))
    calls = len(left_out)
    assert calls > 0
    assert calls % 3 == 0
    assert min(left_out) > 0.9
    monkeypatch.setattr(packed_linear, "is_faster", lambda dtype: False)
    np.testing.assert_allclose(found, log_ratios(score(zoo.load(animal), **given)), atol=1e-5)
    assert len(left_out) == calls


class AddsFirst(torch.nn.LayerNorm):
    """The last layer norm of a model whose positions depend on the first one after the attention."""

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return super().forward(states + states[:, :1])


def test_positions_that_others_depend_on_are_computed(left_out: list[float]) -> None:
    model, tokenizer = zoo.load("bert")
    model.bert.encoder.layer[-1].output.LayerNorm.__class__ = AddsFirst
    scores = score((model, tokenizer), limit=8)
    assert scores.metadata["notes"] == []
    assert len(scores.table) == 32
    assert not left_out


# ---- unusual models --------------------------------------------------------------------------------------


class ChoosyBert(BertForMaskedLM):
    """Its head excludes tokens far below the likeliest one, so slices give other normalisers."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        output = super().forward(*args, **kwargs)
        low = output.logits < output.logits.amax(dim=-1, keepdim=True) - 2
        output.logits = output.logits.masked_fill(low, -torch.inf)
        return output


def test_a_head_that_differs_in_slices_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = zoo.load("bert")
    monkeypatch.setattr(forward_passes, "_SLICE", 20)
    given = Input((9, 8, 7, 6, 5))
    with torch.no_grad():
        logits = model(torch.tensor([given.input_ids])).logits[0, 2]
    lookups = [Lookup(2, (int(token),), True) for token in logits.topk(3).indices]
    model.__class__ = ChoosyBert
    scorer = LanguageModelScorer(model, "masked", tokenizer.pad_token_id or 0)
    scorer.check([given], [lookups])
    assert not scorer.cuts
    rest = logits[logits >= logits.max() - 2].double()
    expected = [float(logits[lookup.targets[0]] - rest.logsumexp(dim=0)) for lookup in lookups]
    np.testing.assert_allclose(scorer.log_probs([given], [lookups])[0], expected, atol=2e-5)


def test_a_head_that_is_not_linear_is_detected() -> None:
    assert "more than a linear map" in score(zoo.load("bert-bent"), limit=4).metadata["notes"][0]


def test_a_model_that_depends_on_padding_takes_the_slow_path() -> None:
    _, tokenizer = zoo.load("bert")
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64}
    fnet = FNetForMaskedLM(FNetConfig(vocab_size=len(tokenizer), **sizes)).eval()
    wide = score((fnet, tokenizer), batch_tokens=4000)
    assert "head or padding changes values" in wide.metadata["notes"][0]
    narrow = score((fnet, tokenizer), batch_tokens=1)
    np.testing.assert_allclose(log_ratios(wide), log_ratios(narrow), atol=1e-4)


def test_a_bidirectional_model_is_not_a_causal_one() -> None:
    bert, tokenizer = zoo.load("bert")
    decoder = BertLMHeadModel(bert.config).eval()
    decoder.load_state_dict(bert.state_dict())
    with pytest.raises(ModelError, match="its scores depend on later tokens"):
        score((decoder, tokenizer), limit=4)


# ---- number types ----------------------------------------------------------------------------------------


def test_an_overflow_is_computed_again_in_float32(caplog: pytest.LogCaptureFixture) -> None:
    model, tokenizer = zoo.load("bert")
    with torch.no_grad():
        model.cls.predictions.transform.LayerNorm.weight.mul_(40_000)
    expected = score((model, tokenizer), limit=4)
    with caplog.at_level(logging.WARNING):
        scores = score((model, tokenizer), limit=4, dtype="float16")
    assert "NaN or infinite" in scores.metadata["notes"][0]
    assert "NaN or infinite" in caplog.text
    assert scores.metadata["dtype"] == "float16+float32"
    np.testing.assert_allclose(log_ratios(scores), log_ratios(expected), rtol=0.05)  # rounded weights


def test_samples_with_infinite_values_are_skipped() -> None:
    model, tokenizer = zoo.load("bert")
    (word, *_) = sorted({*tokenizer("I sing.")["input_ids"]} - {*tokenizer("I am here.")["input_ids"]})
    with torch.no_grad():
        model.get_input_embeddings().weight[word] = float("nan")
    rows = Dataset.from_dict({"id": ["a", "b"], "sentence": ["I sing.", "I am here."], "stereotype": [1, 2]})
    scores = score((model, tokenizer), rows, templates=[1], batch_tokens=1)
    reason = "the model's values are not finite"
    assert scores.skipped.to_pylist() == [{"id": "a", "template": 1, "reason": reason}]
    assert scores.table["id"].to_pylist() == ["b"]
    with torch.no_grad():
        model.get_output_embeddings().bias.fill_(float("nan"))
    with pytest.raises(ScoringError, match=f"No sample .*{reason}"):
        score((model, tokenizer), rows, templates=[1])
