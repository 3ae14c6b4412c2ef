"""Placebo words: the lists, the pairs, and what a model is asked and how its answer changes the verdict."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset
from wordfreq import zipf_frequency

import gest_dataset
from gest_dataset.builders.config import KIND_FIELDS, features_of
from gest_dataset.builders.frames import Frame
from gest_dataset.builders.translations import neutral_row
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import verdict_text
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
from gest_dataset.storage import read_yaml
from tests.conftest import ROOT
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


def paired(masculine: list[str], feminine: list[str], index: int) -> Dataset:
    """Pairs of texts, ten of each stereotype, that differ in one word."""
    number = len(masculine)
    columns = {"masculine": masculine, "feminine": feminine, "word_index": [index] * number}
    stereotypes = [number % 16 + 1 for number in range(number)]
    return Dataset.from_dict({"id": list(map(str, range(number))), **columns, "stereotype": stereotypes})


def naive_limit(animal: str, inputs: list[Any], lists: list[list[int]], stereotypes: list[int]) -> float:
    """The limit of the pairs in lists of tokens, from all logits at the last position (or at the mask)."""
    model, tokenizer = zoo.load(animal)
    logits = []
    for arguments in inputs:
        ids = arguments["input_ids"][0].tolist()
        place = ids.index(tokenizer.mask_token_id) if tokenizer.mask_token_id in ids else -1
        with torch.inference_mode():
            logits.append(model(**arguments).logits[0, place].double().numpy())
    pairs = [pair for words in lists for step in (1, 2) for pair in zip(words, words[step:], strict=False)]
    for step in (3, 4, 5):
        if len(pairs) < 200:
            pairs += [pair for words in lists for pair in zip(words, words[step:], strict=False)]
    return statistic.limit(statistic.effects(np.stack(logits), stereotypes, pairs))


def test_pairs_of_causal_models_use_the_beginnings_of_the_other_words() -> None:
    """Where the word begins, though the scored texts differ only later: *kind-a* or *kind-b*."""
    _, tokenizer = zoo.load("gpt2")
    letters = (word.removeprefix("Ġ") for word in sorted(tokenizer.get_vocab()) if word.startswith("Ġ"))
    words = [word for word in letters if word.isalpha() and word.isascii()][:50]
    texts = [[f"I am {n} {words[n % 50]}{end}." for n in range(160)] for end in ("-a", "-b")]
    data = paired(*texts, 3)
    scored = gest_dataset.score(zoo.load("gpt2"), data, device="cpu")
    band = scored.result()["placebo"]
    begun = [tokenizer(f"I am {n}").input_ids for n in range(160)]
    tokens, other = (
        [tokenizer(text).input_ids[len(ids)] for text, ids in zip(side, begun, strict=True)] for side in texts
    )
    assert tokens == other
    tokens = [token for token, _ in Counter(tokens).most_common()]
    inputs = [{"input_ids": torch.tensor([[tokenizer.bos_token_id, *ids]])} for ids in begun]
    limit = naive_limit("gpt2", inputs, [tokens], data["stereotype"])
    assert len(tokens) > 20
    assert band["limit"] == pytest.approx(limit, rel=1e-3)


@pytest.mark.parametrize("animal", ["gpt2", "bert", "t5"])
def test_neutral_frames_use_verbs_of_speaking(animal: str) -> None:
    """The first token of *I say*, *I ask*, … in the place of *he said*."""
    sentences = [f"Mám {number} psov." for number in range(160)]
    frame = Frame("„", ",“", "povedal", "povedala")
    rows_ = [neutral_row(None, "sk", [], n % 16 + 1, "", text, [frame]) for n, text in enumerate(sentences)]
    data = Dataset.from_list(rows_, features_of(KIND_FIELDS["neutral"]))
    band = gest_dataset.score(zoo.load(animal), data, device="cpu").result()["placebo"]
    verbs = read_yaml(ROOT / "gest_dataset/gender/grammars/sk.yaml")["speaking_verbs"]
    reader = loading.load_model(zoo.load(animal)).reader(None, frozenset())
    inputs, tokens, own = [], [], None
    for number, row in enumerate(rows_):
        start, end = row["masculine_span"]
        ids = reader(row["masculine"])
        slot = ids.slot(start, end)
        own = own or ids.ids[slot.start]
        if animal == "bert":
            inputs.append({"input_ids": torch.tensor([ids.replace(slot, [reader.mask_id] * len(slot))])})
        elif animal == "gpt2":
            inputs.append({"input_ids": torch.tensor([[*reader.start, *ids.ids[: slot.start]]])})
        else:
            encoder = torch.tensor([ids.replace(slot, [reader.sentinels[0]])])
            begun = torch.tensor([[reader.decoder_start_id, reader.sentinels[0]]])
            inputs.append({"input_ids": encoder, "decoder_input_ids": begun})
        if not number:
            for verb in verbs:
                filled = reader(row["masculine"][:start] + verb + row["masculine"][end:])
                tokens.append(filled.ids[filled.slot(start, start + len(verb)).start])
    lists = [[token for token in dict.fromkeys(tokens) if token != own]]
    assert band["pairs"] >= 40
    limit = naive_limit(animal, inputs, lists, data["stereotype"])
    assert band["limit"] == pytest.approx(limit, rel=1e-3)


def test_a_missing_placebo_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the result, and an effect that is shown without placebo words says so."""
    model = zoo.load("bert")
    assert with_placebo_from_samples([]) == []
    for config, settings, reason in (
        ("winobias_type1_dev", {}, "there are no placebo words for these sentences"),
        ("en", {"templates": [1, 3]}, "fewer than 40 pairs of placebo words suit the slot in template 1"),
    ):
        result = gest_dataset.score(model, rows(config, 40), device="cpu", **settings).result()
        assert "placebo" not in result
        assert result["no_placebo"] == reason
        measure = MEASURES["winobias" if settings == {} else "templates"]
        (sentence,) = measure.sentences("placebo", result)
        assert sentence.startswith(f"No placebo was measured ({reason}): ")
        shown = result | {"verdict": "shown"}
        assert verdict_text(measure, shown) == "shown (no placebo)"
        assert verdict_text(measure, shown | {"placebo": {}}) == "shown"
    quadruplets = gest_dataset.score(model, rows("stereoset_control_gender", 20), device="cpu").result()
    assert "no_placebo" not in quadruplets
    assert verdict_text(MEASURES["quadruplets"], {"verdict": "shown"}) == "shown"
