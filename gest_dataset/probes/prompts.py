"""Prompts for chat models, their answers, and the tables of wordings that prompts come from."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from gest_dataset.errors import SettingError
from gest_dataset.storage import parse_json, read_bytes

# Why an answer cannot be read
EMPTY, CUT, FILTERED = "the answer is empty", "the answer was cut off", "the answer was withheld"
REFUSED = "refused"
SENTENCE = "{sentence}"
_REFUSALS = re.compile(
    r"\b(?:as an? (?:ai|language model)|i(?:['’]m| am) (?:sorry|unable|not able)"
    r"|i (?:cannot|(?:can|won)['’]t))\b",
    re.IGNORECASE,
)
# Tags around the thoughts of reasoning models; the first may be at the end of the prompt. The last ones are
# what is left of gpt-oss's tokens in a text.
_THINK = re.compile(r"<(?:seed:)?think(?:ing)?>|\[THINK\]|^analysis(?=[A-Z])", re.IGNORECASE)
_END_THINK = re.compile(r"</(?:seed:)?think(?:ing)?>|\[/THINK\]|assistantfinal", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt about one row; `variant` names the wording and the order of options."""

    id: str
    variant: str
    text: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer, unchanged; `problem` is why there is none.

    `top` are the likeliest first tokens with ln P, if they were requested and returned. `thoughts` are those
    that a server returns apart from the answer.
    """

    text: str
    tokens_in: int
    tokens_out: int
    problem: str = ""
    top: tuple[tuple[str, float], ...] = ()
    thoughts: str = ""


@dataclass(frozen=True)
class Reading:
    """The option or gender that an answer is read as; `problem` is why there is none.

    `position` is that of the chosen option, `shares` are the probabilities of the options' letters, `rule` is
    the rule that found a gender, and `evidence` the words that show it.
    """

    value: str
    position: int | None = None
    problem: str = ""
    rule: str = ""
    evidence: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)


def without_thoughts(answer: Answer) -> Answer:
    """The answer without what a reasoning model thought; one that never stopped thinking was cut off.

    The first tokens of such an answer are those of the thoughts.

    >>> without_thoughts(Answer("<think>(a) or (b)?</think> (b)", 9, 9)).text
    '(b)'
    >>> without_thoughts(Answer("<think>(a) would be", 9, 9)).problem
    'the answer was cut off'
    """
    text = _THINK.split(_END_THINK.split(answer.text)[-1])[0]
    if text == answer.text:
        return replace(answer, top=()) if answer.thoughts else answer
    problem = answer.problem or ("" if text.strip() else CUT)
    return replace(answer, text=text.strip(), problem=problem, top=())


def has_thoughts(text: str) -> bool:
    """Whether there are tags of thoughts in a text."""
    return bool(_THINK.search(text) or _END_THINK.search(text))


def is_refusal(text: str) -> bool:
    """Whether a text refuses, in English: models also refuse other languages in English."""
    return _REFUSALS.search(text) is not None


@dataclass(frozen=True)
class Wording:
    """A prompt template; `{sentence}` stands for the sentence of a row."""

    name: str
    language: str
    text: str

    def render(self, row: Mapping[str, Any]) -> str:
        """The text of the prompt for a row."""
        return self.text.replace(SENTENCE, str(row.get("sentence", "")))

    def problem(self) -> str:
        """Why the prompt cannot be used; empty if it can."""
        return "" if SENTENCE in self.text else f"lacks {SENTENCE} in its text"


W = TypeVar("W", bound=Wording)


def read_wordings(kind: type[W], table_name: str, language: str, path: Path | None) -> tuple[W, ...]:
    """The wordings in a language, from our table or the JSON table of a user."""
    path = path or Path(__file__).with_name(table_name)
    try:
        table = tuple(kind(**entry) for entry in parse_json(read_bytes(path)))
    except (OSError, ValueError, TypeError) as error:
        raise SettingError(f"The prompts in {path} cannot be read: {error}") from error
    wordings = tuple(wording for wording in table if wording.language == language)
    if not wordings:
        languages = ", ".join(dict.fromkeys(wording.language for wording in table))
        problem = f"{path.name} has prompts in {languages}, but not in {language!r}"
        raise SettingError(f"{problem}: write some as a JSON table and pass it with --prompts.")
    for wording in wordings:
        if problem := wording.problem():
            raise SettingError(f"The prompt {wording.name!r} in {path} {problem}.")
    return wordings


def make_prompts(row: Mapping[str, Any], wording: Wording, repeats: int = 1) -> Iterator[Prompt]:
    """The prompt for a row, repeated."""
    for repeat in range(repeats):
        yield Prompt(row["id"], wording.name, wording.render(row), repeat)
