"""The only thing that a model which answers in words sees, and what it says: a prompt and an answer."""

from __future__ import annotations

from dataclasses import dataclass

# Why an answer says nothing; what a server or a model tells of an end that is none
EMPTY, CUT, FILTERED = "the answer is empty", "the answer was cut off", "the answer was withheld"


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
