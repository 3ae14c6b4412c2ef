"""Tokenised texts: slots, limits and the reasons for skipped samples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from datasets import Dataset

from gest_dataset.errors import ModelError
from gest_dataset.probes.queries import check_compared
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError, Tokens, make_probe_tokenizer
from tests.models.test_exact import reader as naive_reader
from tests.models.test_exact import rows, run
from tests.support import naive, zoo

pytestmark = pytest.mark.usefixtures("one_thread")


def reader(name: str) -> ProbeTokenizer:
    model, tokenizer = zoo.load(name)
    return make_probe_tokenizer(tokenizer, model, zoo.BY_NAME[name].family)


def tokens(*offsets: tuple[int, int], ids: tuple[int, ...] = (), special: tuple[bool, ...] = ()) -> Tokens:
    """Tokens by hand, of the characters of a text of twenty letters."""
    number = len(offsets)
    return Tokens(
        "abcdefghijklmnopqrst",
        ("x",) * number,
        ids or tuple(range(number)),
        offsets,
        special or (False,) * number,
        (0,) * number,
        frozenset({99}),
    )


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (tokens((0, 4), (6, 9)), "no token covers the slot"),
        (tokens((4, 6), special=(True,)), "no token covers the slot"),
        (tokens((4, 5), (0, 4), (5, 6)), "the tokens of the slot are not next to each other"),
        (tokens((0, 4), (4, 6), ids=(1, 99)), "the word has a part that the tokeniser does not know"),
    ],
)
def test_slots_that_cannot_be_asked(found: Tokens, reason: str) -> None:
    with pytest.raises(SkipSampleError) as raised:
        found.slot(4, 6)
    assert str(raised.value) == reason


@pytest.mark.parametrize(
    ("start", "end", "slot"), [(0, 4, (0,)), (3, 5, (0, 1)), (4, 6, (1,)), (5, 20, (1, 2))]
)
def test_a_slot_is_the_tokens_of_its_characters(start: int, end: int, slot: tuple[int, ...]) -> None:
    assert tuple(tokens((0, 4), (4, 6), (6, 20)).slot(start, end)) == slot


@pytest.mark.parametrize(
    ("pieces", "special", "first"),
    [
        (("▁", "sing"), (False, False), 0),
        (("Ġ", "sing"), (False, False), 0),
        (("▁", "sing"), (True, False), 1),
        (("▁", "▁sing"), (False, False), 1),
        (("▁I", "sing"), (False, False), 1),
    ],
)
def test_a_boundary_mark_alone_belongs_to_the_word(
    pieces: tuple[str, str], special: tuple[bool, bool], first: int
) -> None:
    """Also at the beginning of a text, and not the mark of another token or a special one."""
    found = replace(tokens((0, 0), (0, 4), special=special), pieces=pieces)
    assert found.slot(0, 4) == range(first, 2)


def test_texts_that_cannot_be_asked() -> None:
    bert, t5 = reader("bert"), reader("t5")
    for ask, text, reason in (
        (bert, " \n", "empty sentence"),
        (bert, "I [MASK] sing.", "contains [MASK], with which the model is asked"),
        (t5, "I <extra_id_3> sing.", "contains <extra_id_, with which the model is asked"),
        (replace(bert, vocabulary=5), "I", r"has the token"),
    ):
        with pytest.raises(SkipSampleError) as raised:
            ask(text)
        assert str(raised.value).startswith(reason)
    assert len(bert("I [mask] sing.").ids) > 3
    assert len(reader("gpt2")("I [MASK] <extra_id_0>").ids) > 3


@pytest.mark.parametrize("name", ["roberta", "gpt2"])
@pytest.mark.parametrize(
    ("told", "limit"), [(10**30, zoo.LONGEST), (10**9, zoo.LONGEST), (50, 50), (0, zoo.LONGEST)]
)
def test_limits(name: str, told: int, limit: int) -> None:
    """Of the tokeniser and of the table of positions; RoBERTa's begins behind the padding id."""
    model, tokenizer = zoo.load(name)
    tokenizer.model_max_length = told
    if name == "roberta":
        assert model.config.pad_token_id == 1
        assert model.config.max_position_embeddings == zoo.LONGEST + 2
    assert make_probe_tokenizer(tokenizer, model, zoo.BY_NAME[name].family).limit == limit


def test_span_models_need_sentinels() -> None:
    model, _ = zoo.load("t5")
    _, tokenizer = zoo.load("gpt2")
    with pytest.raises(ModelError, match="has no sentinel <extra_id_0>"):
        make_probe_tokenizer(tokenizer, model, "seq2seq")
    assert reader("bert").sentinels == ()
    assert len(reader("t5").sentinels) == 10


def test_compared_parts_are_known() -> None:
    """Only what differs has to be known: unknown tokens that both share say nothing of the difference."""
    known, unknown = tokens((0, 1), (1, 2), ids=(1, 2)), tokens((0, 1), (1, 2), ids=(1, 99))
    check_compared(known, tokens((0, 1), (1, 2), ids=(1, 3)))
    for pair in ((known, unknown), (unknown, known)):
        with pytest.raises(SkipSampleError, match="does not know"):
            check_compared(*pair)
    check_compared(tokens((0, 1), (1, 2), ids=(99, 2)), tokens((0, 1), (1, 2), ids=(99, 3)))


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
