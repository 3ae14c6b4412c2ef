"""The probes for chat models: the prompts of a row, the reading of answers, and the measure."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from gest_dataset.builders import added_name
from gest_dataset.gender.detect import GenderDetector
from gest_dataset.languages import SOURCE
from gest_dataset.measures.gest import CHOICE, FIRST_PERSON, STORY
from gest_dataset.measures.measure import Measure
from gest_dataset.measures.stereoset import CONTROL_CHOICE
from gest_dataset.probes import choice, prompts, pronouns
from gest_dataset.probes.prompts import REFUSED, Answer, Prompt, Reading, is_refusal, without_thoughts
from gest_dataset.statistics.masculine_rate import UNKNOWN

UNSHOWN, CONFLICT = "no gender shows", "rules disagree"
# What the checks of translations report, and what that means for an answer
_PROBLEMS = dict.fromkeys(
    ("not translated: English", "not translated: no Cyrillic letter"), "not in this language"
)
# The types of columns that are not text
_TYPES = {
    **dict.fromkeys(("repeat", "stereotype", "tokens_in", "tokens_out", "position"), pa.int32()),
    "evidence": pa.list_(pa.string()),
    "shares": pa.map_(pa.string(), pa.float64()),
    "top": pa.list_(pa.struct([("token", pa.string()), ("log_probability", pa.float64())])),
}
Readings = list[Reading]


@dataclass(frozen=True)
class ChatProbe:
    """A probe for chat models; `column` is the column of its readings.

    Answers have up to `max_tokens`; `top` is the number of likeliest first tokens to return. All answers are
    read at once, so that a parser runs once; `needs_parser` says for which languages there is one.
    """

    measure: Measure
    read_wordings: Callable[[str, Path | None], Sequence[Any]]
    read: Callable[[GenderDetector | None, Sequence[Prompt], Sequence[Answer]], Readings]
    max_tokens: int
    needs_parser: Callable[[str], bool]
    config: Callable[[str], str] = lambda language: SOURCE
    make_prompts: Callable[[Mapping[str, Any], Any, int], Iterator[Prompt]] = prompts.make_prompts
    column: str = "gender"
    top: int = 0

    def make_table(
        self,
        detector: GenderDetector | None,
        prompts: Sequence[Prompt],
        answers: Sequence[Answer],
        stereotypes: Sequence[int | None],
    ) -> pa.Table:
        """A row for each prompt with the unchanged answer and its reading."""
        readings = self.read(detector, prompts, answers)
        rows = [
            {
                "id": prompt.id,
                "variant": prompt.variant,
                "repeat": prompt.repeat,
                "stereotype": stereotype,
                "prompt": prompt.text,
                "answer": answer.text,
                "thoughts": answer.thoughts,
                "withheld": answer.problem,
                "tokens_in": answer.tokens_in,
                "tokens_out": answer.tokens_out,
                self.column: reading.value,
                "position": reading.position,
                "rule": reading.rule,
                "evidence": list(reading.evidence),
                "problem": reading.problem,
                "shares": list(reading.shares.items()),
                "top": answer.top,
            }
            for prompt, answer, stereotype, reading in zip(
                prompts, answers, stereotypes, readings, strict=True
            )
        ]
        schema = pa.schema([(name, _TYPES.get(name, pa.string())) for name in rows[0]])
        return pa.Table.from_pylist(rows, schema)


def wordings_id(wordings: Sequence[Any]) -> str:
    """The names of the wordings and a hash of their content."""
    text = json.dumps([asdict(wording) for wording in wordings], ensure_ascii=False, sort_keys=True)
    names = "+".join(dict.fromkeys(wording.name for wording in wordings))
    return f"{names}#{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _read_genders(
    detect: Callable[[GenderDetector | None, Sequence[str]], Readings],
    detector: GenderDetector | None,
    prompts: Sequence[Prompt],
    answers: Sequence[Answer],
) -> Readings:
    """The gender in each answer; each distinct text is read once."""
    answers = [without_thoughts(answer) for answer in answers]
    texts = list(dict.fromkeys(answer.text for answer in answers if not answer.problem))
    by_text = dict(zip(texts, detect(detector, texts), strict=True))
    return [
        Reading(UNKNOWN, problem=answer.problem) if answer.problem else by_text[answer.text]
        for answer in answers
    ]


def _first_persons(detector: GenderDetector | None, texts: Sequence[str]) -> Readings:
    assert detector is not None
    readings = []
    for text, found in zip(texts, detector.genders(texts), strict=True):
        problem = found.problem or (CONFLICT if found.conflict else UNSHOWN)
        problem = problem if found.gender == UNKNOWN else ""
        readings.append(_reading(text, found.gender, problem, found.rule, found.evidence))
    return readings


def _characters(detector: GenderDetector | None, texts: Sequence[str]) -> Readings:
    """The gender of the character of each text: by pronouns in English, by verbs in Slavic languages."""
    rule = "verbs" if detector else "pronouns"
    characters = detector.characters(texts) if detector else [pronouns.character(text) for text in texts]
    return [
        _reading(text, one.value, one.problem, rule if one.evidence else "", one.evidence)
        for text, one in zip(texts, characters, strict=True)
    ]


def _reading(text: str, gender: str, problem: str, rule: str, evidence: tuple[str, ...]) -> Reading:
    problem = REFUSED if problem and is_refusal(text) else _PROBLEMS.get(problem, problem)
    return Reading(gender, None, problem, rule, evidence)


CHAT_PROBES: dict[str, ChatProbe] = {
    "choice": ChatProbe(
        measure=CHOICE,
        read_wordings=partial(prompts.read_wordings, choice.Wording, "choices.json"),
        read=lambda _, prompts, answers: list(map(choice.read, prompts, answers)),
        max_tokens=16,
        needs_parser=lambda language: False,
        config=lambda language: SOURCE if language == SOURCE else added_name(f"{language}_pairs"),
        make_prompts=choice.make_prompts,
        column="option",
        top=20,
    ),
    "first-person": ChatProbe(
        measure=FIRST_PERSON,
        read_wordings=partial(prompts.read_wordings, prompts.Wording, "first_person.json"),
        read=partial(_read_genders, _first_persons),
        max_tokens=120,
        needs_parser=lambda language: True,
    ),
    "story": ChatProbe(
        measure=STORY,
        read_wordings=partial(prompts.read_wordings, prompts.Wording, "story.json"),
        read=partial(_read_genders, _characters),
        max_tokens=200,
        needs_parser=lambda language: language != SOURCE,
    ),
}
CHAT_PROBES["controls"] = replace(
    CHAT_PROBES["choice"],
    measure=CONTROL_CHOICE,
    read_wordings=partial(prompts.read_wordings, choice.PairWording, "controls.json"),
    config=lambda language: {"sk": "slovak_gender"}.get(language, "stereoset_control_gender"),
    make_prompts=choice.make_control_prompts,
)
