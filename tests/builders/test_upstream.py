"""The rows of every config on the real upstream files."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.controls import FIELDS
from gest_dataset.builders.pairs import WordDifference, differing_word
from tests.builders.test_builders import read, row_hash
from tests.conftest import ROOT

pytestmark = [pytest.mark.upstream, pytest.mark.usefixtures("upstream")]

HASHES = Path(__file__).with_name("row_hashes_upstream.json")
# Pinned, but not in the mirror
MISSING = {
    "kinit-sk/gest/data/gender_variants.csv",
    "kinit-sk/gest/data/predictions/english_mlm/albert-base-v2_template-0.txt",
    "kinit-sk/gest/data/predictions/winobias/winobias.csv",
    "slds-lmu/stereotypes-multi/results/predictions/t5-base_T5LM_T5LM_en.json",
}
PER_STEREOTYPE = [254, 215, 256, 207, 200, 197, 243, 251, 229, 215, 231, 222, 222, 194, 208, 221]
BUILDABLE = [name for name, config in CONFIGS.items() if not MISSING & {*config.sources}]


@pytest.mark.parametrize("name", BUILDABLE)
def test_rows(name: str) -> None:
    """Their number, and a hash that was computed when the config was checked against the papers."""
    rows, _ = read(name)
    assert len(rows) == CONFIGS[name].published_rows
    assert row_hash(rows) == json.loads(HASHES.read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize("name", ["en", "en_1_0"])
def test_stereotypes_have_the_papers_sizes(name: str) -> None:
    counts = Counter(row["stereotype"] for row in read(name)[0])
    assert [counts[i] for i in range(1, 17)] == PER_STEREOTYPE


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
