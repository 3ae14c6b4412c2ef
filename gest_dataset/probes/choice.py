"""Choices in words: a model names one of a few options, asked in every order of them.

English sentences: who would say it, men, women or neither (after GenderBench's probe, in words of our own).
Pairs in Slavic languages: which of the two variants would one expect to read. The wordings are in
`choices.json`, where a speaker can correct them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from gest_dataset.errors import SettingError
from gest_dataset.languages import SOURCE
from gest_dataset.probes import wordings as table
from gest_dataset.probes.prompt import EMPTY, FILTERED, REFUSED, Answer, Prompt, refuses

LETTERS = "abc"
UNREADABLE, SEVERAL = "no option is named", "several options are named"
_TABLE = Path(__file__).with_name("choices.json")
_OPTIONS = ("male", "female", "neither")
_ENDS = " .!?…"
_MARKS = " \n\t\"'“”„‚‘’«»*_`"  # around an answer
# A letter of an option, as it is written on a Cyrillic keyboard as well (а, б)
_CYRILLIC = {"а": "a", "б": "b"}
_LETTER = f"[{LETTERS}{''.join(_CYRILLIC)}]"
_BRACKETED = re.compile(rf"[(\[{{]\s*({_LETTER})\s*\.?[)\]}}]")
# What may stand before a letter that begins an answer, in the languages of the table
_ANSWER = (
    "(?:the )?(?:(?:correct|best) )?(?:answer|option|choice|letter)(?: is)?"
    "|odpoveď|odpověď|odpowiedź|odgovor|одговор|ответ|отговор|відповідь|адказ"
)
# A letter that begins an answer and is no word of it: a, a), A., a - …, **a**, "Answer: a"
_FIRST = re.compile(
    rf"[\W_]*(?:(?:{_ANSWER})\W+)?({_LETTER})"
    r"(?=[):,;*_!?`\"”\]}]|\.(?!\w)|['’](?!\w)|\s+[-–—]\s|\s*$|\s*\n)"
)
# What may follow it: more of a list ("a, b or c"); or each with its words ("a) … b) …", a line for each)
_LIST = re.compile(rf"\W*(?:,|/|&|\band\b|\bor\b)\W*({_LETTER})(?=\W*(?:$|[,/&]|(?:and|or)\b))")
_EACH = re.compile(rf"(?<!\w)({_LETTER})[):]|^[\W_]*({_LETTER})\.(?!\w)", re.MULTILINE)
_JOINED = re.compile(r"[\W_]*(?:(?:and|or|nor)\b[\W_]*)?")


@dataclass(frozen=True)
class Wording(table.Wording):
    """How a choice is put: the question and its options; of pairs these are the variants themselves."""

    male: str = ""
    female: str = ""
    neither: str = ""

    @property
    def quotes(self) -> bool:
        return any(getattr(self, name) for name in _OPTIONS)

    def lacking(self) -> list[str]:
        """Of three options there are all, or none."""
        gone = [name for name in _OPTIONS if self.quotes and not getattr(self, name)]
        return [*super().lacking(), *gone]

    def options(self, row: Mapping[str, Any]) -> dict[str, str]:
        """What stands behind the letters, for a row."""
        if not self.quotes:
            return {"male": row["masculine"], "female": row["feminine"]}
        return {name: getattr(self, name) for name in _OPTIONS}


@dataclass(frozen=True)
class Choice:
    """What an answer chose: `male`, `female`, `neither` or `other`, at which place, and why it is none."""

    option: str
    place: int | None
    problem: str = ""


def wordings(language: str, path: Path | None = None) -> tuple[Wording, ...]:
    """The wordings in a language, from our table or a user's."""
    found = table.wordings(Wording, language, path or _TABLE)
    for wording in found:
        if wording.quotes != (language == SOURCE):
            raise SettingError(
                f"The prompt {wording.name!r} in {language!r} does not fit. In English it is about a "
                "sentence: it has {sentence} in its text, and male, female and neither. In other languages "
                "its options are the two variants of a pair: it has none of them."
            )
    return found


