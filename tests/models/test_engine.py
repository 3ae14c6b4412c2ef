"""The engine's machinery: batches, memory, number types, loading, and messages for wrong input."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import huggingface_hub
import numpy as np
import pytest
import torch
from datasets import Dataset
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import (
    BertLMHeadModel,
    FNetConfig,
    FNetForMaskedLM,
    MixtralConfig,
    MixtralForCausalLM,
    OPTConfig,
    OPTForCausalLM,
)

import gest_dataset
from gest_dataset.errors import ConfigError, ModelError, ScoringError, SettingError
from gest_dataset.models.answering import NOT_FINITE
from gest_dataset.models.batching import Pass, Values, answer
from gest_dataset.models.device import pick_device, pick_dtype
from gest_dataset.models.head import Head
from gest_dataset.probes.queries import Input, Lookup, Query
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


class Echo:
    """A scorer whose value of an ask is made of the input's ids up to its position, and the target."""

    def __init__(self, causal: bool = False, memory: int | None = None) -> None:
        self.causal, self.memory = causal, memory
        self.dtypes = ["float32"]
        self.batches: list[list[Input]] = []

    def check(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> None:
        """Nothing is short here."""

    def shares(self, row: Pass, texts: Sequence[Pass]) -> bool:
        return False

    def answer(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> list[Values]:
        padded = len(inputs) * max(one.size for one in inputs)
        if self.memory is not None and padded > self.memory:
            raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {padded}")
        self.batches.append(list(inputs))
        return [
            np.array([self.value(one.input_ids, ask.position, ask.target, ask.normalise) for ask in own])
            for one, own in zip(inputs, asks, strict=True)
        ]

    @staticmethod
    def value(ids: Sequence[int], position: int, target: int, normalise: bool) -> float:
        return float(sum(ids[: position + 1]) * 1000 + target * 10 + normalise)

    def expected(self, queries: Sequence[Query]) -> list[list[float]]:
        return [
            [self.value(q.input_ids, p, t, q.normalise) for p, t in zip(q.positions, q.targets, strict=True)]
            for q in queries
        ]


def queries(number: int = 300, seed: int = 0) -> list[Query]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        ids = tuple(int(i) for i in rng.integers(1, 4, rng.integers(1, 12)))
        positions = tuple(int(p) for p in rng.integers(0, len(ids), 2))
        made.append(Query(ids, positions, (5, 7), bool(rng.integers(2))))
    return made


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("budget", [1, 20, 10_000])
def test_every_query_gets_its_own_answers(causal: bool, budget: int) -> None:
    asked, echo = queries(), Echo(causal)
    found, passes = answer(asked, echo, budget)
    assert [list(values) for values in found] == echo.expected(asked)
    seen = [one.input_ids for batch in echo.batches for one in batch]
    assert len(seen) == len(set(seen)) == passes.inputs
    unique = {query.input_ids for query in asked}
    assert passes.inputs < len(asked)
    if causal:
        prefixes = {ids for ids in unique if any(ids != b and b[: len(ids)] == ids for b in unique)}
        assert set(seen) == unique - prefixes
    else:
        assert set(seen) == unique
    for batch in echo.batches:
        longest = max(one.size for one in batch)
        assert len(batch) == 1 or longest * len(batch) <= budget


def test_memory_that_runs_out_halves_the_budget(caplog: pytest.LogCaptureFixture) -> None:
    class Narrow(Echo):
        failed: ClassVar[list[int]] = []

        def answer(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> list[Values]:
            try:
                return super().answer(inputs, asks)
            except torch.OutOfMemoryError:
                self.failed.append(len(inputs) * inputs[0].size)
                raise

    asked, echo = queries(), Narrow(memory=40)
    with caplog.at_level(logging.WARNING):
        found, _ = answer(asked, echo, 10_000)
    assert [list(values) for values in found] == echo.expected(asked)
    told = [int(number) for number in re.findall(r"going on with (\d+) tokens", caplog.text)]
    assert told == [size // 2 for size in echo.failed]
    assert len(told) > 4
    assert max(len(batch) * batch[0].size for batch in echo.batches) > told[-1] / 2
    with pytest.raises(ScoringError, match="Out of memory with one input"):
        answer(asked, Echo(memory=3), 10_000)


@pytest.mark.parametrize("call", [1, 2])
def test_memory_that_runs_out_in_the_check_is_not_taken_for_an_odd_head(
    monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    calls = iter(range(1, 10))
    logits = Head.logits

    def failing(head: Head, rows: torch.Tensor) -> torch.Tensor:
        if next(calls) == call:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
        return logits(head, rows)

    monkeypatch.setattr(Head, "logits", failing)
    with pytest.raises(ScoringError, match="Out of memory with one input"):
        gest_dataset.score(zoo.load("bert"), "en", limit=4, device="cpu")


def test_other_errors_are_not_taken_for_memory() -> None:
    class Broken(Echo):
        def answer(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> list[Values]:
            raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        answer(queries(), Broken(), 100)


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
def test_contrasts_never_build_the_vocabulary_where_nothing_is_asked(animal: str) -> None:
    """Only the check of the first batch, two inputs long, sees all positions."""
    model, tokenizer = zoo.load(animal)
    with LargestTensor(model.get_output_embeddings().weight.shape[0]) as largest:
        scores = gest_dataset.score((model, tokenizer), "en", templates=[1, 2, 3, 4], device="cpu")
    assert scores.metadata["passes"]["inputs"] > 100
    assert not scores.metadata["notes"]
    longest_two = 2 * max(len(i) for i in tokenizer(scores_texts())["input_ids"])
    assert largest.rows <= longest_two


def scores_texts() -> list[str]:
    from datasets import load_dataset

    return [f'The woman said: "{s}"' for s in load_dataset("gest", "en", split="test")["sentence"]]


def test_normalisers_are_built_for_queried_positions_only() -> None:
    model, tokenizer = zoo.load("bert")
    with LargestTensor(model.get_output_embeddings().weight.shape[0]) as largest:
        scores = gest_dataset.score((model, tokenizer), "stereoset_control_gender", device="cpu", cs=False)
    asked = scores.metadata["passes"]["inputs"] * 4
    assert largest.rows <= max(asked, 2 * 40)


def test_no_gradients_and_nothing_left_on_the_model() -> None:
    model, tokenizer = zoo.load("bert")
    gest_dataset.score((model, tokenizer), "en", limit=4, device="cpu")
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all("forward" not in vars(module) for module in model.modules())


def test_overflow_in_half_precision_is_done_again_in_float32(caplog: pytest.LogCaptureFixture) -> None:
    model, tokenizer = zoo.load("bert")
    with torch.no_grad():
        model.cls.predictions.transform.LayerNorm.weight.mul_(40_000)
    expected = gest_dataset.score((model, tokenizer), "en", limit=4, device="cpu").table
    with caplog.at_level(logging.WARNING):
        scores = gest_dataset.score((model, tokenizer), "en", limit=4, device="cpu", dtype="float16")
    assert "NaN or infinite" in scores.metadata["notes"][0]
    assert "NaN or infinite" in caplog.text
    assert scores.metadata["dtype"] == "float16+float32"
    found = np.array(scores.table["log_ratio"]), np.array(expected["log_ratio"])
    np.testing.assert_allclose(*found, rtol=0.05)  # the weights themselves were rounded


def test_values_that_stay_infinite_are_reported_by_sample(caplog: pytest.LogCaptureFixture) -> None:
    model, tokenizer = zoo.load("bert")
    (word, *_) = sorted({*tokenizer("I sing.")["input_ids"]} - {*tokenizer("I am here.")["input_ids"]})
    with torch.no_grad():
        model.get_input_embeddings().weight[word] = float("nan")
    rows = Dataset.from_dict({"id": ["a", "b"], "sentence": ["I sing.", "I am here."], "stereotype": [1, 2]})
    with caplog.at_level(logging.WARNING):
        scores = gest_dataset.score((model, tokenizer), rows, templates=[1], device="cpu", batch_tokens=1)
    assert scores.skipped.to_pylist() == [{"id": "a", "template": 1, "reason": NOT_FINITE}]
    assert scores.table["id"].to_pylist() == ["b"]
    assert f"1 of 2 samples of data have no score: 1 x {NOT_FINITE}" in caplog.text
    with torch.no_grad():
        model.get_output_embeddings().bias.fill_(float("nan"))
    with pytest.raises(ScoringError, match=f"Not one sample .*{NOT_FINITE}"):
        gest_dataset.score((model, tokenizer), rows, templates=[1], device="cpu")


def test_head_that_does_more_is_noticed() -> None:
    model, tokenizer = zoo.load("bert-bent")
    scores = gest_dataset.score((model, tokenizer), "en", limit=4, device="cpu")
    assert "does more than a linear map" in scores.metadata["notes"][0]


def test_bf16_error_is_small() -> None:
    exact = gest_dataset.score(zoo.load("bert"), "en", limit=8, device="cpu").table["log_ratio"]
    half = gest_dataset.score(zoo.load("bert"), "en", limit=8, device="cpu", dtype="bfloat16")
    assert half.metadata["dtype"] == "bfloat16"
    np.testing.assert_allclose(np.array(half.table["log_ratio"]), np.array(exact), atol=0.5)


def test_signature_and_metadata_say_what_was_measured() -> None:
    scores = gest_dataset.score(str(zoo.directory("gpt2")), "en", limit=3, device="cpu")
    m = scores.metadata
    assert (m["samples"], m["asked"], m["scored"], m["skipped"]) == (3, 6, 6, {})
    assert m["templates"] == [3, 4]
    assert m["passes"]["inputs"] == 3, "both templates share a pass"
    assert m["packages"]["torch"] == torch.__version__
    fields = dict(part.split(":", 1) for part in scores.signature.split("|"))
    assert fields["gest"] == "en"
    assert fields["templates"] == "3+4"
    assert fields["dtype"] == "float32"
    assert fields["version"] == gest_dataset.__version__
    assert m["data_fingerprint"].startswith(fields["data"])
    assert scores.table.column_names == ["id", "template", "stereotype", "log_ratio"]


def test_templates_of_ones_own(tmp_path: Path) -> None:
    own = [
        {"id": 7, "text": '"{sentence}" is what the {word} wrote.', "masculine": "man", "feminine": "woman"}
    ]
    path = tmp_path / "templates.json"
    path.write_text(json.dumps(own))
    for animal in ("bert", "gpt2"):
        scores = gest_dataset.score(zoo.load(animal), "en", templates=path, limit=3, device="cpu")
        assert scores.table["template"].to_pylist() == [7, 7, 7]
        assert "templates.json" in scores.signature
    for wrong in (
        "[]",
        '[{"id": 0, "text": "{word} {sentence}", "masculine": "a", "feminine": "b"}]',
        '[{"id": 1, "text": "{word} {sentence}", "masculine": "a", "feminine": "a"}]',
        '[{"id": 1, "text": "{word} {sentence}", "masculine": null, "feminine": "b"}]',
        "[",
        '[{"id": 1}]',
        '[{"id": 1, "text": "{word}", "masculine": "a", "feminine": "b"}]',
    ):
        path.write_text(wrong)
        with pytest.raises(ScoringError, match=r"templates\.json|No template is selected"):
            gest_dataset.score(zoo.load("bert"), "en", templates=path, device="cpu")


# Wrong input --------------------------------------------------------------------------------------


def test_wrong_model_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)  # read once, at import
    with pytest.raises(ModelError, match=r"'no/such-model' cannot be loaded"):
        gest_dataset.score("no/such-model", "en")
    with pytest.raises(ModelError, match="cannot be loaded"):
        gest_dataset.score(str(tmp_path), "en")
    with pytest.raises(SettingError, match="There is no file"):
        gest_dataset.score(str(tmp_path / "model.gguf"), "en")
    with pytest.raises(ModelError, match="a pair"):
        gest_dataset.score((1, 2), "en")


def test_checkpoint_without_the_head_is_refused(tmp_path: Path) -> None:
    model, tokenizer = zoo.load("bert")
    model.bert.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="has no weights for BertForMaskedLM"):
        gest_dataset.score(str(tmp_path), "en", device="cpu")


def test_model_of_the_wrong_kind() -> None:
    with pytest.raises(ScoringError, match="is a causal model, and the quadruplets probe"):
        gest_dataset.score(zoo.load("gpt2"), "slovak_gender", device="cpu")
    with pytest.raises(ScoringError, match="needs a masked one"):
        gest_dataset.score(zoo.load("t5"), "crows_gender", device="cpu")
    with pytest.raises(ScoringError, match="word before the sentence"):
        gest_dataset.score(zoo.load("gpt2"), "en", templates=[1], device="cpu")
    with pytest.raises(ScoringError, match="next-sentence head"):
        gest_dataset.score(zoo.load("roberta"), "stereoset_en_intersentence", device="cpu")
    with pytest.raises(ScoringError, match="cannot do 'nsp'"):
        gest_dataset.score(zoo.load("gpt2"), "stereoset_en_intersentence", intersentence="nsp", device="cpu")


def test_masked_model_without_a_mask_token() -> None:
    model, tokenizer = zoo.load("bert")
    tokenizer.mask_token = None
    with pytest.raises(ModelError, match="has no mask token"):
        gest_dataset.score((model, tokenizer), "en", device="cpu")


def test_template_word_outside_the_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "templates.json"
    own = {"id": 1, "text": '{word} said: "{sentence}"', "masculine": "Grandfather", "feminine": "She"}
    path.write_text(json.dumps([own]))
    with pytest.raises(ScoringError, match=r"Not one sample .*'Grandfather' is \d+ tokens"):
        gest_dataset.score(zoo.load("bert"), "en", templates=path, device="cpu")


def test_samples_that_cannot_be_asked_are_listed() -> None:
    rows = Dataset.from_dict(
        {
            "id": ["good", "empty", "mask", "long"],
            "sentence": ["I sing.", " ", "I [MASK] sing.", "I sing. " * 200],
            "stereotype": [1, 2, 3, 4],
        }
    )
    scores = gest_dataset.score(zoo.load("bert"), rows, templates=[1], device="cpu")
    assert scores.table["id"].to_pylist() == ["good"]
    reasons = dict(zip(scores.skipped["id"].to_pylist(), scores.skipped["reason"].to_pylist(), strict=True))
    assert reasons["empty"] == "empty sentence"
    assert reasons["mask"] == "contains [MASK], with which the model is asked"
    assert f"the model takes {zoo.LONGEST}" in reasons["long"]
    assert sum(scores.metadata["skipped"].values()) == 3


def test_a_bare_model_is_refused() -> None:
    model, tokenizer = zoo.load("bert")
    for bare in (model, [model, tokenizer]):
        with pytest.raises(ModelError, match=rf"A {type(bare).__name__} .*Give a pair \(model, tokenizer\)"):
            gest_dataset.score(bare, "en", limit=1, device="cpu")


def test_rows_without_ids_are_numbered() -> None:
    bert = zoo.load("bert")
    rows = Dataset.from_dict({"sentence": ["I sing.", " ", "I am here."], "stereotype": [1, 2, 3]})
    scores = gest_dataset.score(bert, rows, templates=[1], device="cpu")
    assert scores.table["id"].to_pylist() == ["0", "2"]
    assert scores.skipped["id"].to_pylist() == ["1"]
    assert scores.rows["id"][:] == ["0", "1", "2"]
    assert scores.metadata["notes"] == ["the rows have no ids and are numbered, from 0"]
    named = rows.add_column("id", ["a", "b", "c"])
    assert gest_dataset.score(bert, named, templates=[1], device="cpu").metadata["notes"] == []


def test_ids_that_are_numbers() -> None:
    rows = Dataset.from_dict({"id": [10, 20], "sentence": ["I sing.", " "], "stereotype": [1, 2]})
    scores = gest_dataset.score(zoo.load("bert"), rows, templates=[1], device="cpu")
    assert (scores.table["id"].to_pylist(), scores.skipped["id"].to_pylist()) == (["10"], ["20"])


def test_rows_that_no_probe_reads() -> None:
    """The message names what is missing, and never asks for what is there."""
    rows = Dataset.from_dict({"masculine": ["a"], "feminine": ["b"], "stereotype": [1]})
    with pytest.raises(ScoringError) as caught:
        gest_dataset.score(zoo.load("bert"), rows)
    told = str(caught.value)
    assert "its fields are masculine, feminine, stereotype" in told
    assert "- pairs: also word_index" in told
    assert "- winobias: also occupation_gender" in told
    assert "- templates: also sentence" in told


def test_wrong_settings() -> None:
    bert = zoo.load("bert")
    with pytest.raises(ConfigError, match="Did you mean"):
        gest_dataset.score(bert, "sk_pair")
    with pytest.raises(ScoringError, match="There is no template 9"):
        gest_dataset.score(bert, "en", templates=[9], device="cpu")
    with pytest.raises(ScoringError, match="limit=0"):
        gest_dataset.score(bert, "en", limit=0)
    with pytest.raises(ScoringError, match="batch_tokens=0"):
        gest_dataset.score(bert, "en", batch_tokens=0)
    with pytest.raises(ScoringError, match="A list cannot be scored"):
        gest_dataset.score(bert, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(ScoringError, match="takes a masked model"):
        gest_dataset.score(zoo.load("t5"), "slovak_gender", cs=True, device="cpu")
    with pytest.raises(ScoringError, match="no keywords, and cs is not computed"):
        gest_dataset.score(bert, "crows_control_negation", cs=False, device="cpu")
    with pytest.raises(ScoringError, match="No probe reads sk_translations"):
        gest_dataset.score(bert, "sk_translations")
    with pytest.raises(ScoringError, match="There is no device"):
        pick_device("abacus")
    with pytest.raises(ScoringError, match="There is no dtype"):
        pick_dtype("int8", torch.device("cpu"))


def test_devices_and_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pick_dtype("auto", torch.device("cpu")) == torch.float32
    assert pick_dtype("bfloat16", torch.device("cpu")) == torch.bfloat16
    for has, dtype in ((True, torch.bfloat16), (False, torch.float16)):
        monkeypatch.setattr(
            torch.cuda,
            "is_bf16_supported",
            lambda has=has, including_emulation=True: has and not including_emulation,
        )
        assert pick_dtype("auto", torch.device("cuda")) == dtype
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert pick_device("auto").type == "cpu"
    with pytest.raises(ScoringError, match="not at hand"):
        pick_device("cuda")


def test_encoder_is_no_causal_model() -> None:
    bert, tokenizer = zoo.load("bert")
    looks_ahead = BertLMHeadModel(bert.config).eval()
    looks_ahead.load_state_dict(bert.state_dict())
    with pytest.raises(ModelError, match="looks ahead"):
        gest_dataset.score((looks_ahead, tokenizer), "en", limit=4, device="cpu")


@pytest.mark.parametrize(
    ("config", "model"),
    [(MixtralConfig, MixtralForCausalLM), (OPTConfig, OPTForCausalLM)],
    ids=["mixture of experts", "decoder inside the base"],
)
def test_unusual_bases_take_the_short_way(config: Any, model: Any) -> None:
    _, tokenizer = zoo.load("gpt2")
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    torch.manual_seed(0)
    if config is MixtralConfig:
        sizes["num_key_value_heads"] = 2
    own = model(config(vocab_size=len(tokenizer), **sizes)).eval()
    scores = gest_dataset.score((own, tokenizer), "en", limit=4, device="cpu")
    assert scores.metadata["notes"] == []


def test_model_in_which_padding_leaks_runs_one_by_one() -> None:
    _, tokenizer = zoo.load("bert")
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64}
    fnet = FNetForMaskedLM(FNetConfig(vocab_size=len(tokenizer), **sizes)).eval()
    wide = gest_dataset.score((fnet, tokenizer), "en", device="cpu", batch_tokens=4000)
    narrow = gest_dataset.score((fnet, tokenizer), "en", device="cpu", batch_tokens=1)
    assert "Padding changes" in wide.metadata["notes"][0]
    np.testing.assert_allclose(
        np.array(wide.table["log_ratio"]), np.array(narrow.table["log_ratio"]), atol=1e-4
    )


def test_output_layer_without_plain_weights_is_used_as_it_is() -> None:
    """As after quantisation: a module that gives logits, and no matrix whose rows could be taken."""

    class Packed(torch.nn.Module):
        def __init__(self, inner: torch.nn.Linear) -> None:
            super().__init__()
            self.packed = [inner]

        def forward(self, states: torch.Tensor) -> torch.Tensor:
            return self.packed[0](states)

    model, tokenizer = zoo.load("gpt2")
    expected = gest_dataset.score((model, tokenizer), "en", limit=4, device="cpu").table["log_ratio"]
    model.lm_head = Packed(model.lm_head)
    scores = gest_dataset.score((model, tokenizer), "en", limit=4, device="cpu")
    np.testing.assert_allclose(np.array(scores.table["log_ratio"]), np.array(expected), atol=1e-4)


def test_devices_without_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values become float64 on the CPU only: `double` is never called on the device's own tensors."""
    calls: list[str] = []
    cpu, double = torch.Tensor.cpu, torch.Tensor.double
    monkeypatch.setattr(torch.Tensor, "cpu", lambda tensor: calls.append("cpu") or cpu(tensor))
    monkeypatch.setattr(torch.Tensor, "double", lambda tensor: calls.append("double") or double(tensor))
    gest_dataset.score(zoo.load("bert"), "en", limit=2, device="cpu")
    gest_dataset.score(zoo.load("bert-nsp"), "stereoset_en_intersentence", limit=2, device="cpu")
    assert calls[::2] == ["cpu"] * len(calls[::2])
    assert calls[1::2] == ["double"] * len(calls[1::2])
