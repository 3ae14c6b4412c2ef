"""Placebo words: the lists, the pairs, and what a model is asked and how its answer changes the verdict."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from wordfreq import zipf_frequency

import gest_dataset
from gest_dataset.models import loading, scores
from gest_dataset.probes.queries import Placebo
from gest_dataset.probes.templates import (
    EXTENDED_TEMPLATES,
    PLACEBO_LISTS,
    PLACEBO_WORDS,
    TEMPLATES,
    find_pairs,
)
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
    real = scores._placebo_bands
    monkeypatch.setattr(scores, "_placebo_bands", lambda found: seen.update(found) or real(found))
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
