"""Encoder-decoder models with planted preferences: a span is its tokens and the sentinel that closes it.

A real T5, so small that a few steps teach it what to put into one gap: *bol*, *bola* or both as often.
The pieces of *bol* are the beginning of those of *bola*; without the closing sentinel ln P(bol) would be
at least ln P(bola) for every model.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from datasets import Dataset

import gest_dataset
from gest_dataset.probes.tokenization import make_probe_tokenizer
from tests.models.test_exact import rows
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")
WORDS = ("bol", "bola")
STEPS = 80


def text(word: str) -> str:
    return f"Vtedy {word} rád."


@functools.cache
def planted(odds: float) -> tuple[Any, Any]:
    """A T5 that fills `Vtedy … rád.` with *bol* `odds` times as often as with *bola*."""
    model, tokenizer = zoo.load("t5-letters")
    read = make_probe_tokenizer(tokenizer, model, "seq2seq")
    encoder, decoder = [], []
    for word in WORDS:
        tokens = read(text(word))
        slot = tokens.slot(6, 6 + len(word))
        encoder.append(tokens.replace(slot, read.sentinels[:1]))
        decoder.append((read.sentinels[0], *tokens.slice(slot), read.sentinels[1]))
    assert encoder[0] == encoder[1]
    assert decoder[1][: len(decoder[0]) - 1] == decoder[0][:-1]  # the one is how the other begins
    shares = torch.tensor([odds / (1 + odds), 1 / (1 + odds)])
    labels = torch.nn.utils.rnn.pad_sequence(list(map(torch.tensor, decoder)), True, padding_value=-100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(STEPS):
        logits = model(input_ids=torch.tensor(encoder), labels=labels).logits
        losses = torch.nn.functional.cross_entropy(logits.mT, labels, reduction="none").sum(dim=1)
        optimizer.zero_grad()
        (shares * losses).sum().backward()
        optimizer.step()
    return model.eval(), tokenizer


def pair(**more: Any) -> Dataset:
    row = dict(rows("sk_pairs", 1)[0], masculine=text("bol"), feminine=text("bola"), word_index=1)
    row |= {"masculine_word": "bol", "feminine_word": "bola", **more}
    return Dataset.from_list([row], features=rows("sk_pairs", 1).features)


@pytest.mark.parametrize(("odds", "low", "high"), [(0.25, -1.6, -1.2), (4.0, 1.2, 1.6)])
def test_pairs_whose_masculine_word_begins_the_feminine_one(odds: float, low: float, high: float) -> None:
    """ln odds, on either side of 0: a model that prefers *bola* has a negative score."""
    (score,) = gest_dataset.score(planted(odds), pair(), device="cpu").table["log_ratio"].to_pylist()
    assert low < score < high
