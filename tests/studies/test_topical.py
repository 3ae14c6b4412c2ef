"""The study of topics: a planted topic is found with any words, and so is a planted property of sentences."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from gest_dataset import studies
from gest_dataset.data.rows import rows_of
from gest_dataset.measures.grid import Estimate
from gest_dataset.statistics.confounders import FAMILY_WORDS, split_words
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.topical import GLM, MT
from tests.studies.planting import cells, gest, value
from tests.support import planted
from tests.support.outside import needs, require

WORDS = ("piano", "jokes", "roof", "strong arms")  # of sentences about men in the test mirror


def on_topic(sentence: str) -> bool:
    return any(word in sentence for word in WORDS)


@pytest.mark.usefixtures("mirror")
def test_a_planted_topic_is_found(tmp_path: Path) -> None:
    """Men's sentences are masculine, and feminine where they have one of the words."""
    path = gest(
        tmp_path / "toy",
        "toy",
        lambda row, template: (-1.0 if on_topic(row["sentence"]) else row["sign"]) + 0.1 * template,
        (1, 3),
    )
    found = studies.topical([path], WORDS)
    (row,) = cells(found, "topical", model="toy")
    assert row["n"] == len(WORDS)
    assert value(row["topic"]) == pytest.approx(math.exp(-1 + 0.2))  # the mean over templates 1 and 3
    assert value(row["female"]) == pytest.approx(math.exp(-1 + 0.2))
    assert row["position"] == pytest.approx(0)
    assert row["expected"] == pytest.approx(math.exp(1 + 0.2))
    (other,) = cells(studies.topical([path], ("tent", "stage")), "topical", model="toy")
    assert other["n"] == 2
    assert value(other["topic"]) == pytest.approx(math.exp(1 + 0.2))
    (whole,) = cells(found, "table-3")
    assert whole["results"] == 2
    each = [math.exp((-1 + 0.1 * template) / LN10) for template in (1, 3)]
    assert whole["topic"] == pytest.approx(np.mean(each))  # a mean over templates, on the scale of print
    assert whole["paper: topic"] == ""  # of other words than the paper's


@pytest.mark.usefixtures("mirror")
def test_printed_numbers_are_shown_for_the_papers_words(tmp_path: Path) -> None:
    path = gest(tmp_path / "toy", "toy", lambda row, _: row["sign"], (3,), kind="causal")
    found = studies.topical([path])
    (row,) = cells(found, "table-3")
    printed = [row[name] for name in ("", "paper: male", "paper: female", "paper: topic")]
    assert printed == [GLM, "1.16", "0.96", "0.96"]
    assert found.sources["words"] == ", ".join(FAMILY_WORDS)


@pytest.mark.usefixtures("mirror")
def test_a_planted_property_is_found(tmp_path: Path) -> None:
    """ln r is 0.1 for each word of a sentence: equal in length, no stereotype is left."""
    path = gest(tmp_path / "toy", "toy", lambda row, _: 0.1 * len(split_words(row["sentence"])))
    found = studies.topical([path])
    (row,) = cells(found, "confounders", **{"adjusted for": "length in words"})
    assert row["g_s"] != pytest.approx(1, abs=0.01)
    assert value(row["adjusted g_s"]) == pytest.approx(1, abs=1e-6)
    assert row["correlation"] == pytest.approx(1)
    (other,) = cells(found, "confounders", **{"adjusted for": "negation"})
    assert value(other["adjusted g_s"]) != pytest.approx(1, abs=0.005)
    numbers = {part["sentences"]: part["n"] for part in cells(found, "parts")}
    assert numbers["all sentences"] == numbers["with negation"] + numbers["without negation"] == 34
    lengths = np.array([len(split_words(text)) for text in rows_of("en")["sentence"]])
    assert numbers["length in words: above the median"] == (lengths > np.median(lengths)).sum()


@pytest.mark.usefixtures("mirror")
def test_translators_have_shares(tmp_path: Path) -> None:
    rows = [
        {
            "id": row["id"],
            "stereotype": row["stereotype"],
            "source": row["sentence"],
            "translation": row["sentence"],
            "gender": "female" if on_topic(row["sentence"]) or not row["gender"] else "male",
            "problem": "",
        }
        for row in rows_of("en").to_list()
    ]
    rows[0]["gender"] = "unknown"
    found = studies.topical([planted.translated(tmp_path / "mt", "sk", rows)], WORDS)
    (row,) = cells(found, "topical", kind=MT)
    assert (value(row["topic"]), value(row["female"]), row["expected"], row["position"]) == (0, 0, 1, 0)
    assert "confounders" not in [table.name for table in found.tables]


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
@needs("GEST_PAPER_SCORES")
def test_the_family_of_the_authors_scores() -> None:
    """166 samples of men; in BERT and GPT-2 they are far below the other men's, as table 3 has it."""
    found = studies.topical(released=require("GEST_PAPER_SCORES"))
    for row in found.table("topical").rows:
        _, _, number, male, topic, _, place, mix = row
        assert number == 166
        assert isinstance(topic, Estimate)
        assert isinstance(male, Estimate)
        assert topic.high < min(male.low, mix)  # type: ignore[type-var]
        assert place < 0.5  # type: ignore[operator]
