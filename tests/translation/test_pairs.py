"""Pairs: prompts, the quoted sentence in an answer, every reason to leave a sentence out, the real files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gest_dataset.builders.pairs import FIRST_LETTER, PUNCTUATION, SAME, SEVERAL_WORDS, WORD_COUNT
from gest_dataset.gender.detect import Detection
from gest_dataset.translation import pairs
from gest_dataset.translation.masculine_rates import prepare
from gest_dataset.translation.pairs import make_pairs, quotation
from gest_dataset.translation.sentences import GestSentence, gest_sentences
from gest_dataset.translation.translator import Translation
from tests.conftest import ROOT
from tests.support.modules import load_script
from tests.support.outside import needs, require

QUOTATIONS = Path(__file__).with_name("quotations.yaml")
MODELS = "GEST_UDPIPE_MODELS"


def test_quotations() -> None:
    for expected, answers in yaml.safe_load(QUOTATIONS.read_text(encoding="utf-8")).items():
        for answer in answers:
            assert quotation(answer) == (None if expected == "none" else expected), answer


MARKS = [("„", "“"), ("“", "”"), ('"', '"'), ("«", "»"), ("»", "«"), ("‚", "‘"), ("„", "”")]
WORDS = st.text("aáčdeiľmnoôšťyž", min_size=1, max_size=8)
SENTENCES = st.lists(WORDS, min_size=2, max_size=8).map(lambda words: " ".join(words) + ".")


@given(SENTENCES, st.sampled_from(MARKS), st.sampled_from(MARKS), st.data())
def test_what_was_quoted_is_found(
    sentence: str, marks: tuple[str, str], inner: tuple[str, str], data: st.DataObject
) -> None:
    """Also with a word of it in other quotation marks."""
    words = sentence.split()
    if inner != marks:
        place = data.draw(st.integers(0, len(words) - 1))
        words[place] = words[place].replace(words[place].rstrip("."), words[place].rstrip(".").join(inner))
    written = " ".join(words)
    assert quotation(f"Muž povedal: {marks[0]}{written}{marks[1]}") == written
    assert quotation(f"Muž povedal {marks[0]}{written}{marks[1]}") == written


# A system that is easy to follow: English, plain Slovak, and the answer to the prompt for the other gender
TALK = {
    "pair": ("Som unavený.", "Žena povedala: „Som unavená.“"),
    "from female": ("Som rada.", "„Som rád,“ povedal muž."),
    "no translation": ("", ""),
    "no gender": ("Som lekár.", "Žena povedala: „Som lekárka.“"),
    "no answer": ("Bol som tam.", ""),
    "no quotation": ("Bol som doma.", "Žena povedala, že bola doma."),
    "same": ("Bol som sám.", "Žena povedala: „Bol som sám.“"),
    "count": ("Bol som smutný.", "Žena povedala: „Bola som veľmi smutná.“"),
    "several": ("Bol som starý.", "Žena povedala: „Bola som stará.“"),
    "punctuation": ("Bol som, kde som bol.", "Žena povedala: „Bol som kde som bol.“"),
    "letter": ("Chcel by som.", "Žena povedala: „Rada by som.“"),
    "chance": ("Bol som tu.", "Žena povedala: „Bol som tam.“"),
    "again": ("Som unavený.", "Žena povedala: „Som unavená.“"),
    "again for another stereotype": ("Som unavený.", "Žena povedala: „Som unavená.“"),
}
FEMALE = ("Som rada.", "Som unavená.", "Rada by som.", "Bola som stará.")
STEREOTYPES = {"again for another stereotype": 9}


def sentences() -> list[GestSentence]:
    texts = {"again": "pair", "again for another stereotype": "pair"}
    return [
        GestSentence(name, STEREOTYPES.get(name, 6), texts.get(name, name), texts.get(name, name))
        for name in TALK
    ]


def genders(texts: Sequence[str]) -> list[Detection]:
    def gender(text: str) -> str:
        if text == "Som lekár.":
            return "unknown"
        return "female" if text in FEMALE else "male"

    return [Detection(gender(text), "test", (), False) for text in texts]


def asked(texts: Sequence[str]) -> dict[str, Translation]:
    """A translator that knows TALK, plain and in a frame of the other gender only."""
    known = {}
    for name, (plain, answer) in TALK.items():
        other = "man" if plain in FEMALE else "woman"
        known |= {name: plain, f'The {other} said: "{name}"': answer}
    return {text: Translation(text, known.get(text, ""), "" if known.get(text) else "none") for text in texts}


def test_every_step_and_its_yield() -> None:
    for system in ("hf:test", "file:test.csv"):
        found = make_pairs(sentences(), system, "hf:test", "sk", asked, genders)
        left_out = {reason: ids for reason, ids in found.left_out.items() if ids}
        assert left_out == {
            pairs.NO_TRANSLATION: ["no translation"],
            pairs.NO_GENDER: ["no gender"],
            pairs.NO_ANSWER: ["no answer"],
            pairs.NO_QUOTATION: ["no quotation"],
            SAME: ["same"],
            WORD_COUNT: ["count"],
            SEVERAL_WORDS: ["several"],
            PUNCTUATION: ["punctuation"],
            FIRST_LETTER: ["letter"],
            pairs.WRONG_GENDER: ["chance"],
            pairs.MERGED: ["again"],
        }
        assert list(found.left_out) == list(pairs.REASONS)
        assert found.frame == "The man said: …"
        assert len(found.rows) + sum(map(len, found.left_out.values())) == found.sentences == len(TALK)
        first, second, third = found.rows
        assert first == {
            "id": first["id"],
            "sentence_id": "pair",
            "language": "sk",
            "systems": ["hf:test"],
            "source": "pair",
            "masculine": "Som unavený.",
            "feminine": "Som unavená.",
            "masculine_word": "unavený",
            "feminine_word": "unavená",
            "word_index": 1,
            "stereotype": 6,
            "stereotype_name": "Weak",
            "gender": "female",
        }
        assert (second["masculine"], second["feminine"]) == ("Som rád.", "Som rada.")
        assert (third["stereotype"], third["gender"]) == (9, "male")
        assert third["id"] != first["id"]


def test_a_translator_is_asked_for_the_other_gender_only() -> None:
    questions: list[str] = []

    def ask(texts: Sequence[str]) -> Mapping[str, Translation]:
        questions.extend(texts)
        return asked(texts)

    make_pairs(sentences(), "deepl", "deepl", "sk", ask, genders)
    assert 'The woman said "pair"' in questions
    assert 'The man said "from female"' in questions
    assert not {'The man said "pair"', 'The woman said "from female"', 'The woman said "no gender"'} & {
        *questions
    }
    assert len(questions) == len(set(questions)) + 2  # "again" is the same sentence: the store answers


def test_a_file_is_read_with_the_frame_that_it_was_made_with() -> None:
    def ask(texts: Sequence[str]) -> dict[str, Translation]:
        known = {
            "a": "Som smelý.",
            "Woman: a": "Žena: Som smelá.",
            "b": "Som milý.",
            "Woman: b": "Žena: Som milá.",
        }
        known |= {'The woman said: "a"': "Žena povedala: „Som smelá.“"}
        return {
            text: Translation(text, known.get(text, ""), "" if text in known else "none") for text in texts
        }

    def find(texts: Sequence[str]) -> list[Detection]:
        return [Detection("male" if "ý" in text else "female", "test", (), False) for text in texts]

    given = [GestSentence("1", 1, "a", "a"), GestSentence("2", 2, "b", "b")]
    found = make_pairs(given, "file:x.csv", "file:x.csv", "sk", ask, find)
    assert found.frame == "Man: … (no quotation marks)"
    assert [row["feminine_word"] for row in found.rows] == ["smelá", "milá"]


@pytest.mark.upstream
@pytest.mark.slow
@needs(MODELS)
@pytest.mark.parametrize(
    ("folder", "frame"),
    [
        ("amazon_translate", "The man said: …"),
        ("deepl", "The man said …"),
        ("google_translate", "The man said: …"),
    ],
)
def test_the_authors_slovak_prompts_give_a_thousand_pairs(
    upstream: Path, tmp_path: Path, folder: str, frame: str
) -> None:
    file = upstream / "kinit-sk/gest/data/translations" / folder / "sk/translations.csv"
    model, cache = require(MODELS) / "sk.udpipe", tmp_path / "parses"
    experiment = prepare(f"file:{file}", "sk", parser_model=model, cache=cache)
    detect = experiment.detector.genders
    found = make_pairs(gest_sentences(), experiment.system, "file", "sk", experiment.translate, detect)
    assert found.frame == frame
    assert len(found.rows) >= 1000
    assert len(found.rows) + sum(map(len, found.left_out.values())) == found.sentences == 3565
    for row in found.rows:
        masculine, feminine = row["masculine"].split(), row["feminine"].split()
        differing = [
            place for place, pair in enumerate(zip(masculine, feminine, strict=True)) if len({*pair}) > 1
        ]
        assert differing == [row["word_index"]]
        assert row["masculine_word"][0] == row["feminine_word"][0]
    counts = {"sentences": found.sentences, "pairs": len(found.rows)}
    counts |= {reason: len(ids) for reason, ids in found.left_out.items() if ids}
    detected = load_script(ROOT / "docs" / "detected.py")
    (name,) = (name for name, place in detected.SLOVAK.items() if place == folder)
    assert counts == json.loads(detected.RESULTS.read_text(encoding="utf-8"))["pairs"][name]
    # what a pair nearly always is: an ending, -a or -á of the feminine
    assert sum(row["feminine_word"][-1] in "aá" for row in found.rows) >= 0.99 * len(found.rows)
