"""Answers of loaded models: batches, stops, and sampling that depends on nothing but prompt and seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from scipy import stats

import gest_dataset
from gest_dataset.errors import ModelError
from gest_dataset.models.base import Sampling
from gest_dataset.models.loading import LoadedModel, _sampler
from gest_dataset.probes.prompts import Answer, Prompt
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("mirror", "one_thread")
TEMPLATE = "{% for m in messages %}[{{ m.content }}]{% endfor %}"
TEXTS = ("I am tall.", "You are.", "We are not tall, and they have never been so.", "I", "She was tall.")
PROMPTS = [Prompt(str(i), "x", text) for i, text in enumerate(TEXTS)]


def chat_model(name: str = "gpt2") -> tuple[Any, Any]:
    model, tokenizer = zoo.load(name)
    tokenizer.chat_template = TEMPLATE
    model.config.n_positions = zoo.LONGEST
    return model, tokenizer


def answers_of(pair: tuple[Any, Any], prompts: Sequence[Prompt], sampling: Sampling) -> dict[Prompt, Answer]:
    batches = LoadedModel(*pair, "causal", "zoo").generate(iter(prompts), sampling)
    return {prompt: answer for batch in batches for prompt, answer in batch}


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_answers_in_a_batch_are_those_of_single_prompts(name: str) -> None:
    model, tokenizer = chat_model(name)
    answers = answers_of((model, tokenizer), PROMPTS, Sampling(max_tokens=6, top=3))
    for prompt in PROMPTS:
        ids = tokenizer(f"[{prompt.text}]", return_tensors="pt", add_special_tokens=False)
        ids.pop("token_type_ids", None)
        alone = model.generate(
            **ids,
            max_new_tokens=6,
            do_sample=False,
            pad_token_id=tokenizer.eos_token_id,
            output_logits=True,
            return_dict_in_generate=True,
        )
        length = ids["input_ids"].shape[1]
        text = tokenizer.decode(alone.sequences[0][length:], skip_special_tokens=True)
        assert (answers[prompt].text, answers[prompt].tokens_in) == (text, length)
        top = alone.logits[0][0].log_softmax(-1).topk(3).values.tolist()
        assert [value for _, value in answers[prompt].top] == pytest.approx(top, abs=1e-5)


def test_sampled_answers_are_reproducible() -> None:
    """An answer depends on its prompt and seed, not on the rest of the batch."""
    pair = chat_model()
    prompts = [Prompt("0", "x", text, repeat) for text in TEXTS for repeat in range(4)]
    sampling = Sampling(temperature=1.0, repeats=4, max_tokens=8)
    answers = answers_of(pair, prompts, sampling)
    assert len({answers[prompt].text for prompt in prompts[:4]}) > 1
    for prompt in prompts[::3]:
        assert answers_of(pair, [prompt], sampling) == {prompt: answers[prompt]}
    other = answers_of(pair, prompts[:1], Sampling(temperature=1.0, seed=1, repeats=4, max_tokens=8))
    assert other[prompts[0]] == answers[prompts[1]]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_samples_have_the_probabilities_of_the_model(temperature: float) -> None:
    """The first tokens of 2,000 repeats against softmax(logits / temperature), by a chi-squared test."""
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0, -1.0])
    prompts = [Prompt("0", "x", "I am", repeat) for repeat in range(2000)]
    sampler = _sampler(prompts, Sampling(temperature=temperature), torch.device("cpu"))
    tokens = sampler(torch.empty(0), logits.repeat(len(prompts), 1)).argmax(-1)
    counts = torch.bincount(tokens, minlength=5).numpy()
    expected = (logits / temperature).softmax(-1).double().numpy()
    assert stats.chisquare(counts, expected / expected.sum() * counts.sum()).pvalue > 0.001


def test_models_that_cannot_answer() -> None:
    with pytest.raises(ModelError, match="is not a causal model with a chat template"):
        gest_dataset.ask(str(zoo.directory("gpt2")))
    with pytest.raises(ModelError, match="is not a causal model with a chat template"):
        gest_dataset.ask(str(zoo.directory("bert")))
    with pytest.raises(ModelError, match=r"an answer of 500 exceed .* --max-tokens"):
        gest_dataset.ask(chat_model(), limit=2, max_tokens=500)


def test_dropout_is_off_while_answers_are_generated() -> None:
    model, tokenizer = chat_model()
    expected = answers_of((model, tokenizer), PROMPTS, Sampling(max_tokens=6))
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    assert answers_of((model.train(), tokenizer), PROMPTS, Sampling(max_tokens=6)) == expected
    assert model.training, "the model of the caller is not changed"


def test_generation_settings_are_part_of_a_run() -> None:
    """Answers obey them: a penalty, suppressed tokens. Beams are not used."""
    model, tokenizer = chat_model()
    loaded = LoadedModel(model, tokenizer, "causal", "zoo")
    before = loaded.settings(chat=True)
    answers = answers_of((model, tokenizer), PROMPTS, Sampling(max_tokens=6, top=3))
    model.generation_config.update(num_beams=4)
    assert answers_of((model, tokenizer), PROMPTS, Sampling(max_tokens=6, top=3)) == answers
    model.generation_config.update(num_beams=1, repetition_penalty=1.5, suppress_tokens=[0, 1])
    assert loaded.settings(chat=True) != before
    assert loaded.settings() == {name: before[name] for name in loaded.settings()}
