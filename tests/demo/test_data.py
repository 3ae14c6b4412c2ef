"""The demo data: complete, well formed, written for this project, and available without a network."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.builders import CONFIGS, demo, fingerprint
from gest_dataset.builders.config import Row
from gest_dataset.builders.controls import FIELDS
from gest_dataset.builders.pairs import WordDifference, differing_word, pair_id
from gest_dataset.data import sources
from gest_dataset.stereotypes import STEREOTYPES
from tests.support.outside import require


def words(text: str) -> list[str]:
    return re.findall(r"[\w-]+", text.casefold())


NAMES = ["demo_en", "demo_sk_pairs", "demo_uk_pairs", "demo_sl_pairs", "demo_controls"]
PAIRS = NAMES[1:4]
UDPIPE = "GEST_UDPIPE_MODELS"

# Who the quadruplets are about
FEMALE = """actress aunt bride businesswoman daughter duchess girl girls granddaughter grandmother her ladies
mother mothers niece policewoman princess queen saleswoman she sister waitress widow wife woman women"""
MALE = """actor boy boys brother businessman duke father fathers gentlemen grandfather grandson groom he his
husband king man men nephew policeman prince salesman son uncle waiter widower"""
# What would tell the speaker's gender, or another's whom the first person may be taken for
TELLING = set(words("he she him her his hers himself herself wife husband girlfriend boyfriend man woman"))


def rows(name: str) -> list[Row]:
    return list(CONFIGS[name].read({}, Counter()))


def records(name: str) -> list[dict[str, Any]]:
    lines = (demo.FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def texts(name: str) -> Iterator[str]:
    """Every sentence that a user of a config reads."""
    for row in rows(name):
        for field in ("sentence", "source", "masculine", "feminine", *FIELDS):
            if field in row:
                yield row[field]


# Contents


def test_the_configs() -> None:
    assert list(CONFIGS)[-len(NAMES) :] == NAMES
    assert [name for name, config in CONFIGS.items() if config.embedded] == NAMES
    for name in NAMES:
        config = CONFIGS[name]
        assert not config.sources
        assert config.licence == "Apache-2.0"
        assert demo.NOT_VALIDATED in config.description
        assert len(rows(name)) == config.published_rows
        assert len({row["id"] for row in rows(name)}) == config.published_rows


def test_every_stereotype_has_equally_many_rows() -> None:
    for name, number in zip(NAMES, (10, 5, 5, 5, 2), strict=True):
        assert Counter(record["stereotype"] for record in records(name)) == dict.fromkeys(STEREOTYPES, number)


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


# Texts


@pytest.mark.parametrize("name", NAMES)
def test_sentences_fit_into_quotation_marks(name: str) -> None:
    for text in texts(name):
        assert not re.search('["“”„«»<>]', text)
        assert text == " ".join(text.split())
        assert text[0].isupper()
        assert text.endswith(".")
        assert text.count(".") == 1


def test_no_sentence_is_duplicated() -> None:
    for name in NAMES:
        for field in {"sentence", "source", "masculine", "feminine", *FIELDS[::2]} & set(rows(name)[0]):
            found = [row[field] for row in rows(name)]
            assert len(set(found)) == len(found)


def test_english_sentences_are_in_the_first_person_without_a_gender() -> None:
    lengths = set()
    for row in rows("demo_en"):
        assert {"i", "my", "me"} & set(words(row["sentence"]))
        assert not TELLING & set(words(row["sentence"])), row["sentence"]
        lengths.add(len(words(row["sentence"])))
    assert min(lengths) <= 4
    assert max(lengths) >= 18


# Pairs


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_differ_in_one_word(name: str) -> None:
    """Naive: word by word, then as the rule of the real pairs sees them."""
    language = name.split("_")[1]
    for row in rows(name):
        masculine, feminine = row["masculine"].split(" "), row["feminine"].split(" ")
        unequal = [i for i, (a, b) in enumerate(zip(masculine, feminine, strict=True)) if a != b]
        assert unequal == [row["word_index"]]
        assert row["masculine_word"] == masculine[unequal[0]].strip(".,")
        assert row["feminine_word"] == feminine[unequal[0]].strip(".,")
        assert row["masculine_word"][0] == row["feminine_word"][0]
        assert isinstance(differing_word(row["masculine"], row["feminine"]), WordDifference)
        assert row["id"] == pair_id(
            language, row["stereotype"], row["source"], row["masculine"], row["feminine"]
        )
        assert row["systems"] == []


@pytest.mark.parametrize(
    ("name", "alphabet"),
    [
        ("demo_sk_pairs", "aáäbcčdďeéfghiíjklĺľmnňoóôpqrŕsštťuúvwxyýzž"),
        ("demo_uk_pairs", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"),
        ("demo_sl_pairs", "abcčdefghijklmnoprsštuvzž"),
    ],
)
def test_pairs_are_spelt_in_their_alphabet(name: str, alphabet: str) -> None:
    """A Latin letter among Cyrillic ones, or another language's diacritics, would be a slip."""
    found: set[str] = set()
    for row in rows(name):
        found |= {c for c in (row["masculine"] + row["feminine"]).casefold() if c.isalpha()}
    assert found <= set(alphabet)
    assert len(found) > 20


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

    for variant, gender in (("masculine", "male"), ("feminine", "female")):
        sentences = [row[variant] for row in rows(name)]
        found = Counter(one.gender for one in detect(sentences, language, model=model))
        assert found[gender] >= 0.9 * len(sentences)
        assert set(found) <= {gender, "unknown"}


