"""Samples that cannot be asked: skipped with a reason, the same ones as in the naive reference."""

from __future__ import annotations

import math
from typing import Any

import datasets
import pytest
import torch
from datasets import Dataset

import gest_dataset
from gest_dataset.errors import GestError
from tests.models.test_exact import BY_NAME, TOLERANCE, assert_equal, expected, reader, rows, run
from tests.support import naive, zoo
from tests.support.naive import CannotAskError, Reader, Row

pytestmark = pytest.mark.usefixtures("one_thread")


def sentences(*texts: str) -> Dataset:
    """A config like `en` with sentences of one's own."""
    features = rows("en", 1).features
    data = [
        {"id": f"own-{i}", "sentence": text, "stereotype": 1, "stereotype_name": "Emotional", "gender": 0}
        for i, text in enumerate(texts)
    ]
    return Dataset.from_list(data, features=features)


def of_length(who: Reader, number: int, length: int) -> str:
    """A sentence that makes the template's text exactly that long."""
    pattern, word, _ = naive.TEMPLATES[number]
    for count in range(1, 400):
        sentence = "I" + " he" * count
        text = pattern.replace("{s}", sentence).replace("{w}", word)
        if len(who.tokenizer(text)["input_ids"]) == length:
            return sentence
    raise AssertionError("no such sentence")


@pytest.mark.parametrize("animal", ["bert", "roberta", "xlm-roberta"])
def test_the_longest_and_one_more(animal: str) -> None:
    """Exactly as long as the model allows is asked, one token more is skipped."""
    who = reader(animal)
    probe = BY_NAME["template-1"]
    data = sentences(*(of_length(who, 1, zoo.LONGEST + more) for more in (-1, 0, 1)), "I ran.")
    wanted = naive.answer(probe.ask, who, data)
    assert [name for name, score in wanted.items() if score is None] == ["own-2"]
    scores = run(who, data, probe.options)
    assert_equal(scores, wanted, probe)
    (skipped,) = scores.skipped.to_pylist()
    assert skipped["template"] == 1
    assert skipped["reason"]


@pytest.mark.parametrize("animal", ["bert", "gpt2", "llama", "gpt-neox"])
def test_far_too_long(animal: str) -> None:
    who = reader(animal)
    probe = BY_NAME["template-3"]
    data = sentences("I ran.", "I ran" + " and ran" * 200 + ".", "I slept.")
    wanted = naive.answer(probe.ask, who, data)
    assert wanted["own-1"] is None
    assert_equal(run(who, data, probe.options), wanted, probe)


@pytest.mark.parametrize("animal", ["bert", "gpt2", "t5"])
def test_the_tokenizer_may_set_the_limit(animal: str) -> None:
    model, tokenizer = zoo.load(animal)
    tokenizer.model_max_length = 24
    who = Reader(model, tokenizer, zoo.BY_NAME[animal].family)
    probe = BY_NAME["template-3"]
    data = sentences("I ran.", "I ran" + " and ran" * 30 + ".", "I slept.")
    wanted = naive.answer(probe.ask, who, data)
    assert [name for name, score in wanted.items() if score is None] == ["own-1"]
    assert_equal(run(who, data, probe.options), wanted, probe)


@pytest.mark.parametrize("animal", ["bert", "roberta", "albert", "modernbert"])
def test_empty_and_masked_sentences(animal: str) -> None:
    who = reader(animal)
    probe = BY_NAME["template-2"]
    data = sentences("", "I ran.", "  ", f"I saw {who.tokenizer.mask_token} there.", "I slept.")
    wanted = naive.answer(probe.ask, who, data)
    assert [name for name, score in wanted.items() if score is None] == ["own-0", "own-2", "own-3"]
    scores = run(who, data, probe.options)
    assert_equal(scores, wanted, probe)
    assert all(row["reason"] for row in scores.skipped.to_pylist())


@pytest.mark.parametrize("animal", zoo.of_family("causal") + zoo.of_family("masked"))
def test_tricky_sentences(animal: str) -> None:
    """Quotes, apostrophes, accents, odd spaces, other scripts and signs around the slot."""
    who = reader(animal)
    data = sentences(
        'I said "he" and "she".',
        "I don't like it, she's right",
        "I sat in a café — naïve",
        "  I ran  twice  ",
        "Я плакала 😀",
        "I LOVE he, she, man and woman!",
        "(I ran)",
        "I wrote: He said: ",
        "{w} {s}",
    )
    for number in (3, 4) if who.family == "causal" else (1, 2, 3, 4):
        probe = BY_NAME[f"template-{number}"]
        assert_equal(run(who, data, probe.options), naive.answer(probe.ask, who, data), probe)


