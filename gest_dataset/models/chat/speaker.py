"""How answers are drawn, and who gives them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from gest_dataset.probes.prompt import Answer, Prompt


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


def keys_of(prompts: Iterable[Prompt], sampling: Sampling) -> dict[Prompt, bytes]:
    """A digest of all that an answer depends on, beside the model; the same wording is asked once."""
    drawn = {name: value for name, value in sampling.facts().items() if name != "repeats"}
    how = json.dumps(drawn, sort_keys=True)

    def key(prompt: Prompt) -> bytes:
        return hashlib.sha256(f"[{json.dumps(prompt.text)}, {prompt.repeat}, {how}]".encode()).digest()

    return {prompt: key(prompt) for prompt in prompts}


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

    def notes(self) -> list[str]:
        """What has to be said of how it was asked."""
        ...

    def say(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[list[tuple[Prompt, Answer]], None, None]:
        """Prompts with their answers, as many as are there, as soon as they are and in any order."""
        ...
