"""A question in words, the answer to it, and how answers are drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Protocol

# Why an answer says nothing; what a server or a model tells of an end that is none
EMPTY, CUT, FILTERED = "the answer is empty", "the answer was cut off", "the answer was withheld"


@dataclass(frozen=True)
class Sampling:
    """How answers are drawn: at temperature 0 the likeliest one, else `repeats` of each prompt.

    `stop` are texts that end an answer; `top` asks for so many of the likeliest first tokens as well.
    """

    temperature: float = 0.0
    seed: int = 0
    repeats: int = 1
    max_tokens: int = 32
    stop: tuple[str, ...] = ()
    top: int = 0

    def facts(self) -> dict[str, Any]:
        """What numbers depend on."""
        return {**asdict(self), "stop": list(self.stop)}


@dataclass(frozen=True)
class Prompt:
    """What is said to a model about one row: `variant` names the wording, the order of options, …"""

    id: str
    variant: str
    text: str
    repeat: int = 0

    def key(self, sampling: Sampling) -> bytes:
        """A digest of all that its answer depends on, beside the model; the same wording is asked once."""
        drawn = {name: value for name, value in sampling.facts().items() if name != "repeats"}
        told = [self.text, self.repeat, drawn]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).digest()


@dataclass(frozen=True)
class Answer:
    """What a model said, to the letter; `problem` is why it says nothing, if it does not.

    `top` are the likeliest first tokens with ln P, where they were asked for and given.
    """

    text: str
    tokens_in: int
    tokens_out: int
    problem: str = ""
    top: tuple[tuple[str, float], ...] = ()


class Speaker(Protocol):
    """Who answers: a model under its name."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> str:
        """Where it answers: a device, or `server`."""

    def settings(self) -> dict[str, Any]:
        """What its answers depend on."""
        ...

    def facts(self) -> dict[str, Any]:
        """What a run says of it beside its numbers."""
        ...

    def say(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[tuple[Prompt, Answer], None, None]:
        """Each prompt with its answer, as soon as it is there and in any order."""
        ...
