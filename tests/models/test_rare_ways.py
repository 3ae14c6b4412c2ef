"""What runs seldom: logits in pieces, checks after an overflow, labels of other models, small memories."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from tqdm import tqdm
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

import gest_dataset
from gest_dataset.errors import ModelError, ScoringError
from gest_dataset.models import batching, head
from gest_dataset.models.batching import Pass, Passes, State, answer
from gest_dataset.models.head import Head
from gest_dataset.models.scorers import LanguageModel
from gest_dataset.models.shards import Shards
from gest_dataset.probes.queries import Input, Lookup, Query, Values
from gest_dataset.probes.tokenization import make_probe_tokenizer
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("animal", ["bert", "gpt2", "gemma2", "t5"])
@pytest.mark.parametrize("tokens", [7, 10_000])
@pytest.mark.parametrize("rows", [1, 3])
def test_logits_in_pieces(monkeypatch: pytest.MonkeyPatch, animal: str, tokens: int, rows: int) -> None:
    """Some states and a slice of the vocabulary at a time: ln P is that of the whole model at its places."""
    model, tokenizer = zoo.load(animal)
    kind = next(one.family for one in zoo.ZOO if one.name == animal)
    decoder = (0, 5, 6, 7) if kind == "seq2seq" else ()
    inputs = [Input((9, 8, 7, 6, 5), decoder), Input((5, 6, 7), decoder)]
    size = model.get_output_embeddings().out_features
    targets = (0, 6, 7, 99, 100, size - 1)  # on both sides of the ends of slices, and at one place
    asks = [[Lookup(p, t, True) for p in range(3) for t in targets] for _ in inputs]
    scorer = LanguageModel(model, kind, tokenizer.pad_token_id, owned=False)
    monkeypatch.setattr(head, "_SLICE", tokens)
    monkeypatch.setattr(head, "_LOGITS_BYTES", rows * 4 * min(tokens, size))
    scorer.check(inputs, asks)
    assert scorer.cuts, scorer.notes
    columns = Head.columns
    seen: list[tuple[int, int]] = []

    def counting(self: Head, states: torch.Tensor, ids: Any) -> torch.Tensor:
        found = columns(self, states, ids)
        seen.append(tuple(found.shape))
        return found

    monkeypatch.setattr(Head, "columns", counting)
    found = scorer.answer(inputs, asks)
    for given, own, values in zip(inputs, asks, found, strict=True):
        arguments = {"input_ids": torch.tensor([given.input_ids])}
        if decoder:
            arguments["decoder_input_ids"] = torch.tensor([decoder])
        with torch.no_grad():
            expected = model(**arguments).logits[0].double().log_softmax(dim=-1)
        np.testing.assert_allclose(values, [expected[a.position, a.target] for a in own], atol=2e-5)
    assert all(n <= rows and width <= tokens for n, width in seen)
    assert sum(n * width for n, width in seen) == 6 * size, "each logit of the six places is computed once"


class ChoosyBert(BertForMaskedLM):
    """A head that gives tokens far below the likeliest one no chance at all."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        output = super().forward(*args, **kwargs)
        low = output.logits < output.logits.amax(dim=-1, keepdim=True) - 2
        output.logits = output.logits.masked_fill(low, -torch.inf)
        return output