@pytest.mark.parametrize("animal", zoo.of_family("causal"))
def test_pairs_that_differ_from_the_start(animal: str) -> None:
    """The first token counts as well: the start token is in front of it, or the end token."""
    probe = BY_NAME["pairs-sk"]
    row = {
        **rows(probe.config, 1)[0],
        "masculine": "He ran far.",
        "feminine": "She ran far.",
        "word_index": 0,
    }
    row |= {"masculine_word": "He", "feminine_word": "She"}
    data = Dataset.from_list([row], features=rows(probe.config, 1).features)
    assert_equal(run(reader(animal), data, {}), naive.answer(probe.ask, reader(animal), data), probe)


@pytest.mark.parametrize("animal", ["bert-nsp", "bert-labels", "gpt2", "llama"])
def test_a_context_that_is_too_long(animal: str) -> None:
    family = zoo.BY_NAME[animal].family
    probe = BY_NAME["intersentence-nsp" if family == "nsp" else "intersentence"]
    data = rows(probe.config, 3).map(
        lambda row, number: {"context": "Der Fluss war breit. " * 60} if number == 1 else row,
        with_indices=True,
        load_from_cache_file=False,
    )
    wanted = naive.answer(probe.ask, reader(animal), data)
    assert [score is None for score in wanted.values()] == [False, True, False]
    assert_equal(run(reader(animal), data, {}), wanted, probe)


@pytest.mark.parametrize("animal", ["bert", "gpt2", "t5", "bert-nsp"])
def test_the_model_stays_as_it_was(animal: str) -> None:
    """Loaded objects belong to the user: weights, their type, hooks and the mode are not changed."""
    family = zoo.BY_NAME[animal].family
    model, tokenizer = zoo.load(animal)
    model.train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    config = "stereoset_de_intersentence" if family == "nsp" else "en"
    gest_dataset.score((model, tokenizer), config, limit=2, device="cpu", dtype="bfloat16")
    assert model.training
    for name, value in model.state_dict().items():
        assert value.dtype == before[name].dtype
        assert torch.equal(value, before[name])
    assert all("forward" not in vars(module) for module in model.modules())


@pytest.mark.parametrize("animal", ["bert", "albert", "t5"])
def test_a_word_that_is_not_there(animal: str) -> None:
    """A StereoSet word that does not stand in its sentence: that sample is skipped."""
    probe = BY_NAME["intrasentence"]
    broken = rows(probe.config, 4).map(
        lambda row, number: {"stereotype_word": f"{row['stereotype_word']}x"} if number == 2 else row,
        with_indices=True,
        load_from_cache_file=False,
    )
    wanted = naive.answer(probe.ask, reader(animal), broken)
    assert list(wanted.values())[2] is None
    assert_equal(run(reader(animal), broken, {}), wanted, probe)


@pytest.mark.parametrize("animal", ["bert", "t5", "gpt2"])
@pytest.mark.parametrize("context", ["The Finnish chef was silent.", "The Finnish chef was BLANK BLANK."])
def test_a_context_that_the_sentence_does_not_fill(animal: str, context: str) -> None:
    """Only causal models, which score the sentence alone, can be asked."""
    probe = BY_NAME["intrasentence"]
    other = rows(probe.config, 2).map(
        lambda row, number: {"context": context} if number == 1 else row,
        with_indices=True,
        load_from_cache_file=False,
    )
    wanted = naive.answer(probe.ask, reader(animal), other)
    assert [score is None for score in wanted.values()] == [False, animal != "gpt2"]
    assert_equal(run(reader(animal), other, {}), wanted, probe)


def test_one_token_in_two_places_of_a_word() -> None:
    """Two BLANKs without anything between them, and a tokeniser that sees one piece there."""
    probe = BY_NAME["intrasentence"]
    row = rows(probe.config, 1)[0] | {"context": "The chef was BLANKBLANK."}
    row |= dict.fromkeys(naive.CANDIDATES, "The chef was ll.")
    row |= {f"{name}_word": "l" for name in naive.CANDIDATES}
    both = [rows(probe.config, 1)[0], row | {"id": "own"}]
    assert "ll" in reader("xlm-roberta").tokenizer.tokenize("The chef was ll.")
    scores = run(reader("xlm-roberta"), Dataset.from_list(both, features=rows(probe.config, 1).features), {})
    (skipped,) = scores.skipped.to_pylist()
    assert (skipped["id"], skipped["reason"]) == ("own", "one token stands in two places of BLANK")


