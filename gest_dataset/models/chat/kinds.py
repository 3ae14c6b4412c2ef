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
from gest_dataset.measures.generated_gender import FIRST_PERSON, STORY
from gest_dataset.measures.measure import Measure
from gest_dataset.models.chat.parsing import Parsing
from gest_dataset.probes import choice, pronouns
from gest_dataset.probes import wordings as table
from gest_dataset.probes.prompt import REFUSED, Answer, Prompt, refuses, without_thoughts
from gest_dataset.statistics.masculine_rate import UNKNOWN

UNSHOWN, CONFLICT = "no gender shows", "rules disagree"


@dataclass(frozen=True)
class Reading:
    """What an answer is taken for; `problem` is why it says nothing, `shares` are of likely letters.

    `rule` is what found a gender, `evidence` the words that it points at.
    """

    value: str
    place: int | None = None
    problem: str = ""
    rule: str = ""
    evidence: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """A probe in words: its data, prompts and readings in a language; `column` is where readings stand.

    An answer has up to `max_tokens`; `top` asks for so many of the likeliest first tokens as well. All
    answers are read at once, so that a parser runs once: `parses` says whether there is one in a language.
    """

    measure: Measure
    config: Callable[[str], str]
    wordings: Callable[[str, Path | None], Sequence[Any]]
    prompts: Callable[[Mapping[str, Any], Any, int], Iterator[Prompt]]
    read: Callable[[Parsing | None, Sequence[Prompt], Sequence[Answer]], Sequence[Reading]]
    column: str
    max_tokens: int
    top: int
    parses: Callable[[str], bool]

    def digest(self, wordings: Sequence[Any]) -> str:
        """The names of the wordings, and a hash of what they say."""
        told = json.dumps([asdict(wording) for wording in wordings], ensure_ascii=False, sort_keys=True)
        names = "+".join(dict.fromkeys(wording.name for wording in wordings))
        return f"{names}#{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def _choices(parsing: Parsing | None, prompts: Sequence[Prompt], answers: Sequence[Answer]) -> list[Reading]:
    readings = []
    for prompt, answer in zip(prompts, answers, strict=True):
        chosen = choice.read(prompt, without_thoughts(answer))
        shares = choice.likelier(prompt, answer)
        readings.append(Reading(chosen.option, chosen.place, chosen.problem, shares=shares))
    return readings


def _speakers(parsing: Parsing | None, prompts: Sequence[Prompt], answers: Sequence[Answer]) -> list[Reading]:
    """The gender of the first person of each answer (docs/gender.md)."""
    if parsing is None:
        raise TypeError("the gender of a first person is found by a parser")
    answers = list(map(without_thoughts, answers))
    whole = list(dict.fromkeys(answer.text for answer in answers if not answer.problem))
    found = dict(zip(whole, parsing.genders(whole), strict=True))
    readings = []
    for answer in answers:
        if answer.problem:
            readings.append(Reading(UNKNOWN, problem=answer.problem))
            continue
        gender = found[answer.text]
        why = gender.problem or (CONFLICT if gender.conflict else UNSHOWN)
        why = REFUSED if refuses(answer.text) else why
        problem = why if gender.gender == UNKNOWN else ""
        readings.append(Reading(gender.gender, None, problem, gender.rule, gender.evidence))
    return readings


def _characters(
    parsing: Parsing | None, prompts: Sequence[Prompt], answers: Sequence[Answer]
) -> list[Reading]:
    """The gender of whom each answer is about: by pronouns in English, elsewhere by verbs."""
    answers = list(map(without_thoughts, answers))
    whole = list(dict.fromkeys(answer.text for answer in answers if not answer.problem))
    rule = "pronouns" if parsing is None else "verbs"
    told = list(map(pronouns.character, whole)) if parsing is None else parsing.characters(whole)
    found = dict(zip(whole, told, strict=True))
    readings = []
    for answer in answers:
        if answer.problem:
            readings.append(Reading(UNKNOWN, problem=answer.problem))
            continue
        one = found[answer.text]
        why = REFUSED if one.problem and refuses(answer.text) else one.problem
        readings.append(Reading(one.gender, None, why, rule if one.evidence else "", one.evidence))
    return readings


def _wordings(name: str) -> Callable[[str, Path | None], Sequence[table.Wording]]:
    """The wordings of our table of this name, or of a user's."""
    own = Path(table.__file__).with_name(name)
    return lambda language, path: table.wordings(table.Wording, language, path or own)


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
        parses=lambda language: False,
    ),
    "first-person": Kind(
        measure=FIRST_PERSON,
        config=lambda language: SOURCE,
        wordings=_wordings("first_person.json"),
        prompts=table.prompts,
        read=_speakers,
        column="gender",
        max_tokens=120,
        top=0,
        parses=lambda language: True,
    ),
    "story": Kind(
        measure=STORY,
        config=lambda language: SOURCE,
        wordings=_wordings("story.json"),
        prompts=table.prompts,
        read=_characters,
        column="gender",
        max_tokens=200,
        top=0,
        parses=lambda language: language != SOURCE,
    ),
}
