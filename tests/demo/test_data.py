"""The demo data: complete, well formed, written for this project, and available without a network."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gest_dataset.builders import CONFIGS, demo
from gest_dataset.builders.config import Row
from gest_dataset.builders.controls import FIELDS
from gest_dataset.data import sources
from gest_dataset.stereotypes import STEREOTYPES
from tests.support.outside import require


def words(text: str) -> list[str]:
    return re.findall(r"[\w-]+", text.casefold())


NAMES = ["demo_en", "demo_sk_pairs", "demo_uk_pairs", "demo_sl_pairs", "demo_controls"]
PAIRS = NAMES[1:4]
UDPIPE = "GEST_UDPIPE_MODELS"


def rows(name: str) -> list[Row]:
    return list(CONFIGS[name].read({}, Counter()))


def texts(name: str) -> Iterator[str]:
    """Every sentence that a user of a config reads."""
    for row in rows(name):
        for field in ("sentence", "source", "masculine", "feminine", *FIELDS):
            if field in row:
                yield row[field]


def test_the_configs() -> None:
    assert list(CONFIGS)[-len(NAMES) :] == NAMES
    for name, number in zip(NAMES, (10, 5, 5, 5, 2), strict=True):
        config = CONFIGS[name]
        assert (config.sources, config.licence) == ((), "Apache-2.0")
        assert "not validated" in config.description
        assert len({row["id"] for row in rows(name)}) == config.published_rows
        records = [json.loads(line) for line in (demo.FOLDER / f"{name}.jsonl").read_text().splitlines()]
        assert Counter(record["stereotype"] for record in records) == dict.fromkeys(STEREOTYPES, number)


def test_fields_are_those_of_the_real_configs() -> None:
    for name, like in (
        ("demo_en", "en"),
        ("demo_sk_pairs", "sk_pairs"),
        ("demo_uk_pairs", "uk_pairs"),
        ("demo_sl_pairs", "sl_pairs"),
        ("demo_controls", "stereoset_control_gender"),
    ):
        assert CONFIGS[name].features == CONFIGS[like].features
        for row in rows(name):
            assert row.keys() == CONFIGS[like].features.keys()
            CONFIGS[name].features.encode_example(row)


def test_no_sentence_is_duplicated() -> None:
    for name in NAMES:
        for field in {"sentence", "source", "masculine", "feminine", *FIELDS[::2]} & set(rows(name)[0]):
            found = [row[field] for row in rows(name)]
            assert len(set(found)) == len(found)


def test_sources_are_english_sentences_of_the_same_stereotype() -> None:
    english = {(row["stereotype"], row["sentence"]) for row in rows("demo_en")}
    for name in PAIRS:
        assert {(row["stereotype"], row["source"]) for row in rows(name)} <= english


@pytest.mark.upstream
@pytest.mark.parametrize("name", PAIRS)
def test_parser_reads_the_genders(name: str) -> None:
    """Nearly all are detected, but for nouns (engineer, director); none is taken for the other gender."""
    pytest.importorskip("ufal.udpipe")
    language = name.split("_")[1]
    model = require(UDPIPE) / f"{language}.udpipe"
    if not model.exists():
        pytest.skip("no UDPipe models at hand")
    from gest_dataset.gender import detect

    sentences = [row[variant] for variant in ("masculine", "feminine") for row in rows(name)]
    genders = [one.gender for one in detect(sentences, language, model=model)]
    half = len(genders) // 2
    for gender, found in (("male", Counter(genders[:half])), ("female", Counter(genders[half:]))):
        assert found[gender] >= 0.9 * half
        assert set(found) <= {gender, "unknown"}


def plain(text: str) -> str:
    """A text without case, punctuation, marks of keywords and the number of its line."""
    return " ".join(words(re.sub(r"^\d+ |[\[\]<>]", "", text)))


@pytest.mark.upstream
def test_no_sentence_is_one_of_the_real_data_sets(upstream: Path) -> None:
    """Compared without case and punctuation with every cell, line and StereoSet text upstream."""
    theirs: set[str] = set()
    for file in upstream.rglob("*"):
        if file.suffix == ".csv":
            with file.open(encoding="utf-8", newline="") as opened:
                theirs.update(plain(cell) for record in csv.reader(opened) for cell in record)
        elif file.suffix in {".txt", ".dev", ".test"}:
            theirs.update(plain(line) for line in file.read_text(encoding="utf-8").splitlines())
    for name in ("stereoset_en_intrasentence", "stereoset_en_intersentence"):
        config = CONFIGS[name]
        for row in config.read({key: sources.fetch(key) for key in config.sources}, Counter()):
            theirs.update(
                plain(row[field]) for field in ("context", "stereotype", "antistereotype", "unrelated")
            )
    assert len(theirs) > 10_000
    assert plain("I know I shouldn't cry when someone makes me angry.") in theirs
    for name in NAMES:
        assert not {plain(text) for text in texts(name)} & theirs
