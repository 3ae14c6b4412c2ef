"""The papers' tables as data: whole, consistent with themselves, and met by our statistics."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gest_dataset import published, statistics
from gest_dataset.builders import CONFIGS
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES, SLAVIC
from tests.conftest import ROOT
from tests.support.outside import require

MULTICLASS = (
    "stereoset_multiclass",
    "stereoset_multiclass_intersentence",
    "stereoset_multiclass_intrasentence",
)


def rows(name: str) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = published.load(name)["rows"]
    return table


def test_every_table_has_a_source_and_rows_of_equal_fields() -> None:
    for name in published.names():
        table = published.load(name)
        assert table["source"]
        assert table["note"]
        assert len({tuple(sorted(row)) for row in table["rows"]}) <= 2


def test_unknown_tables_are_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="winobias"):
        published.load("gest")


def test_translators_and_languages_are_those_of_the_configs() -> None:
    pairs = {(row["system"], row["language"]) for row in rows("gest_mt_masculine_rates")}
    assert pairs == {(system, code) for code in SLAVIC for system in LANGUAGES[code].systems}
    assert {row["language"] for row in rows("gest_slavic_mlm")} == set(SLAVIC)
    assert {row["config"] for name in ("ss", "cs", "f") for row in rows(f"word_filling_{name}")} <= set(
        CONFIGS
    )


@pytest.mark.parametrize("name", ["gest_english_mlm", "gest_english_glm"])
def test_stereotype_rates_follow_from_the_means(name: str) -> None:
    for row in rows(name):
        means = row["mean_log10_ratio"]
        difference = sum(means[7:]) / 9 - sum(means[:7]) / 7
        assert row["g_s_published"] == pytest.approx(math.exp(difference), abs=2e-4)
        assert row["g_s"] == pytest.approx(10**difference, abs=1e-3)


def test_icat_follows_from_lms_and_ss() -> None:
    """In every printed row but two: a misprinted LMS, and a micro ICAT that lacks its last digit."""
    odd = []
    for name in ("stereoset_intrasentence", "stereoset_intersentence", "stereoset_overall", "stereoset_ways"):
        for row in rows(name):
            if abs(row["lms"] * min(row["ss"], 100 - row["ss"]) / 50 - row["icat"]) > 0.025:
                odd.append((name, row["model"], row["language"]))
    for name in MULTICLASS:
        for row in rows(name):
            lms, ss = row["multiclass_lms"], row["multiclass_ss"]
            if abs(lms * min(ss, 100 - ss) / 50 - row["micro_icat"]) > 0.025:
                odd.append((name, row["model"], row["language"]))
            assert row["macro_icat"] < row["micro_icat"]
    assert odd == [
        ("stereoset_intersentence", "mBERT", "tr"),
        ("stereoset_multiclass_intrasentence", "mBERT", "de"),
    ]


# --- our statistics on the authors' own scores


def scores(name: str) -> Path:
    path = require("GEST_PAPER_SCORES") / name
    if not path.is_file():
        pytest.skip(f"the authors' scores are not at hand: {name}")
    return path


def config(name: str) -> list[dict[str, Any]]:
    found = CONFIGS[name]
    return list(found.read({key: sources.fetch(key) for key in found.sources}, None))  # type: ignore[arg-type]


GEST_FILES = [("bert-base-uncased", "mlm", i, i + 1) for i in range(4)] + [
    ("gpt2", "glm", i, i + 3) for i in range(2)
]


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize(("model", "kind", "file", "template"), GEST_FILES)
def test_stereotype_rates_of_the_authors_scores(model: str, kind: str, file: int, template: int) -> None:
    text = scores(f"{model}_template-{file}.txt").read_text(encoding="utf-8")
    ratios = [float(line) * math.log(10) for line in text.split()]
    references = [row["stereotype"] for row in config("en_1_0")]
    printed = next(
        row for row in rows(f"gest_english_{kind}") if (row["model"], row["template"]) == (model, template)
    )
    means = np.array(printed["mean_log10_ratio"])
    logs = statistics.stereotype_rate(ratios, references, scale="log10")
    assert logs["q"] == pytest.approx(means, abs=1e-3)
    assert logs["g_s"] == pytest.approx(means[7:].mean() - means[:7].mean(), abs=1e-3)
    true = statistics.stereotype_rate(ratios, references)
    assert true["q"] == pytest.approx(10**means, rel=1e-3)
    assert true["g_s"] == pytest.approx(printed["g_s"], abs=1e-3)
    as_printed = statistics.stereotype_rate(ratios, references, scale="published")
    assert as_printed["q"] == pytest.approx(np.exp(means), abs=1e-3)
    assert as_printed["g_s"] == pytest.approx(printed["g_s_published"], abs=1e-3)
    assert true["g_s_low"] > 1


@pytest.mark.upstream
def test_copies_are_the_given_tables() -> None:
    for path in require("GEST_PAPER_TABLES").glob("gest_*.json"):
        table = json.loads(path.read_text(encoding="utf-8"))
        own = ROOT / "builders" / "pair_yields.json"  # what only a builder reads
        yields = json.loads(own.read_text(encoding="utf-8"))
        ours = yields if path.stem == "gest_pair_yields" else published.load(path.stem)
        for key in set(table) - {"note", "source"}:
            assert ours[key] == table[key], (path.stem, key)
