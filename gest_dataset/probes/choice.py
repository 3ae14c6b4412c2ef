"""Multiple-choice prompts: a model names one of a few options, with the options in every order.

English sentences: who would say it, men, women or neither (after GenderBench's probe, in our own words).
Pairs in Slavic languages: which of the two variants one would expect to read. The wordings are in
`choices.json`, where a speaker can correct them.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from gest_dataset.languages import SOURCE
from gest_dataset.probes import prompts
from gest_dataset.probes.prompts import Answer, Prompt, Reading

LETTERS = "abc"
UNREADABLE, SEVERAL = "no option is named", "several options are named"
_OPTIONS = ("male", "female", "neither")
_SENTENCE_ENDS = " .!?…"
_MARKS = " \n\t\"'“”„‚‘’«»*_`"  # around an answer
_CYRILLIC = {"а": "a", "б": "b"}  # the letters of options as a Cyrillic keyboard writes them
_LETTER = f"[{LETTERS}{''.join(_CYRILLIC)}]"
_BRACKETED = re.compile(rf"[(\[{{]\s*({_LETTER})\s*\.?[)\]}}]")
# What may precede a letter that begins an answer, in the languages of the table
_ANSWER = (
    "(?:the )?(?:(?:correct|best) )?(?:answer|option|choice|letter)(?: is)?"
    "|odpoveď|odpověď|odpowiedź|odgovor|одговор|ответ|отговор|відповідь|адказ"
)
# A letter that begins an answer and is no word of it: a, a), A., a - …, **a**, "Answer: a"
_FIRST = re.compile(
    rf"[\W_]*(?:(?:{_ANSWER})\W+)?({_LETTER})"
    r"(?=[):,;*_!?`\"”\]}]|\.(?!\w)|['’](?!\w)|\s+[-–—]\s|\s*$|\s*\n)"
)
# What may follow it: more letters of a list ("a, b or c"), or each with its words ("a) … b) …", one per line)
_LIST = re.compile(rf"\W*(?:,|/|&|\band\b|\bor\b)\W*({_LETTER})(?=\W*(?:$|[,/&]|(?:and|or)\b))")
_EACH = re.compile(rf"(?<!\w)({_LETTER})[):]|^[\W_]*({_LETTER})\.(?!\w)", re.MULTILINE)
_JOINED = re.compile(r"[\W_]*(?:(?:and|or|nor)\b[\W_]*)?")


@dataclass(frozen=True)
class Wording(prompts.Wording):
    """A question with its three options; for pairs the options are the two variants."""

    male: str = ""
    female: str = ""
    neither: str = ""

    def problem(self) -> str:
        if self.language != SOURCE:
            return ""
        has_options = all(getattr(self, name) for name in _OPTIONS)
        return super().problem() if has_options else "lacks one of the options male, female and neither"

    def options(self, row: Mapping[str, Any]) -> dict[str, str]:
        """The texts of the options for a row."""
        if self.language != SOURCE:
            return {"male": row["masculine"], "female": row["feminine"]}
        return {name: getattr(self, name) for name in _OPTIONS}


def make_prompts(row: Mapping[str, Any], wording: Wording, repeats: int = 1) -> Iterator[Prompt]:
    """The question with its options in every order, repeated; a variant is NAME:ORDER."""
    options = wording.options(row)
    for order in permutations(options):
        lines = [f"({letter}) {options[name]}" for letter, name in zip(LETTERS, order, strict=False)]
        text = "\n".join([wording.render(row), *lines])
        for repeat in range(repeats):
            yield Prompt(row["id"], f"{wording.name}:{'-'.join(order)}", text, repeat)


def read(prompt: Prompt, answer: Answer) -> Reading:
    """The option that an answer names without its thoughts, and the shares of the letters."""
    reading = parse_choice(prompt, prompts.without_thoughts(answer))
    return replace(reading, shares=letter_shares(prompt, answer))


def parse_choice(prompt: Prompt, answer: Answer) -> Reading:
    """The option that an answer names: `male`, `female`, `neither` or `other`.

    It is the only letter in brackets or at the beginning. Without one it is the option whose words begin the
    answer, or of which the answer is the beginning. A refusal is `other`.
    """
    order = _option_order(prompt)
    if answer.problem in (prompts.EMPTY, prompts.FILTERED) or not answer.text.strip():
        return Reading("other", None, answer.problem or prompts.EMPTY)
    named = _named_by_letter(answer.text) or _named_by_words(prompt, answer.text)
    positions = [LETTERS.index(letter) for letter in named]
    if len(positions) == 1 and positions[0] < len(order):
        return Reading(order[positions[0]], positions[0])
    if prompts.is_refusal(answer.text):
        return Reading("other", None, prompts.REFUSED)
    return Reading("other", None, SEVERAL if len(named) > 1 else UNREADABLE)


def _named_by_letter(text: str) -> set[str]:
    """The letters that an answer names: those in brackets, and one that begins it, with what follows it."""
    normal = unicodedata.normalize("NFKC", text).casefold()  # `（ｂ）` and `⒝` are (b)
    plain = "".join(letter for letter in normal if unicodedata.category(letter) != "Cf")  # no zero width
    named = set(_BRACKETED.findall(plain))
    match = _FIRST.match(plain)
    if match:
        named |= {letter for letters in _EACH.findall(plain) for letter in letters if letter}
    while match:
        named.add(match[1])
        match = _LIST.match(plain, match.end())
    return {_CYRILLIC.get(letter, letter) for letter in named}


def _named_by_words(prompt: Prompt, text: str) -> set[str]:
    """The letters of the options whose words begin an answer, or of the one of which it is the beginning."""
    said = text.casefold().strip(_MARKS)
    lines = prompt.text.splitlines()[-len(_option_order(prompt)) :]
    options = [(line[1], line[4:].casefold().rstrip(_SENTENCE_ENDS)) for line in lines]
    options.sort(key=lambda option: -len(option[1]))  # the longest first: *hotová* begins with *hotov*
    named: set[str] = set()
    start = 0
    while option := next((option for option in options if _begins(said[start:], option[1])), None):
        named.add(option[0])
        start += len(option[1])
        joined = _JOINED.match(said, start)
        start = joined.end() if joined else start
    if not named and (whole := said.rstrip(_SENTENCE_ENDS + _MARKS)):
        named = {letter for letter, words in options if _begins(words, whole)}
        named = named if len(named) == 1 else set()
    return named


def _begins(text: str, words: str) -> bool:
    """Whether a text begins with whole words (*mental* does not begin with *men*)."""
    return text.startswith(words) and not re.match(r"\w|['’]\w", text[len(words) :])


def _option_order(prompt: Prompt) -> Sequence[str]:
    return prompt.variant.rpartition(":")[2].split("-")


def letter_shares(prompt: Prompt, answer: Answer) -> dict[str, float]:
    """The options' shares of the probability of their letters as the first token; empty without any.

    A token counts as a letter if it is one without spaces and brackets: ` a`, `(a`, `A`.
    """
    order = _option_order(prompt)
    mass = dict.fromkeys(order, 0.0)
    for token, log_probability in answer.top:
        letter = token.strip(" (*\n").lower().rstrip(")*")
        letter = _CYRILLIC.get(letter, letter)
        if len(letter) == 1 and letter in LETTERS[: len(order)]:
            mass[order[LETTERS.index(letter)]] += math.exp(log_probability)
    total = sum(mass.values())
    return {name: share / total for name, share in mass.items()} if total else {}
