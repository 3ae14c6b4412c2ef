"""The study of topics: a planted topic is found with any words, and so is a planted property of sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from gest_dataset import studies
from gest_dataset.data.rows import rows_of
from gest_dataset.measures.grid import Estimate
from gest_dataset.statistics.confounders import FAMILY_WORDS, split_words
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.study import Table
from gest_dataset.studies.topical import GLM, MT
from tests.support import planted
from tests.support.outside import needs, require

WORDS = ("piano", "jokes", "roof", "strong arms")  # of sentences about men in the test mirror


def run(
    path: Path, ratio: Callable[[str, int], float], templates: Sequence[int] = (1,), kind: str = "masked"
) -> Path:
    """A run whose ln r is a function of sentence and sign of its gender, plus 0.1 times the template."""
    rows = rows_of("en")
    columns: dict[str, list[object]] = {"id": [], "template": [], "stereotype": [], "log_ratio": []}
    for template in templates:
        for row in rows.to_list():
            columns["id"].append(row["id"])
            columns["template"].append(template)
            columns["stereotype"].append(row["stereotype"])
            sign = 1 if row["gender"] else -1
            columns["log_ratio"].append(ratio(row["sentence"], sign) + 0.1 * template)
    return planted.scored(path, path.name, "en", columns, kind)


def cells(table: Table, **where: object) -> dict[str, object]:
    rows = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    return next(row for row in rows if all(row[name] == value for name, value in where.items()))


def value(cell: object) -> float:
    assert isinstance(cell, Estimate)
    return cell.value


def on_topic(sentence: str) -> bool:
    return any(word in sentence for word in WORDS)


@pytest.mark.usefixtures("mirror")
def test_a_planted_topic_is_found(tmp_path: Path) -> None:
    """Men's sentences are masculine, and feminine where they have one of the words."""
    path = run(tmp_path / "toy", lambda text, sign: -1.0 if on_topic(text) else float(sign), (1, 3))
    found = studies.topical([path], WORDS)
    row = cells(found.table("topical"), model="toy")
    assert row["n"] == len(WORDS)
    assert value(row["topic"]) == pytest.approx(math.exp(-1 + 0.2))  # the mean over templates 1 and 3
    assert value(row["female"]) == pytest.approx(math.exp(-1 + 0.2))
    assert row["position"] == pytest.approx(0)
    assert row["expected"] == pytest.approx(math.exp(1 + 0.2))
    other = cells(studies.topical([path], ("tent", "stage")).table("topical"), model="toy")
    assert other["n"] == 2
    assert value(other["topic"]) == pytest.approx(math.exp(1 + 0.2))
    whole = cells(found.table("table-3"))
    assert whole["results"] == 2
    each = [math.exp((-1 + 0.1 * template) / LN10) for template in (1, 3)]
    assert whole["topic"] == pytest.approx(np.mean(each))  # a mean over templates, on the scale of print
    assert whole["paper: topic"] == ""  # of other words than the paper's


@pytest.mark.usefixtures("mirror")
def test_printed_numbers_are_shown_for_the_papers_words(tmp_path: Path) -> None:
    found = studies.topical([run(tmp_path / "toy", lambda text, sign: sign, (3,), "causal")])
    row = cells(found.table("table-3"))
    assert (row[""], row["paper: male"], row["paper: female"], row["paper: topic"]) == (
        GLM,
        "1.16",
        "0.96",
        "0.96",
    )
    assert ", ".join(FAMILY_WORDS) in found.table("topical").title
    assert found.sources["words"] == ", ".join(FAMILY_WORDS)


@pytest.mark.usefixtures("mirror")
def test_a_planted_property_is_found(tmp_path: Path) -> None:
    """ln r is 0.1 for each word of a sentence: equal in length, no stereotype is left."""
    path = run(tmp_path / "toy", lambda text, _: 0.1 * len(split_words(text)))
    found = studies.topical([path])
    row = cells(found.table("confounders"), **{"adjusted for": "length in words"})
    assert row["g_s"] != pytest.approx(1, abs=0.01)
    assert value(row["adjusted g_s"]) == pytest.approx(1, abs=1e-6)
    assert row["correlation"] == pytest.approx(1)
    other = cells(found.table("confounders"), **{"adjusted for": "negation"})
    assert value(other["adjusted g_s"]) != pytest.approx(1, abs=0.005)
    parts = found.table("parts")
    assert cells(parts, sentences="all sentences")["n"] == 34
    number = [cells(parts, sentences=f"{side} negation")["n"] for side in ("with", "without")]
    assert sum(number) == 34  # type: ignore[arg-type]
    lengths = np.array([len(split_words(text)) for text in rows_of("en")["sentence"]])
    above = cells(parts, sentences="length in words: above the median")
    assert above["n"] == int((lengths > np.median(lengths)).sum())


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
    row = cells(found.table("topical"), kind=MT)
    assert (value(row["topic"]), value(row["female"]), row["expected"]) == (0, 0, 1)
    assert row["position"] == 0
    assert "confounders" not in [table.name for table in found.tables]


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
@needs("GEST_PAPER_SCORES")
def test_the_family_of_the_authors_scores() -> None:
    """166 samples of men; in BERT and GPT-2 they are far below the other men's, as table 3 has it."""
    found = studies.topical(scores=require("GEST_PAPER_SCORES"))
    for row in found.table("topical").rows:
        _, _, number, male, topic, _, place, mix = row
        assert number == 166
        assert isinstance(topic, Estimate)
        assert isinstance(male, Estimate)
        assert topic.high < min(male.low, mix)  # type: ignore[type-var]
        assert place < 0.5  # type: ignore[operator]
