"""Tokenized texts: slots, limits and the reasons for skipped samples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from datasets import Dataset

from gest_dataset.errors import ModelError
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError, make_probe_tokenizer
from tests.models.test_exact import reader as naive_reader
from tests.models.test_exact import rows, run
from tests.support import naive, zoo

pytestmark = pytest.mark.usefixtures("one_thread")


def reader(name: str) -> ProbeTokenizer:
    model, tokenizer = zoo.load(name)
    return make_probe_tokenizer(tokenizer, model, zoo.BY_NAME[name].family)


def test_texts_that_cannot_be_asked() -> None:
    bert, t5 = reader("bert"), reader("t5")
    for ask, text, reason in (
        (bert, " \n", "empty sentence"),
        (bert, "I [MASK] sing.", "contains [MASK], which is reserved for the query"),
        (t5, "I <extra_id_3> sing.", "contains <extra_id_, which is reserved for the query"),
        (replace(bert, vocabulary=5), "I", "token id"),
    ):
        with pytest.raises(SkipSampleError) as raised:
            ask(text)
        assert str(raised.value).startswith(reason)
    assert len(bert("I [mask] sing.").ids) > 3
    assert len(reader("gpt2")("I [MASK] <extra_id_0>").ids) > 3


def test_span_models_need_sentinels() -> None:
    model, _ = zoo.load("t5")
    _, tokenizer = zoo.load("gpt2")
    with pytest.raises(ModelError, match="has no sentinel <extra_id_0>"):
        make_probe_tokenizer(tokenizer, model, "seq2seq")
    assert reader("bert").sentinels == ()
    assert len(reader("t5").sentinels) == 10


def hindi(index: int = 1) -> Dataset:
    """A pair that differs in a vowel sign, which is a mark and no letter."""
    row = dict(rows("sk_pairs", 1)[0], masculine="मैं थका हूँ।", feminine="मैं थकी हूँ।", word_index=index)
    row |= {"masculine_word": "थका", "feminine_word": "थकी"}
    return Dataset.from_list([row], features=rows("sk_pairs", 1).features)


@pytest.mark.parametrize("name", ["roberta", "modernbert", "t5-bytes", "gpt2"])
def test_a_vowel_sign_is_a_part_of_its_word(name: str) -> None:
    """To masked models as well, which look for the word's tokens."""
    who = naive_reader(name)
    options = {"multi_token": True} if who.family == "masked" else {}
    scores = run(who, hindi(), options)
    (score,) = scores.table["log_ratio"].to_pylist()
    assert score == pytest.approx(naive.pair(who, hindi()[0], **options), abs=1e-4)
    assert abs(score) > 1e-3
