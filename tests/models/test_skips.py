"""Samples that cannot be asked: skipped with a reason, the same ones as in the naive reference."""

from __future__ import annotations

import math

import datasets
import pytest
import torch
from datasets import Dataset

import gest_dataset
from tests.models.test_exact import BY_NAME, TOLERANCE, assert_equal, expected, reader, rows, run
from tests.support import naive, zoo
from tests.support.naive import Reader

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


# ---- the zoo and the reference themselves --------------------------------------------------------------


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


def test_reference_by_hand() -> None:
    """The reference's causal score is what the model's own loss says."""
    who = reader("gpt2")
    text = naive.with_start(who, naive.tokenize(who, "I ran twice."))
    ids = torch.tensor([text.ids])
    with torch.no_grad():
        loss = who.model(input_ids=ids, labels=ids).loss.item()
    assert naive.sentence_score(who, "I ran twice.") == pytest.approx(math.exp(-loss), rel=1e-5)


datasets.disable_progress_bars()
