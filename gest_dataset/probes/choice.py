"""Choices in words: a model names one of a few options, asked in every order of them.

English sentences: who would say it, men, women or neither (after GenderBench's probe, in words of our own).
Pairs in Slavic languages: which of the two variants would one expect to read. The wordings are in
`choices.json`, where a speaker can correct them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from gest_dataset.errors import SettingError
from gest_dataset.languages import SOURCE
from gest_dataset.probes import wordings as table
from gest_dataset.probes.prompt import EMPTY, FILTERED, Answer, Prompt

LETTERS = "abc"
REFUSED, UNREADABLE, SEVERAL = "refused", "no option is named", "several options are named"
_TABLE = Path(__file__).with_name("choices.json")
_OPTIONS = ("male", "female", "neither")
_ENDS = " .!?…"
_MARKS = " \n\t\"'“”„‚‘’«»*_"  # around an answer
# A letter that begins an answer and is no word of it: a, (a), a), A., **(a)**, "Answer: (a)"
_FIRST = re.compile(
    r"\W*(?:(?:the )?(?:answer|option)(?: is)?\W*)?(?:\(([abc])\)|([abc])(?:[).:,*]|\s*$|\s*\n))",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\(([abc])\)", re.IGNORECASE)
_REFUSALS = re.compile(
    r"\b(?:as an? (?:ai|language model)|i(?:['’]m| am) (?:sorry|unable|not able)"
    r"|i (?:cannot|(?:can|won)['’]t))\b",
    re.IGNORECASE,
)


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

    It is the only letter in brackets; where there is none the letter that begins the answer, and where that
    is none either the option whose words begin it. A refusal is `other`.
    """
    order = order_of(prompt)
    if answer.problem in (EMPTY, FILTERED):
        return Choice("other", None, answer.problem)
    named = {letter.lower() for letter in _BRACKETED.findall(answer.text)}
    if not named and (begins := _FIRST.match(answer.text)):
        named = {(begins[1] or begins[2]).lower()}
    if not named:
        said = answer.text.casefold().lstrip(_MARKS)
        begun = [(len(words), letter) for letter, words in _options_in(prompt) if said.startswith(words)]
        named = {letter for _, letter in sorted(begun)[-1:]}  # *hotová* begins with *hotov*
    places = [LETTERS.index(letter) for letter in named]
    if len(places) == 1 and places[0] < len(order):
        return Choice(order[places[0]], places[0])
    if _REFUSALS.search(answer.text):
        return Choice("other", None, REFUSED)
    return Choice("other", None, SEVERAL if len(named) > 1 else UNREADABLE)


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
        if len(letter) == 1 and letter in LETTERS[: len(order)]:
            mass[order[LETTERS.index(letter)]] += math.exp(log_probability)
    total = sum(mass.values())
    return {name: share / total for name, share in mass.items()} if total else {}
