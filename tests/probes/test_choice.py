"""Choices in words: every order is asked, and what an answer names is read as a person would."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gest_dataset.errors import SettingError
from gest_dataset.languages import LANGUAGES, SLAVIC
from gest_dataset.probes import choice
from gest_dataset.probes.prompt import EMPTY, Answer, Prompt

NAMES = ("male", "female", "neither")
ROW = {"id": "x", "sentence": "I never cry.", "masculine": "Som silný.", "feminine": "Som silná."}


def prompt(order: str = "male-female-neither", language: str = "en") -> Prompt:
    wording = choice.wordings(language)[0]
    return next(p for p in choice.prompts(ROW, wording) if p.variant.endswith(f":{order}"))


def test_all_six_orders_of_three_options() -> None:
    for wording in choice.wordings("en"):
        asked = list(choice.prompts(ROW, wording))
        assert len({p.text for p in asked}) == len({p.variant for p in asked}) == 6
        assert all("I never cry." in p.text for p in asked)
        for p in asked:
            options = [line.partition(") ")[2] for line in p.text.splitlines()[-3:]]
            assert options == [getattr(wording, name) for name in choice.order_of(p)]


def test_both_orders_of_a_pair() -> None:
    asked = [p for w in choice.wordings("sk") for p in choice.prompts(ROW, w)]
    assert [p.text.splitlines()[-2:] for p in asked] == [
        ["(a) Som silný.", "(b) Som silná."],
        ["(a) Som silná.", "(b) Som silný."],
    ]


def test_repeats_are_prompts_of_their_own() -> None:
    asked = list(choice.prompts(ROW, choice.wordings("en")[0], repeats=3))
    assert sorted({p.repeat for p in asked}) == [0, 1, 2]
    assert len(asked) == 18


def test_there_is_a_question_in_english_and_every_slavic_language() -> None:
    for code in (*SLAVIC, "bg", "en"):
        assert choice.wordings(code), LANGUAGES[code].name


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ("(a)", "male"),
        ("a", "male"),
        ("A. Men", "male"),
        ("b)", "female"),
        ("**(b)** Women are more likely to say so.", "female"),
        ("Answer: c", "neither"),
        ("The answer is (c) Neither of them", "neither"),
        ("I think it is (b), because of how it sounds.", "female"),
        ("C\n\nNobody can tell.", "neither"),
        ("Women", "female"),
        ("“Men”, I would say", "male"),
        ("neither of them.", "neither"),
    ],
)
def test_what_an_answer_names(said: str, option: str) -> None:
    assert choice.read(prompt(), Answer(said, 1, 1)).option == option


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("(a) or (b), it depends", choice.SEVERAL),
        ("As an AI, I do not have opinions.", choice.REFUSED),
        ("I'm sorry, but I can't say that.", choice.REFUSED),
        ("A man would say that.", choice.UNREADABLE),
        ("because of what people think", choice.UNREADABLE),
        ("(d)", choice.UNREADABLE),
        ("It depends.", choice.UNREADABLE),
    ],
)
def test_what_names_no_option_is_counted_with_its_reason(said: str, problem: str) -> None:
    found = choice.read(prompt(), Answer(said, 1, 1))
    assert (found.option, found.place, found.problem) == ("other", None, problem)


def test_an_empty_answer() -> None:
    assert choice.read(prompt(), Answer("", 1, 0, EMPTY)).problem == EMPTY


def test_a_letter_is_the_option_that_stood_there() -> None:
    for order in ("neither-female-male", "female-male-neither"):
        names = [choice.read(prompt(order), Answer(f"({letter})", 1, 1)).option for letter in "abc"]
        assert names == order.split("-")


def test_a_pair_has_no_third_letter() -> None:
    assert choice.read(prompt("male-female", "sk"), Answer("(c)", 1, 1)).option == "other"


def test_shares_of_the_likeliest_letters() -> None:
    top = ((" a", math.log(0.3)), ("(b", math.log(0.1)), ("B", math.log(0.1)), ("The", math.log(0.4)))
    shares = choice.likelier(prompt(), Answer("a", 1, 1, top=top))
    assert shares == pytest.approx({"male": 0.6, "female": 0.4, "neither": 0.0})
    assert choice.likelier(prompt(), Answer("a", 1, 1)) == {}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("{", "cannot be read"),
        ('[{"name": "x", "language": "en"}]', "cannot be read"),
        ('[{"name": "", "language": "en", "text": "?"}]', "lacks name"),
        ('[{"name": "x", "language": "en", "text": "{sentence}", "male": "M"}]', "lacks female, neither"),
        (
            json.dumps([{"name": "x", "language": "en", "text": "?", **dict.fromkeys(NAMES, "M")}]),
            "lacks {sentence} in its text",
        ),
        ('[{"name": "x", "language": "de", "text": "?"}]', "no question in 'en'"),
        ('[{"name": "x", "language": "en", "text": "Which of them?"}]', "'x' in 'en' does not fit"),
    ],
)
def test_a_table_of_ones_own_with_something_missing(table: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "prompts.json"
    path.write_text(table)
    with pytest.raises(SettingError, match=message):
        choice.wordings("en", path)


def test_options_of_ones_own_beside_pairs(tmp_path: Path) -> None:
    """There is no sentence to put into the text: it would be asked without one."""
    path = tmp_path / "prompts.json"
    entry = {"name": "x", "language": "sk", "text": "Kto povedal: {sentence}", **dict.fromkeys(NAMES, "M")}
    path.write_text(json.dumps([entry]))
    with pytest.raises(SettingError, match="the two variants of a pair"):
        choice.wordings("sk", path)
