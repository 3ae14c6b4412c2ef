"""The counts and contents of every config on the real upstream files (marked `upstream`)."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.controls import FIELDS
from gest_dataset.builders.pairs import WordDifference, differing_word
from gest_dataset.data import sources
from gest_dataset.languages import LANGUAGES, SLAVIC, STEREOSET
from gest_dataset.probes import stereoset
from gest_dataset.probes.tokenization import SkipSampleError, make_probe_tokenizer
from tests.conftest import ROOT
from tests.support import zoo

pytestmark = [pytest.mark.upstream, pytest.mark.usefixtures("upstream")]

MISSING = "kinit-sk/gest/data/gender_variants.csv"  # pinned, but too large for the mirror
PER_STEREOTYPE = [254, 215, 256, 207, 200, 197, 243, 251, 229, 215, 231, 222, 222, 194, 208, 221]
BUILDABLE = [name for name, config in CONFIGS.items() if MISSING not in config.sources]


def read(name: str) -> tuple[list[dict[str, Any]], Counter[str]]:
    config = CONFIGS[name]
    dropped: Counter[str] = Counter()
    rows = list(config.read({key: sources.fetch(key) for key in config.sources}, dropped))
    return rows, dropped


@pytest.mark.parametrize("name", BUILDABLE)
def test_rows_are_as_published(name: str) -> None:
    rows, _ = read(name)
    assert len(rows) == CONFIGS[name].published_rows
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows[:50]:
        CONFIGS[name].features.encode_example(row)


@pytest.mark.parametrize("name", ["en", "en_1_0"])
def test_stereotypes_have_the_papers_sizes(name: str) -> None:
    counts = Counter(row["stereotype"] for row in read(name)[0])
    assert [counts[i] for i in range(1, 17)] == PER_STEREOTYPE


def test_releases_differ_in_244_sentences() -> None:
    new, old = read("en")[0], read("en_1_0")[0]
    assert [row["id"] for row in new] == [row["id"] for row in old]
    differing = [a for a, b in zip(new, old, strict=True) if a["sentence"] != b["sentence"]]
    assert len(differing) == 244


def test_annotations() -> None:
    rows = read("annotations")[0]
    assert Counter(row["verdict"] for row in rows) == {
        "none": 3419,
        "no": 322,
        "fix": 176,
        "ok": 84,
    }


def test_every_system_translates_everything() -> None:
    systems = 0
    for language in SLAVIC:
        counts = Counter(row["system"] for row in read(f"{language}_translations")[0])
        assert counts == dict.fromkeys(LANGUAGES[language].systems, 3565)
        systems += len(counts)
    assert systems == 32
    assert {row["system"] for row in read("bg_translations")[0]} == {"google"}


@pytest.mark.parametrize(
    ("test", "counts"),
    [
        ("intrasentence", {"gender": 255, "race": 962, "profession": 810, "religion": 79}),
        ("intersentence", {"gender": 242, "race": 976, "profession": 827, "religion": 78}),
    ],
)
def test_stereoset_english(test: str, counts: dict[str, int]) -> None:
    rows = read(f"stereoset_en_{test}")[0]
    assert Counter(row["bias_type"] for row in rows) == counts
    assert len({row["target_en"] for row in rows}) == 79


# Rows with two candidates that are equal but for their case, which are the same tokens to many models
EQUAL = {"en": 0, "de": 0, "fr": 2, "es": 4, "tr": 12}


@pytest.mark.parametrize("animal", ["roberta", "t5-bytes"])
@pytest.mark.parametrize("language", STEREOSET)
def test_every_context_of_stereoset_can_be_asked(animal: str, language: str) -> None:
    """Odd slots (`BLANK!p`, `BLANKed`) and contexts with two of them as well; bytes know every word."""
    model, tokenizer = zoo.load(animal)
    reader = make_probe_tokenizer(tokenizer, model, zoo.BY_NAME[animal].family)
    boundless = replace(reader, limit=None)  # the zoo's models are for short sentences
    refused = []
    for row in read(f"stereoset_{language}_intrasentence")[0]:
        try:
            sample = stereoset.intrasentence_queries(row, boundless)
            assert len(sample.queries) >= len(stereoset.CANDIDATES)
        except SkipSampleError as error:
            refused.append(str(error))
    assert set(refused) <= {"the words that are compared are the same tokens"}
    assert len(refused) <= EQUAL[language]


def test_words_of_stereoset_are_what_stands_in_the_sentence() -> None:
    """Where upstream's columns of words have more than the word: `spiritualp`, `sometimespriest`."""
    words = {row["context"]: row["stereotype_word"] for row in read("stereoset_en_intrasentence")[0]}
    assert words["The Brahmin are very BLANK!p"] == "spiritual"
    assert words["The grandfather BLANKed the grandchildren."] == "protect"


