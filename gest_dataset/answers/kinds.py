"""The probes in words: what each asks about a row, how answers are read, and the measure of that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gest_dataset.languages import SOURCE
from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.measure import Measure
from gest_dataset.probes import choice
from gest_dataset.probes.prompt import Answer, Prompt


@dataclass(frozen=True)
class Reading:
    """What an answer is taken for; `problem` is why it says nothing, `shares` are of likely letters."""

    value: str
    place: int | None = None
    problem: str = ""
    evidence: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """A probe in words: its data, prompts and readings in a language; `column` is where readings stand.

    An answer has up to `max_tokens`; `top` asks for so many of the likeliest first tokens as well.
    """

    measure: Measure
    config: Callable[[str], str]
    wordings: Callable[[str, Path | None], Sequence[Any]]
    prompts: Callable[[Mapping[str, Any], Any, int], Iterator[Prompt]]
    read: Callable[[str, Sequence[Prompt], Sequence[Answer]], Sequence[Reading]]
    column: str
    max_tokens: int
    top: int

    def digest(self, wordings: Sequence[Any]) -> str:
        """The names of the wordings, and a hash of what they say."""
        told = json.dumps([asdict(wording) for wording in wordings], ensure_ascii=False, sort_keys=True)
        names = "+".join(dict.fromkeys(wording.name for wording in wordings))
        return f"{names}#{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def _choices(language: str, prompts: Sequence[Prompt], answers: Sequence[Answer]) -> list[Reading]:
    readings = []
    for prompt, answer in zip(prompts, answers, strict=True):
        chosen = choice.read(prompt, answer)
        shares = choice.likelier(prompt, answer)
        readings.append(Reading(chosen.option, chosen.place, chosen.problem, shares=shares))
    return readings


KINDS: dict[str, Kind] = {
    "choice": Kind(
        measure=CHOICE,
        config=lambda language: SOURCE if language == SOURCE else f"{language}_pairs",
        wordings=choice.wordings,
        prompts=choice.prompts,
        read=_choices,
        column="option",
        max_tokens=16,
        top=20,
    ),
}
