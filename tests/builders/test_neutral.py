"""Frames, and the rows of the neutral configs."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

import pytest

from gest_dataset.builders import translations
from gest_dataset.builders.frames import (
    CODES,
    KINDS,
    MARKS,
    SCAFFOLDS,
    Frame,
    choose_frame,
    frame_sources,
    read_frames,
)
from gest_dataset.builders.pairs import MERGED
from gest_dataset.builders.translations import HASH_BYTES, NOT_NEUTRAL, text_hash
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError
from tests.builders.test_builders import read

pytestmark = pytest.mark.usefixtures("mirror")
TEN = ["be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk", "bg"]


def files(language: str) -> Mapping[str, sources.Verified]:
    return {key: sources.fetch(key) for key in frame_sources(language)}


@pytest.mark.parametrize(
    ("frame", "sentence", "masculine", "feminine", "words"),
    [
        (Frame("„", "“,", "vravel", "vravela"), "Mám hlad.", "„Mám hlad“, vravel.", "„Mám hlad“, vravela.",
         ("vravel", "vravela")),
        (Frame("«", "», —", "сказав він", "сказала вона"), " Я сміюся!", "«Я сміюся», — сказав він.",
         "«Я сміюся», — сказала вона.", ("сказав він", "сказала вона")),
        (Frame('"', '",', "pravil muž", "pravila žena"), "„Jdu.“ Spím…", '"Jdu.“ Spím", pravil muž.',
         '"Jdu.“ Spím", pravila žena.', ("pravil muž", "pravila žena")),
        (Frame("'", ",'", "rekao je", "rekla je"), "Pjevam (tiho).", "'Pjevam (tiho),' rekao je.",
         "'Pjevam (tiho),' rekla je.", ("rekao", "rekla")),
        (Frame("«", "»,", "dit l'homme", "dit la vieille femme"), "J'ai un p'", "«J'ai un p'», dit l'homme.",
         "«J'ai un p'», dit la vieille femme.", ("l'homme", "la vieille femme")),
    ],
)  # fmt: skip
def test_quote(frame: Frame, sentence: str, masculine: str, feminine: str, words: tuple[str, str]) -> None:
    (man, man_span), (woman, woman_span) = frame.quote(sentence)
    assert (man, woman) == (masculine, feminine)
    assert (man[slice(*man_span)], woman[slice(*woman_span)]) == words


def test_read_frames_of_all_languages() -> None:
    scaffolds, marks, codes = (json.loads(sources.fetch(key).content) for key in (SCAFFOLDS, MARKS, CODES))
    names = {code: name for name, code in codes.items()}
    for language in TEN:
        for kind, sides in KINDS.items():
            frames = read_frames(language, files(language), kind)
            assert len(frames) == (2 if language == "sr" else 1)
            if language not in ("be", "sr"):
                name = names[language]
                assert [frames[0].masculine, frames[0].feminine] == [scaffolds[side][name] for side in sides]
                assert [frames[0].opening, frames[0].closing] == marks[name]
    serbian = read_frames("sr", {})
    assert choose_frame("Смејем се.", serbian).masculine == "рекао је"
    assert choose_frame("Smejem se.", serbian).feminine == "rekla je"
    assert read_frames("en", {}, "noun")[0].quote("I sing.")[1][0] == '"I sing," the woman said.'


@pytest.mark.parametrize(
    ("language", "kind", "message"),
    [
        (
            "hu",
            "pronoun",
            r"'hu' do not distinguish a man from a woman: 'írta' and 'írta'\. Use --frames noun",
        ),
        ("et", "noun", r"It has no other frames"),
        ("xx", "pronoun", r"no frames for 'xx', only for bg, ca, cs"),
    ],
)
def test_frames_without_gender_are_refused(language: str, kind: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_frames(language, files(language), kind)


@pytest.mark.parametrize("language", TEN)
def test_rows_against_a_naive_implementation(language: str) -> None:
    """Every translation whose hash is in the table, grouped by its texts."""
    rows, dropped = read(f"{language}_neutral")
    content = base64.b64decode(json.loads(translations.TABLE.read_text(encoding="utf-8"))["texts"][language])
    known = [content[i : i + HASH_BYTES] for i in range(0, len(content), HASH_BYTES)]
    expected: dict[tuple[str, int, str], set[str]] = {}
    ids: dict[tuple[str, int, str], str] = {}
    left_out = 0
    for row in read(f"{language}_translations")[0]:
        if text_hash(language, row["translation"]) in known:
            key = (row["source"], row["stereotype"], row["translation"])
            expected.setdefault(key, set()).add(row["system"])
            ids.setdefault(key, row["sentence_id"])
        else:
            left_out += 1
    assert {(r["source"], r["stereotype"], r["sentence"]): set(r["systems"]) for r in rows} == expected
    assert {(r["source"], r["stereotype"], r["sentence"]): r["sentence_id"] for r in rows} == ids
    assert dropped[NOT_NEUTRAL] == left_out > 0
    assert dropped[MERGED] == sum(map(len, expected.values())) - len(expected)
    for row in rows:
        core = row["sentence"].rstrip(".!")
        assert core in row["masculine"]
        assert core in row["feminine"]
