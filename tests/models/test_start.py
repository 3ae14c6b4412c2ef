"""Causal models without a start token: the end token stands in, and that is said; else there is a reason."""

from __future__ import annotations

import pytest
import torch
from datasets import Dataset

import gest_dataset
from gest_dataset.errors import ScoringError
from tests.models.test_exact import BY_NAME, assert_equal, rows, run
from tests.support import naive, zoo
from tests.support.naive import Reader

pytestmark = pytest.mark.usefixtures("one_thread")
STANDS_IN = "the tokenizer has no start token: its end token <|endoftext|> precedes each text"
NOTHING = "the first token has no context: the tokenizer has no start or end token"


def of_first_words(number: int) -> Dataset:
    """Pairs whose first word is the one that changes, and a pair that changes later."""
    row = dict(rows("sk_pairs", 1)[0], word_index=0, masculine_word="He", feminine_word="She")
    made = [
        row | {"id": str(i), "masculine": f"He ran {i} times.", "feminine": f"She ran {i} times."}
        for i in range(number)
    ]
    late = {"id": "late", "masculine": "And he ran.", "feminine": "And she ran.", "word_index": 1}
    made.append(row | late | {"masculine_word": "he", "feminine_word": "she"})
    return Dataset.from_list(made, features=rows("sk_pairs", 1).features)


def without_start(animal: str = "qwen2", end: bool = True) -> Reader:
    model, tokenizer = zoo.load(animal)
    tokenizer.bos_token = None
    if not end:
        tokenizer.eos_token = None
    return Reader(model, tokenizer, "causal")


def test_the_first_word_counts() -> None:
    """By hand: ln P of every token of the text behind the end token."""
    who = without_start()
    data = of_first_words(1)
    wanted = []
    for side in ("masculine", "feminine"):
        ids = torch.tensor([[who.tokenizer.eos_token_id, *who.tokenizer(data[0][side])["input_ids"]]])
        with torch.no_grad():
            log_probabilities = torch.log_softmax(who.model(input_ids=ids).logits[0].double(), dim=-1)
        wanted.append(sum(log_probabilities[i, ids[0, i + 1]].item() for i in range(ids.shape[1] - 1)))
    scores = run(who, data, {})
    assert scores.table["log_ratio"][0].as_py() == pytest.approx(wanted[0] - wanted[1], abs=1e-4)


@pytest.mark.parametrize("probe", ["pairs-sk", "winobias", "intrasentence", "intersentence-ratio"])
def test_the_end_token_is_what_a_start_token_would_be(probe: str) -> None:
    """A tokenizer that calls the same token its start token has the same scores, and no note."""
    entry = BY_NAME[probe]
    who = without_start()
    data = rows(entry.config, entry.rows)
    scores = run(who, data, entry.options)
    assert_equal(scores, naive.answer(entry.ask, who, data), entry)
    assert STANDS_IN in scores.metadata["notes"]
    assert "|start:eos|" in scores.signature
    named = Reader(who.model, zoo.load("qwen2")[1], "causal")
    named.tokenizer.bos_token = named.tokenizer.eos_token
    other = run(named, data, entry.options)
    assert other.table == scores.table
    assert not [note for note in other.metadata["notes"] if "start token" in note]
    assert "start:" not in other.signature


def test_without_either_the_reason_is_told() -> None:
    """Only where the first token would count: a pair that changes later needs nothing in front."""
    who = without_start(end=False)
    data = of_first_words(2)
    scores = run(who, data, {})
    assert scores.table["id"].to_pylist() == ["late"]
    told = {row["id"]: row["reason"] for row in scores.skipped.to_pylist()}
    assert told == dict.fromkeys(["0", "1"], NOTHING)
    assert_equal(scores, naive.answer(naive.pair, who, data), BY_NAME["pairs-sk"])
    with pytest.raises(ScoringError, match=r"No sample .* the first token has no context"):
        run(who, "stereoset_en_intrasentence", {}, limit=3)


def test_an_end_token_beyond_the_embedding() -> None:
    who = without_start()
    who.tokenizer.eos_token = "<end>"
    who.tokenizer.add_tokens(["<end>"])
    with pytest.raises(ScoringError, match="token id"):
        gest_dataset.score((who.model, who.tokenizer), "sk_pairs", limit=3, device="cpu")
