"""What runs seldom: logits in several pieces, the check after an overflow, the labels of other models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

import gest_dataset
from gest_dataset.errors import ModelError
from gest_dataset.probes.text import make_reader
from gest_dataset.scoring import head
from gest_dataset.scoring.head import Head
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("rows", [1, 3])
def test_logits_in_several_pieces(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Each row of hidden states gets the values that it gets where all rows fit into one piece."""
    bert = zoo.load("bert")
    config = "stereoset_control_gender"
    whole = gest_dataset.score(bert, config, limit=6, device="cpu").table
    sizes: list[int] = []
    logits = Head.logits

    def counting(self: Head, states: torch.Tensor) -> torch.Tensor:
        sizes.append(len(states))
        return logits(self, states)

    monkeypatch.setattr(Head, "logits", counting)
    monkeypatch.setattr(head, "_LOGITS_BYTES", rows * 4 * bert[0].config.vocab_size)
    pieces = gest_dataset.score(bert, config, limit=6, device="cpu", cs=False).table
    assert sizes.count(rows) > 6
    for name in (name for name in pieces.column_names if name.startswith("logp_")):
        np.testing.assert_allclose(np.array(pieces[name]), np.array(whole[name]), atol=1e-4)


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
    assert make_reader(tokenizer, model, "nsp").next_label == follows