def test_a_head_that_is_another_one_in_slices_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens that are asked for are among the likeliest: by themselves they have the right logits."""
    model, tokenizer = zoo.load("bert")
    monkeypatch.setattr(head, "_SLICE", 20)
    given = Input((9, 8, 7, 6, 5))
    with torch.no_grad():
        logits = model(torch.tensor([given.input_ids])).logits[0, 2]
    asks = [Lookup(2, int(token), True) for token in logits.topk(3).indices]
    model.__class__ = ChoosyBert
    scorer = LanguageModel(model, "masked", tokenizer.pad_token_id, owned=False)
    scorer.check([given], [asks])
    assert not scorer.cuts
    kept = logits[logits >= logits.max() - 2].double()
    assert len(kept) < len(logits)
    expected = [float(logits[ask.target] - kept.logsumexp(dim=0)) for ask in asks]
    np.testing.assert_allclose(scorer.answer([given], [asks])[0], expected, atol=2e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("there", [True, False])
def test_products_with_onednn_and_without_it(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, there: bool
) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: there)
    torch.manual_seed(0)
    states, weight, bias = (torch.randn(*size, dtype=dtype) for size in ((1, 5, 8), (70, 8), (70,)))
    for given in (None, bias):
        found = head._product(states, weight[10:40], None if given is None else given[10:40])
        expected = states.double() @ weight[10:40].double().T + (
            0 if given is None else given[10:40].double()
        )
        assert found.dtype == dtype
        assert found.layout == torch.strided
        tolerance = 0.1 if dtype == torch.bfloat16 else 1e-5
        torch.testing.assert_close(found.double(), expected, atol=tolerance, rtol=0)


def test_float32_is_checked_again() -> None:
    """In float16 this head gives nothing to compare, so what it does shows in float32 only."""

    def overflow(module: Any, inputs: Any, output: Any) -> Any:
        if module.dtype == torch.float16:
            output.logits = output.logits * torch.nan
        return output

    model, tokenizer = zoo.load("bert-neighbour")
    model.half().float()  # the weights that both runs have
    expected = gest_dataset.score((model, tokenizer), "en", limit=6, device="cpu").table["log_ratio"]
    model.register_forward_hook(overflow)
    scores = gest_dataset.score((model, tokenizer), "en", limit=6, device="cpu", dtype="float16")
    assert scores.metadata["dtype"] == "float16+float32"
    assert any("its head gives other values" in note for note in scores.metadata["notes"])
    np.testing.assert_allclose(np.array(scores.table["log_ratio"]), np.array(expected), atol=1e-4)


def test_three_labels_are_no_next_sentence_model(tmp_path: Path) -> None:
    _, tokenizer = zoo.load("bert-labels")
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    three = BertForSequenceClassification(BertConfig(vocab_size=len(tokenizer), num_labels=3, **sizes))
    three.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    for model in ((three, tokenizer), str(tmp_path)):
        with pytest.raises(ModelError, match="has 3 labels; a next-sentence model has two"):
            gest_dataset.score(model, "stereoset_en_intersentence", device="cpu")


@pytest.mark.parametrize(
    ("labels", "follows"),
    [
        (("not_next", "next"), 1),
        (("NOT-NEXT", "NEXT"), 1),
        (("is_next", "is_not_next"), 0),
        (("is not next", "IsNext"), 1),
        (("NotNext", "is_next"), 1),
        (("LABEL_0", "LABEL_1"), 0),
    ],
)
def test_the_label_that_says_follows(labels: tuple[str, str], follows: int) -> None:
    model, tokenizer = zoo.load("bert-labels")
    model.config.id2label = dict(enumerate(labels))
    assert make_probe_tokenizer(tokenizer, model, "nsp").next_label == follows


class Adding:
    """A scorer whose value of an ask is the sum of the ids and the target, in a memory of some tokens."""

    causal = False

    def __init__(self, memory: int) -> None:
        self.memory, self.dtypes = memory, ["float32"]

    def check(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> None:
        """Nothing is short here."""

    def answer(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> list[Values]:
        if len(inputs) * inputs[0].size > self.memory:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
        return [
            np.array([float(sum(one.input_ids) + ask.target) for ask in own])
            for one, own in zip(inputs, asks, strict=True)
        ]


class Noting:
    """A store with a beginning, that notes each state it is to keep: values, batches, budget, at once."""

    def __init__(self, kept: Sequence[Values] = ()) -> None:
        self.kept, self.noted = list(kept), list[tuple[int, int, int, bool]]()

    def load(self, work: Sequence[Pass], budget: int) -> State:
        return State(budget, list(self.kept), batches=len(self.kept))

    def keep(self, state: State, at_once: bool = False) -> None:
        self.noted.append((len(state.values), state.batches, state.budget, at_once))


class Bar(tqdm):
    """A bar of progress, which is kept to be looked at."""

    made: ClassVar[list[Bar]] = []

    def __init__(self, *arguments: Any, **given: Any) -> None:
        super().__init__(*arguments, **{**given, "disable": False, "file": io.StringIO()})
        self.made.append(self)


FIVE = [Query((n, *[1] * 3), (0,), (n,), False) for n in range(5)]  # four tokens each


def test_a_small_memory_is_kept_at_once() -> None:
    """So that a run that goes on does not meet it again; other states may wait."""
    store = Noting()
    found, passes = answer(FIVE, Adding(memory=9), 16, store=store)
    assert [float(value[0]) for value in found] == [2 * n + 3 for n in range(5)]
    assert passes == Passes(queries=5, inputs=5, tokens=20, batches=3, computed=20)
    assert store.noted == [(0, 0, 8, True), (2, 1, 8, False), (4, 2, 8, False), (5, 3, 8, False)]


def test_progress_begins_where_an_earlier_process_has_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "tqdm", Bar)
    answer(FIVE, Adding(memory=99), 8, "asking bert", Noting([np.array([7.0])]))
    bar = Bar.made.pop()
    assert (bar.initial, bar.n, bar.total, bar.desc, bar.unit) == (1, 5, 5, "asking bert", "inputs")
    answer(FIVE, Adding(memory=99), 8)
    bar = Bar.made.pop()
    assert (bar.initial, bar.n, bar.desc) == (0, 5, "scoring")


def test_one_input_that_does_not_fit_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ScoringError) as caught:
        answer(FIVE, Adding(memory=3), 16)
    assert str(caught.value) == (
        "Out of memory with one input of 4 tokens. Use a smaller model, dtype='bfloat16' or device='cpu'."
    )


def test_the_check_is_made_with_the_shortest_inputs_of_two_lengths() -> None:
    checked: list[int] = []

    class Checking(Adding):
        def check(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> None:
            checked.extend(one.size for one in inputs)
            assert [len(own) for own in asks] == [1] * len(inputs)

    answer([Query((1,) * size, (0,), (2,), False) for size in (3, 9, 2, 5)], Checking(memory=99), 99)
    assert checked == [2, 3]


def test_the_seconds_of_all_processes_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of 7 seconds that was stopped and went on for 3 has taken 10, whatever the clock says."""
    now = [100.0]
    monkeypatch.setattr("gest_dataset.models.shards.time.perf_counter", lambda: now[0])
    values = [np.array([1.0]), np.array([2.0])]
    work = [(Input((n,), (), ()), [Lookup(0, 1, False)]) for n in range(2)]
    first = Shards(tmp_path)
    first.load(work, 8)
    now[0] += 7
    first.keep(State(8, values[:1], batches=1), at_once=True)
    now[0] = 5.0  # of another machine
    second = Shards(tmp_path)
    assert second.load(work, 8).batches == 1
    assert second.earlier == 7.0
    now[0] += 3
    second.keep(State(8, values, batches=2), at_once=True)
    third = Shards(tmp_path)
    third.load(work, 8)
    assert third.earlier == 10.0