@pytest.mark.parametrize("animal", ["bert-bent", "roberta", "t5"])
def test_the_case_of_the_sentence_means_nothing(animal: str) -> None:
    """English sentences are in lower case, contexts are not: the context is what is asked about."""
    probe = BY_NAME["intrasentence"]
    data = rows(probe.config, 2)
    assert data[1]["stereotype"] == "The finnish chef was silent."
    cased = data.map(
        lambda row: {c: row["context"].replace("BLANK", row[f"{c}_word"]) for c in naive.CANDIDATES},
        load_from_cache_file=False,
    )
    assert cased[1]["stereotype"] == "The Finnish chef was silent."
    tables = [run(reader(animal), part, {}).table.to_pylist() for part in (data, cased)]
    assert tables[0] == tables[1]


@pytest.mark.parametrize("animal", zoo.of_family("masked") + zoo.of_family("seq2seq"))
def test_several_words_in_a_slot(animal: str) -> None:
    """The space between two words of a slot belongs to it, also where it is a token without characters."""
    probe = BY_NAME["intrasentence"]
    context = "Der Mann sprach BLANK mit mir."
    words = {"stereotype": "in Panik", "antistereotype": "in Ruhe", "unrelated": "Brot"}
    row = {"id": "own", "target": "Mann", "target_en": "man", "bias_type": 0, "context": context}
    for name, word in words.items():
        row |= {name: context.replace("BLANK", word), f"{name}_word": word}
    data = Dataset.from_list([row], features=rows(probe.config, 1).features)
    assert_equal(run(reader(animal), data, {}), naive.answer(probe.ask, reader(animal), data), probe)


def test_a_template_whose_word_is_split() -> None:
    """A masked model needs the template's words as single tokens."""
    model, _ = zoo.load("roberta")
    tokenizer = zoo.load("gpt2-letters")[1]
    tokenizer.add_special_tokens({"mask_token": "<mask>", "pad_token": "<pad>"})
    with pytest.raises(GestError, match="token"):
        run(Reader(model, tokenizer, "masked"), "en", {"templates": [1]}, limit=3)


WRONG_FAMILY = [
    ("gpt2", "stereoset_control_race", {}),
    ("llama", "crows_gender", {}),
    ("t5", "crows_gender", {}),
    ("gpt2", "en", {"templates": [1]}),
    ("bert", "stereoset_de_intersentence", {}),
    ("bert-nsp", "en", {}),
    ("bert", "en", {"templates": [9]}),
    ("gpt2", "stereoset_de_intersentence", {"intersentence": "nsp"}),
    ("bert-nsp", "stereoset_de_intersentence", {"intersentence": "generative"}),
]


@pytest.mark.parametrize(("animal", "config", "options"), WRONG_FAMILY)
def test_what_a_model_cannot_answer(animal: str, config: str, options: dict[str, Any]) -> None:
    """A probe that is not defined for the family is refused, not answered somehow."""
    with pytest.raises(GestError):
        run(reader(animal), config, options, limit=2)


# ---- the zoo and the reference themselves --------------------------------------------------------------


@pytest.mark.parametrize("animal", zoo.of_family("masked"))
def test_zoo_tokenisers(animal: str) -> None:
    """The words of the templates are single tokens; pairs differ in one token or in more."""
    who = reader(animal)
    for pattern, *words in naive.TEMPLATES.values():
        before, after = (part.replace("{s}", "I ran.") for part in pattern.split("{w}"))
        for word in words:
            text = naive.tokenise(who, before + word + after)
            assert len(text.tokens(len(before), len(before) + len(word))) == 1
    scores = [*expected(animal, "pairs-sk").values(), *expected(animal, "pairs-ru").values()]
    assert any(score is None for score in scores)
    assert sum(score is not None for score in scores) >= 3


@pytest.mark.parametrize("animal", [animal.name for animal in zoo.ZOO])
def test_zoo_has_opinions(animal: str) -> None:
    """Scores differ from sample to sample by far more than the tolerance."""
    family = zoo.BY_NAME[animal].family
    probe = "intersentence-nsp" if family == "nsp" else "template-3"
    found = [
        score[0] if isinstance(score, tuple) else score
        for score in expected(animal, probe).values()
        if score is not None
    ]
    assert torch.tensor(found).std() > 100 * TOLERANCE


def test_reference_skips() -> None:
    """The reference says why it skips."""
    row: Row = {"sentence": "[MASK]"}
    with pytest.raises(CannotAskError, match="mask token"):
        naive.template(reader("bert"), row, 1)


def test_reference_by_hand() -> None:
    """The reference's causal score is what the model's own loss says."""
    who = reader("gpt2")
    text = naive.with_start(who, naive.tokenise(who, "I ran twice."))
    ids = torch.tensor([text.ids])
    with torch.no_grad():
        loss = who.model(input_ids=ids, labels=ids).loss.item()
    assert naive.sentence_score(who, "I ran twice.") == pytest.approx(math.exp(-loss), rel=1e-5)


datasets.disable_progress_bars()