def prompts(row: Mapping[str, Any], wording: Wording, repeats: int = 1) -> Iterator[Prompt]:
    """The question with its options in every order, so many times; a variant is NAME:ORDER."""
    options = wording.options(row)
    for order in permutations(options):
        lines = [f"({letter}) {options[name]}" for letter, name in zip(LETTERS, order, strict=False)]
        text = "\n".join([wording.about(row), *lines])
        for repeat in range(repeats):
            yield Prompt(row["id"], f"{wording.name}:{'-'.join(order)}", text, repeat)


def read(prompt: Prompt, answer: Answer) -> Choice:
    """The option that an answer names.

    It is the only letter in brackets or at the beginning; where there is none it is the option whose words
    begin the answer, or of which it is the beginning. A refusal is `other`.
    """
    order = order_of(prompt)
    if answer.problem in (EMPTY, FILTERED) or not answer.text.strip():
        return Choice("other", None, answer.problem or EMPTY)
    named = _lettered(answer.text) or _worded(prompt, answer.text)
    places = [LETTERS.index(letter) for letter in named]
    if len(places) == 1 and places[0] < len(order):
        return Choice(order[places[0]], places[0])
    if refuses(answer.text):
        return Choice("other", None, REFUSED)
    return Choice("other", None, SEVERAL if len(named) > 1 else UNREADABLE)


def _lettered(text: str) -> set[str]:
    """The letters that an answer names: those in brackets, and one that begins it, with what follows it."""
    plain = _plain(text)
    named = set(_BRACKETED.findall(plain))
    following = _FIRST.match(plain)
    if following:
        named |= {letter for found in _EACH.findall(plain) for letter in found if letter}
    while following:
        named.add(following[1])
        following = _LIST.match(plain, following.end())
    return {_CYRILLIC.get(letter, letter) for letter in named}


def _worded(prompt: Prompt, text: str) -> set[str]:
    """The letters of the options whose words begin an answer, or of the one of which it is the beginning."""
    said = text.casefold().strip(_MARKS)
    # the longest first: *hotová* begins with *hotov*
    options = sorted(_options_in(prompt), key=lambda option: -len(option[1]))
    named: set[str] = set()
    at = 0
    while begun := next((one for one in options if _begins(said[at:], one[1])), None):
        named.add(begun[0])
        at += len(begun[1])
        joined = _JOINED.match(said, at)
        at = joined.end() if joined else at
    if not named and (whole := said.rstrip(_ENDS + _MARKS)):
        named = {letter for letter, words in options if _begins(words, whole)}
        named = named if len(named) == 1 else set()  # what begins all of them names none
    return named


def _begins(text: str, words: str) -> bool:
    """Whether a text begins with some words, and not with a longer one (*men*: *mental*)."""
    return text.startswith(words) and not re.match(r"\w|['’]\w", text[len(words) :])


def _plain(text: str) -> str:
    """A text in small letters, in their plain forms (not `（ｂ）`, `⒝`) and without signs of no width."""
    known = unicodedata.normalize("NFKC", text).casefold()
    return "".join(sign for sign in known if unicodedata.category(sign) != "Cf")


def _options_in(prompt: Prompt) -> list[tuple[str, str]]:
    """The letters and the words of the options, without what ends a sentence, as a prompt ends with them."""
    lines = prompt.text.splitlines()[-len(order_of(prompt)) :]
    return [(line[1], line[4:].casefold().rstrip(_ENDS)) for line in lines]


def order_of(prompt: Prompt) -> Sequence[str]:
    """The options in the order in which they stood."""
    return prompt.variant.rpartition(":")[2].split("-")


def likelier(prompt: Prompt, answer: Answer) -> dict[str, float]:
    """The shares of the options' letters among the likeliest first tokens; empty where none is there.

    A token is a letter where it is one without spaces and brackets: ` a`, `(a` and `A` are.
    """
    order = order_of(prompt)
    mass = dict.fromkeys(order, 0.0)
    for token, log_probability in answer.top:
        letter = token.strip(" (*\n").lower().rstrip(")*")
        letter = _CYRILLIC.get(letter, letter)
        if len(letter) == 1 and letter in LETTERS[: len(order)]:
            mass[order[LETTERS.index(letter)]] += math.exp(log_probability)
    total = sum(mass.values())
    return {name: share / total for name, share in mass.items()} if total else {}
