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
from gest_dataset.probes.queries import decoded
from gest_dataset.probes.tokenization import SkipSampleError, make_probe_tokenizer
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


def keyword_quadruplet() -> Dataset:
    """*bola* as the stereotype, *bol* as the anti-stereotype, in the planted gap."""
    features = rows("stereoset_control_race", 1).features
    texts = [text("bola"), text("bol"), text("bola") + " Aj.", text("bol") + " Aj."]
    fields = [name for name in features if name.startswith(("original_", "control_"))]
    spans = [[6, 10], [6, 9], [6, 10], [6, 9]]
    row = {
        "id": "own",
        "original": "own",
        "bias_type": 0,
        **dict(zip(fields, texts, strict=True)),
        "keywords": spans,
    }
    return Dataset.from_list([row], features=features)


def test_keywords_are_closed() -> None:
    """mean ln P over a keyword's tokens and its closing sentinel."""
    scores = gest_dataset.score(planted(0.25), keyword_quadruplet(), device="cpu").table.to_pylist()[0]
    model, tokenizer = planted(0.25)
    read = make_probe_tokenizer(tokenizer, model, "seq2seq")
    for word, column in (("bola", "logp_original_stereotype"), ("bol", "logp_original_antistereotype")):
        tokens = read(text(word))
        slot = tokens.slot(6, 6 + len(word))
        target = (read.sentinels[0], *tokens.slice(slot), read.sentinels[1])
        with torch.no_grad():
            logits = model(
                input_ids=torch.tensor([tokens.replace(slot, read.sentinels[:1])]),
                labels=torch.tensor([target]),
            ).logits[0]
        own = torch.log_softmax(logits.double(), dim=-1)[range(1, len(target)), target[1:]]
        assert scores[column] == pytest.approx(own.mean().item(), abs=1e-4)


def test_without_a_sentinel_left_a_text_is_skipped() -> None:
    """Ten sentinels close nine slots."""
    model, tokenizer = zoo.load("t5")
    read = make_probe_tokenizer(tokenizer, model, "seq2seq")
    nine = decoded(read, (5,), [(7,)] * 9)
    assert nine.targets[-1] == read.sentinels[9]
    with pytest.raises(SkipSampleError, match="10 slots, the tokeniser has sentinels to close 9"):
        decoded(read, (5,), [(7,)] * 10)