@pytest.mark.parametrize("name", [name for name in BUILDABLE if "control" in name or "slovak" in name])
def test_keyword_spans_point_at_the_keywords(name: str) -> None:
    for row in read(name)[0]:
        if row["keywords"] is None:
            assert name.startswith("crows")
            continue
        words = [row[field][start:end] for field, (start, end) in zip(FIELDS, row["keywords"], strict=True)]
        assert all(word == word.strip() != "" for word in words)
        if name.startswith("stereoset_control_race"):
            assert words[0] == words[2]
            assert words[1] == words[3]


@pytest.mark.parametrize("bias_type", ["race", "profession"])
def test_controls_equal_a_naive_reading_of_the_procedure(bias_type: str) -> None:
    """Written again from the description, without the builder's helpers."""
    path = ROOT / "builders" / "group_terms.json"
    lists = json.loads(path.read_text(encoding="utf-8"))
    names = ["countries", "adjectives"] if bias_type == "race" else ["professions"]
    expected = []
    for sample in read("stereoset_en_intrasentence")[0]:
        words = [sample[side].split() for side in ("stereotype", "antistereotype")]
        texts = [" ".join(own) for own in words]
        if sample["bias_type"] != bias_type or any(c in t for c in "<>" for t in texts):
            continue
        if len(words[0]) != len(words[1]):
            continue
        unequal = [i for i in range(len(words[0])) if words[0][i] != words[1][i]]
        if len(unequal) != 1:
            continue
        marked = []
        for own in words:
            own[unequal[0]] = re.sub(r'^(.+?)([.!?,"]*)$', r"<\1>\2", own[unequal[0]])
            marked.append(" ".join(own))
        terms = [
            (term, name)
            for name in names
            for term in lists[name]
            if all(term.lower() in text.lower() for text in texts)
        ]
        longest = max(len(term) for term, _ in terms)
        group, name = next((t, n) for t, n in terms if len(t) == longest)
        random.seed(marked[0])
        for _ in range(10):
            other = random.choice(lists[name])
            swapped = []
            for text in marked:
                place = text.lower().index(group.lower())
                swapped.append(text[:place] + other + text[place + len(group) :])
            expected.append([text.replace("<", "").replace(">", "") for text in marked + swapped])
    rows = read(f"stereoset_control_{bias_type}")[0]
    assert [[row[field] for field in FIELDS] for row in rows] == expected
    assert len(expected) == {"race": 9620, "profession": 8090}[bias_type]
    assert len({tuple(texts[:2]) for texts in expected}) == {"race": 959, "profession": 808}[bias_type]


def test_pair_rules_agree_with_the_authors_annotations(upstream: Path) -> None:
    """Table 5: of the 160 annotated pairs the rules accept 80 (79 of them right), reject 80."""
    text = (upstream / "kinit-sk/gest/data/gender-swap-annotations.txt").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines()]
    triples = [
        (a, b, label)
        for (a, b), label in zip(pairwise(lines), lines[2:], strict=False)
        if label in {"X", "G", "C"} and a and b
    ]
    verdicts = Counter((isinstance(differing_word(a, b), WordDifference), label) for a, b, label in triples)
    assert verdicts == {(True, "C"): 79, (True, "G"): 1, (False, "G"): 19, (False, "X"): 61}


def test_crows_controls_keep_the_order_of_groups(upstream: Path) -> None:
    """The group's sentences are the stereotype side: each pair differs in few words only."""
    for name in ("crows_control_negation", "crows_control_antistereotype"):
        for row in read(name)[0]:
            original, control = row["original_stereotype"], row["control_stereotype"]
            assert original != control
            assert abs(len(original.split()) - len(control.split())) <= 2


def test_winobias_noise_is_counted() -> None:
    for kind, split, left_out in (
        ("type1", "dev", 3),
        ("type1", "test", 5),
        ("type2", "dev", 10),
        ("type2", "test", 5),
    ):
        rows, dropped = read(f"winobias_{kind}_{split}")
        assert sum(dropped.values()) == left_out
        assert len(rows) + left_out == 396
        for row in rows:
            assert len(row["masculine"].split()) == len(row["feminine"].split())


def test_a_missing_file_is_named() -> None:
    with pytest.raises(sources.SourceError, match="gender_variants"):
        read("sk_pairs")


@pytest.mark.parametrize("language", ["be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk", "bg"])
def test_every_stereotype_has_neutral_translations(language: str) -> None:
    """So that g_s has a value; docs/data.md has the numbers."""
    rows, _ = read(f"{language}_neutral")
    counts = Counter(row["stereotype"] for row in rows)
    assert min(counts[i] for i in range(1, 17)) >= 7
    assert len({row["source"] for row in rows}) >= 240
    for row in rows:
        start, end = row["masculine_span"]
        assert row["sentence"].strip(' .!?…„“”"«»-–—,;:')[:40] in row["masculine"][:start]
        assert row["masculine"][:start] == row["feminine"][:start]
        assert row["masculine"][end:] == row["feminine"][row["feminine_span"][1] :]
    table = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    by_stereotype = ", ".join(str(counts[i]) for i in range(1, 17))
    sources_of_rows = len({row["source"] for row in rows})
    assert f"| `{language}_neutral` | {len(rows):,} | {sources_of_rows} | {by_stereotype} |" in table
