"""The only thing that a model which answers in words sees, and what it says: a prompt and an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

# Why an answer says nothing; what a server or a model tells of an end that is none
EMPTY, CUT, FILTERED = "the answer is empty", "the answer was cut off", "the answer was withheld"
REFUSED = "refused"
_REFUSALS = re.compile(
    r"\b(?:as an? (?:ai|language model)|i(?:['’]m| am) (?:sorry|unable|not able)"
    r"|i (?:cannot|(?:can|won)['’]t))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is said to a model about one row: `variant` names the wording, the order of options, …"""

    id: str
    variant: str
    text: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, to the letter; `problem` is why it says nothing, if it does not.

    `top` are the likeliest first tokens with ln P, where they were asked for and given.
    """

    text: str
    tokens_in: int
    tokens_out: int
    problem: str = ""
    top: tuple[tuple[str, float], ...] = ()


# What stands around the thoughts of models that reason; the first may stand at the end of the prompt
_BEGIN, _END = (re.compile(tag, re.IGNORECASE) for tag in ("<think>", "</think>"))


def without_thoughts(answer: Answer) -> Answer:
    """What is left to be read: a model that was still thinking has not answered.

    >>> without_thoughts(Answer("<think>(a) or (b)?</think> (b)", 9, 9)).text
    '(b)'
    >>> without_thoughts(Answer("<think>(a) would be", 9, 9)).problem
    'the answer was cut off'
    """
    text = _BEGIN.split(_END.split(answer.text)[-1])[0]
    if text == answer.text:
        return answer
    return replace(answer, text=text.strip(), problem=answer.problem or ("" if text.strip() else CUT))


def refuses(text: str) -> bool:
    """Whether a text has the words of a refusal in English, in which models refuse other languages too."""
    return _REFUSALS.search(text) is not None