# Control quadruplets


def test_quadruplets_have_two_keywords_and_two_groups() -> None:
    for row, record in zip(rows("demo_controls"), records("demo_controls"), strict=True):
        frames, keywords = [], []
        for field, (start, end) in zip(FIELDS, row["keywords"], strict=True):
            text = row[field]
            assert f"{text[:start]}<{text[start:end]}>{text[end:]}" == record[field]
            assert re.fullmatch(r"[a-z]+", text[start:end])
            frames.append((text[:start], text[end:]))
            keywords.append(text[start:end])
        stereotype, antistereotype, *control = keywords
        assert stereotype != antistereotype
        assert control == [stereotype, antistereotype]
        assert frames[0] == frames[1]
        assert frames[2] == frames[3]
        swapped = [
            (a, b)
            for a, b in zip(words("".join(frames[0])), words("".join(frames[2])), strict=True)
            if a != b
        ]
        groups = {"female": set(words(FEMALE)), "male": set(words(MALE))}
        gender = STEREOTYPES[record["stereotype"]].gender
        other = "male" if gender == "female" else "female"
        assert swapped
        assert {a for a, _ in swapped} <= groups[gender]
        assert {b for _, b in swapped} <= groups[other]


# No text of the real data sets


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


# Without a network


@pytest.mark.slow
def test_loads_offline_without_a_mirror(tmp_path: Path) -> None:
    script = (
        "import socket, sys\n"
        "def refuse(*arguments): raise AssertionError('the network was asked')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "import gest_dataset\n"
        "from datasets import load_dataset\n"
        "print(*(load_dataset('gest', name, split='test').num_rows for name in sys.argv[1:]))\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GEST_")}
    done = subprocess.run(
        [sys.executable, "-c", script, *NAMES],
        env={**environment, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["160", "80", "80", "80", "32"]


def test_the_fingerprint_depends_on_the_file(tmp_path: Path) -> None:
    config = CONFIGS["demo_en"]
    assert config.embedded is not None
    copy = tmp_path / "demo_en.jsonl"
    copy.write_bytes(config.embedded.read_bytes())
    assert fingerprint(replace(config, embedded=copy)) == fingerprint(config)
    copy.write_bytes(config.embedded.read_bytes().replace(b"bread", b"cheese"))
    assert fingerprint(replace(config, embedded=copy)) != fingerprint(config)
