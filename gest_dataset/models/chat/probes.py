"""The probes for chat models: the prompts of a row, the reading of answers, and the measure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gest_dataset.gender.detect import GenderDetector
from gest_dataset.languages import SOURCE
from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.generated_gender import FIRST_PERSON, STORY
from gest_dataset.measures.measure import Measure
from gest_dataset.probes import choice, prompts, pronouns
from gest_dataset.probes.prompts import REFUSED, Answer, Prompt, Wording, is_refusal, without_thoughts
from gest_dataset.statistics.masculine_rate import UNKNOWN

UNSHOWN, CONFLICT = "no gender shows", "rules disagree"
# What the checks of translations report, and what that means for an answer
_PROBLEMS = dict.fromkeys(
    ("not translated: English", "not translated: no Cyrillic letter"), "not in this language"
)


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


@dataclass(frozen=True)
class ChatProbe:
    """A probe for chat models; `column` is the column of its readings.

    Answers have up to `max_tokens`; `top` is the number of likeliest first tokens to return. All answers are
    read at once, so that a parser runs once; `needs_parser` says for which languages there is one.
    """

    measure: Measure
    config: Callable[[str], str]
    read_wordings: Callable[[str, Path | None], Sequence[Any]]
    make_prompts: Callable[[Mapping[str, Any], Any, int], Iterator[Prompt]]
    read: Callable[[GenderDetector | None, Sequence[Prompt], Sequence[Answer]], Sequence[Reading]]
    column: str
    max_tokens: int
    top: int
    needs_parser: Callable[[str], bool]


def wordings_id(wordings: Sequence[Any]) -> str:
    """The names of the wordings and a hash of their content."""
    text = json.dumps([asdict(wording) for wording in wordings], ensure_ascii=False, sort_keys=True)
    names = "+".join(dict.fromkeys(wording.name for wording in wordings))
    return f"{names}#{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _read_choices(
    detector: GenderDetector | None, prompts: Sequence[Prompt], answers: Sequence[Answer]
) -> list[Reading]:
    readings = []
    for prompt, answer in zip(prompts, answers, strict=True):
        chosen = choice.parse_choice(prompt, without_thoughts(answer))
        shares = choice.letter_shares(prompt, answer)
        readings.append(Reading(chosen.option, chosen.position, chosen.problem, shares=shares))
    return readings


def _read_genders(
    detect: Callable[[GenderDetector | None, Sequence[str]], Sequence[Reading]],
    detector: GenderDetector | None,
    prompts: Sequence[Prompt],
    answers: Sequence[Answer],
) -> list[Reading]:
    """The gender in each answer; each distinct text is read once."""
    answers = [without_thoughts(answer) for answer in answers]
    texts = list(dict.fromkeys(answer.text for answer in answers if not answer.problem))
    by_text = dict(zip(texts, detect(detector, texts), strict=True))
    return [
        Reading(UNKNOWN, problem=answer.problem) if answer.problem else by_text[answer.text]
        for answer in answers
    ]


def _first_persons(detector: GenderDetector | None, texts: Sequence[str]) -> list[Reading]:
    assert detector is not None
    readings = []
    for text, found in zip(texts, detector.genders(texts), strict=True):
        problem = _PROBLEMS.get(found.problem, found.problem) or (CONFLICT if found.conflict else UNSHOWN)
        problem = REFUSED if is_refusal(text) else problem
        problem = problem if found.gender == UNKNOWN else ""
        readings.append(Reading(found.gender, None, problem, found.rule, found.evidence))
    return readings


def _characters(detector: GenderDetector | None, texts: Sequence[str]) -> list[Reading]:
    """The gender of the character of each text: by pronouns in English, by verbs in Slavic languages."""
    rule = "verbs" if detector else "pronouns"
    found = detector.characters(texts) if detector else [pronouns.character(text) for text in texts]
    readings = []
    for text, character in zip(texts, found, strict=True):
        problem = _PROBLEMS.get(character.problem, character.problem)
        problem = REFUSED if problem and is_refusal(text) else problem
        evidence = character.evidence
        readings.append(Reading(character.gender, None, problem, rule if evidence else "", evidence))
    return readings


def _wordings(file: str) -> Callable[[str, Path | None], Sequence[Wording]]:
    table = Path(prompts.__file__).with_name(file)
    return lambda language, path: prompts.read_wordings(Wording, language, path or table)


CHAT_PROBES: dict[str, ChatProbe] = {
    "choice": ChatProbe(
        measure=CHOICE,
        config=lambda language: SOURCE if language == SOURCE else f"{language}_pairs",
        read_wordings=choice.read_wordings,
        make_prompts=choice.make_prompts,
        read=_read_choices,
        column="option",
        max_tokens=16,
        top=20,
        needs_parser=lambda language: False,
    ),
    "first-person": ChatProbe(
        measure=FIRST_PERSON,
        config=lambda language: SOURCE,
        read_wordings=_wordings("first_person.json"),
        make_prompts=prompts.make_prompts,
        read=partial(_read_genders, _first_persons),
        column="gender",
        max_tokens=120,
        top=0,
        needs_parser=lambda language: True,
    ),
    "story": ChatProbe(
        measure=STORY,
        config=lambda language: SOURCE,
        read_wordings=_wordings("story.json"),
        make_prompts=prompts.make_prompts,
        read=partial(_read_genders, _characters),
        column="gender",
        max_tokens=200,
        top=0,
        needs_parser=lambda language: language != SOURCE,
    ),
}
