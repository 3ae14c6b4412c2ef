"""Placebo words: the lists, the pairs, and what a model is asked and how its answer changes the verdict."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset
from wordfreq import zipf_frequency

import gest_dataset
from gest_dataset.models import loading, score_run
from gest_dataset.probes.queries import Placebo, with_placebo_from_samples
from gest_dataset.probes.templates import (
    EXTENDED_TEMPLATES,
    PLACEBO_LISTS,
    PLACEBO_WORDS,
    TEMPLATES,
    find_pairs,
)
from gest_dataset.statistics import placebo as statistic
from tests.models.test_exact import rows
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_lists_are_sorted_by_frequency_and_share_no_word() -> None:
    words = [word for some in PLACEBO_WORDS.values() for word in some]
    assert len(words) == len(set(words))
    for some in PLACEBO_WORDS.values():
        frequencies = [zipf_frequency(word, "en") for word in some]
        assert all(a >= b for a, b in pairwise(frequencies))
    templates = {**TEMPLATES, **EXTENDED_TEMPLATES}.values()
    assert {template.placebo for template in templates} == {"", *PLACEBO_LISTS}
    assert all(TEMPLATES[number].placebo for number in TEMPLATES)


def test_pairs_are_neighbours_of_one_class() -> None:
    every = (word for some in PLACEBO_WORDS.values() for word in some)
    known = {word: number for number, word in enumerate(every)}
    found = find_pairs("names", lambda word: known[word] + 1)
    assert found is not None
    assert len(found.pairs) >= 200
    words = list(known)
    for pair in found.pairs:
        first, second = (words[found.ids[i] - 1] for i in pair)
        (name,) = [name for name, some in PLACEBO_WORDS.items() if first in some]
        assert 0 < PLACEBO_WORDS[name].index(second) - PLACEBO_WORDS[name].index(first) <= 2
    few = dict(list(known.items())[:20])
    assert find_pairs("names", lambda word: few.get(word, -1) + 1 or None) is not None  # up to distance 5
    assert find_pairs("names", lambda word: known[word] + 1 if known[word] < 9 else None) is None


@pytest.mark.parametrize("animal", ["bert", "gpt2", "t5"])
def test_the_values_are_those_of_the_whole_model(animal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any tokens will do: the probe is given some instead of the words."""
    model, tokenizer = zoo.load(animal)
    ids = tuple(range(20, 80))
    fake = Placebo(ids, tuple((i, i + 1) for i in range(59)))
    monkeypatch.setattr("gest_dataset.probes.templates.placebo_words", lambda *_: fake)
    seen: dict[int, Any] = {}
    real = score_run._placebo_bands
    monkeypatch.setattr(score_run, "_placebo_bands", lambda found: seen.update(found) or real(found))
    data = rows("en", 64)
    result = gest_dataset.score((model, tokenizer), data, device="cpu")
    kind = loading.name_and_kind((model, tokenizer))[1]
    reader = loading.load_model((model, tokenizer)).reader(None, frozenset())
    for template in result.metadata["templates"]:
        words, values, labels = seen[template]
        assert words is fake
        chosen = [row for row in data if row["id"] in result.table["id"].to_pylist()]
        assert len(values) == len(labels) == len(chosen)
        text, start, end = TEMPLATES[template].fill(chosen[0]["sentence"], TEMPLATES[template].masculine)
        tokens = reader(text)
        slot = tokens.slot(start, end)
        with torch.inference_mode():
            if kind == "masked":
                masked = tokens.replace(slot, [reader.mask_id])
                logits = model(torch.tensor([masked])).logits[0, slot.start]
            elif kind == "causal":
                logits = model(torch.tensor([tokens.ids[: slot.start]])).logits[0, -1]
            else:
                asked = torch.tensor([tokens.replace(slot, [reader.sentinels[0]])])
                begun = torch.tensor([[reader.decoder_start_id, reader.sentinels[0]]])
                logits = model(input_ids=asked, decoder_input_ids=begun).logits[0, -1]
        expected = logits[list(ids)].double().numpy()
        np.testing.assert_allclose(np.diff(values[0]), np.diff(expected), atol=1e-4)
    bands = result.metadata["placebo"]
    assert set(bands) == {str(template) for template in result.metadata["templates"]}
    assert result.result()["placebo"]["pairs"] == 59


def test_scores_are_the_same_with_and_without_placebo_words(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Placebo((5, 6, 7), ((0, 1), (1, 2)))
    tables = []
    for words in (None, fake):
        monkeypatch.setattr("gest_dataset.probes.templates.placebo_words", lambda *_, w=words: w)
        tables.append(gest_dataset.score(zoo.load("gpt2"), rows("en", 64), device="cpu").table)
    np.testing.assert_allclose(*(table["log_ratio"].to_numpy() for table in tables), atol=1e-5)


def test_pairs_use_the_words_of_the_other_pairs() -> None:
    """In the slot of a pair, the forms of other pairs in one gender: their band is that of all logits."""
    model, tokenizer = zoo.load("bert")
    words = [word for word in tokenizer.get_vocab() if word.isascii() and word.isalpha() and len(word) > 1][
        :80
    ]
    masculine, feminine = words[:40], words[40:]
    stereotypes = [number % 16 + 1 for number in range(160)]
    texts = [[f"I am {side[n % 40]} on day {n}." for n in range(160)] for side in (masculine, feminine)]
    columns = {"masculine": texts[0], "feminine": texts[1], "word_index": [2] * 160}
    data = Dataset.from_dict({"id": [str(n) for n in range(160)], **columns, "stereotype": stereotypes})
    scored = gest_dataset.score((model, tokenizer), data, device="cpu")
    band = scored.result()["placebo"]
    logits = []
    for pair in zip(*texts, strict=True):
        ids, other = (tokenizer(text, return_tensors="pt").input_ids for text in pair)
        (place,) = (ids[0] != other[0]).nonzero().flatten().tolist()
        ids[0, place] = tokenizer.mask_token_id
        with torch.inference_mode():
            logits.append(model(ids).logits[0, place].double().numpy())
    sides = [[tokenizer.convert_tokens_to_ids(word) for word in side] for side in (masculine, feminine)]
    pairs = [pair for side in sides for step in (1, 2, 3) for pair in zip(side, side[step:], strict=False)]
    naive = statistic.effects(np.stack(logits), stereotypes, pairs)
    assert band["pairs"] == len(pairs)
    assert band["limit"] == pytest.approx(statistic.limit(naive), rel=1e-3)


def test_other_samples_have_no_words_of_others() -> None:
    """Frames with two words, and continuations of a causal model."""
    for config, animal in (("ru_neutral", "bert"), ("sk_pairs", "gpt2")):
        assert "placebo" not in gest_dataset.score(zoo.load(animal), rows(config, 40), device="cpu").result()
    assert with_placebo_from_samples([]) == []
