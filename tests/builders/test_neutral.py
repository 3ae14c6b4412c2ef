"""Frames, and the rows of the neutral configs."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

import pytest

from gest_dataset.builders import neutral
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
from gest_dataset.builders.neutral import (
    HASH_BYTES,
    NOT_NEUTRAL,
    neutral_hashes,
    neutral_row,
    pack_hashes,
    text_hash,
)
from gest_dataset.builders.pairs import MERGED
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, DataError
from tests.builders.test_builders import Edit, read, replace

pytestmark = pytest.mark.usefixtures("mirror")
TEN = ["be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk", "bg"]


def files(language: str) -> Mapping[str, sources.Verified]:
    return {key: sources.fetch(key) for key in frame_sources(language)}


# Frames -------------------------------------------------------------------------------------------


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
        (Frame("„", "“,", "каза той", "каза тя"), "Пея", "„Пея“, каза той.", "„Пея“, каза тя.",
         ("той", "тя")),
        (Frame("«", "»,", "dit l'homme", "dit la vieille femme"), "J'ai un p'", "«J'ai un p'», dit l'homme.",
         "«J'ai un p'», dit la vieille femme.", ("l'homme", "la vieille femme")),
    ],
)  # fmt: skip
def test_quote(frame: Frame, sentence: str, masculine: str, feminine: str, words: tuple[str, str]) -> None:
    (own, own_span), (other, other_span) = frame.quote(sentence)
    assert (own, other) == (masculine, feminine)
    assert (own[slice(*own_span)], other[slice(*other_span)]) == words
    assert own[: own_span[0]] == other[: other_span[0]]
    assert own[own_span[1] :] == other[other_span[1] :]


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
    assert choose_frame("Smejem se.", read_frames("be", {})).masculine == "сказаў ён"
    assert read_frames("en", {}, "noun")[0].quote("I sing.")[1][0] == '"I sing," the woman said.'


@pytest.mark.parametrize(
    ("language", "kind", "message"),
    [
        ("hu", "pronoun", r"'hu' do not tell a man from a woman: 'írta' and 'írta'\. Use --frames noun"),
        ("ca", "pronoun", r"'va escriure' and 'va escriure ella'\. Use --frames noun"),
        ("et", "noun", r"It has no other frames"),
        ("xx", "pronoun", r"no frames for 'xx', only for bg, ca, cs"),
    ],
)
def test_frames_without_gender_are_refused(language: str, kind: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_frames(language, files(language), kind)
    if language in ("hu", "ca"):
        assert read_frames(language, files(language), "noun")[0].shows_gender


def test_broken_json_is_reported(edited: Edit) -> None:
    path = edited(CODES, replace("{", "["))
    with pytest.raises(DataError, match=f"{path} is not valid JSON"):
        read("sk_neutral")


# Rows ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", TEN)
def test_rows_are_the_neutral_translations(language: str) -> None:
    """A naive implementation: every translation whose hash is in the table, grouped by its texts."""
    rows, dropped = read(f"{language}_neutral")
    content = base64.b64decode(json.loads(neutral.TABLE.read_text(encoding="utf-8"))["texts"][language])
    known = [content[i : i + HASH_BYTES] for i in range(0, len(content), HASH_BYTES)]
    expected: dict[tuple[str, int, str], set[str]] = {}
    left_out = 0
    for row in read(f"{language}_translations")[0]:
        if text_hash(language, row["translation"]) in known:
            key = (row["source"], row["stereotype"], row["translation"])
            expected.setdefault(key, set()).add(row["system"])
        else:
            left_out += 1
    found = {(row["source"], row["stereotype"], row["sentence"]): set(row["systems"]) for row in rows}
    assert found == expected
    assert rows
    assert dropped[NOT_NEUTRAL] == left_out > 0
    assert dropped[MERGED] == sum(map(len, expected.values())) - len(expected)
    for row in rows:
        core = row["sentence"].rstrip(".!")
        assert core in row["masculine"]
        assert core in row["feminine"]
        assert row["masculine"] != row["feminine"]
        assert row["gender"] == ("female" if row["stereotype"] < 8 else "male")


def test_the_test_mirrors_neutral_sentences() -> None:
    """`I laugh at my own jokes` is neutral in all ten; the four systems' copies are one row."""
    slovak = read("sk_neutral")[0]
    assert [row["sentence"] for row in slovak] == ["Smejem sa na vlastných vtipoch."]
    assert slovak[0]["systems"] == ["amazon", "deepl", "google", "nllb"]
    assert slovak[0]["feminine"] == "„Smejem sa na vlastných vtipoch“, vravela."
    serbian = {row["sentence"]: row["masculine"] for row in read("sr_neutral")[0]}
    assert len(serbian) == 2
    assert all(("рекао" in text) == ("Смеј" in sentence) for sentence, text in serbian.items())


def test_a_changed_text_is_not_neutral(edited: Edit) -> None:
    before, dropped = read("bg_neutral")
    joke = "Смея се на собствените си шеги."
    assert joke in [row["sentence"] for row in before]
    path = "kinit-sk/gest/data/translations/google_translate/bg/translations.csv"
    edited(path, replace(joke, "Смеех се на собствените си шеги."))
    after, left_out = read("bg_neutral")
    assert [row for row in before if row["sentence"] != joke] == after
    assert left_out[NOT_NEUTRAL] == dropped[NOT_NEUTRAL] + 1


def test_ids_depend_on_the_texts() -> None:
    frame = read_frames("sk", files("sk"))[0]
    row = neutral_row("sk", ["deepl"], 9, "I sing.", "Spievam.", frame)
    others = [
        neutral_row("sk", ["nllb"], 9, "I sing.", "Spievam.", frame),
        neutral_row("sk", ["deepl"], 8, "I sing.", "Spievam.", frame),
        neutral_row("sk", ["deepl"], 9, "I sing.", "Spievam rád.", frame),
    ]
    assert [other["id"] == row["id"] for other in others] == [True, False, False]


def test_hashes() -> None:
    assert neutral_hashes("sk") >= {text_hash("sk", "Smejem sa na vlastných vtipoch.")}
    assert text_hash("sk", "Smejem sa.") != text_hash("cs", "Smejem sa.")
    one, other = (text_hash("sk", text) for text in ("a", "b"))
    assert base64.b64decode(pack_hashes([other, one])) == b"".join(sorted([one, other]))
    assert neutral.TABLE.stat().st_size < 100_000
