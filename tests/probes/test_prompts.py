"""Tables of wordings: what ours contain, and errors in a user's. Thoughts of reasoning models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gest_dataset.errors import SettingError
from gest_dataset.languages import SLAVIC
from gest_dataset.models.chat.probes import CHAT_PROBES
from gest_dataset.probes.prompts import (
    CUT,
    FILTERED,
    Answer,
    Wording,
    make_prompts,
    read_wordings,
    without_thoughts,
)
from gest_dataset.probes.pronouns import NO_PRONOUN, character

ROW = {"id": "x", "sentence": "I never cry."}


@pytest.mark.parametrize("language", [*SLAVIC, "bg"])
def test_two_first_person_wordings_in_each_language(language: str) -> None:
    wordings = CHAT_PROBES["first-person"].read_wordings(language, None)
    prompts = [prompt for wording in wordings for prompt in make_prompts(ROW, wording, 2)]
    assert [(p.variant, p.repeat) for p in prompts] == [
        ("continued", 0),
        ("continued", 1),
        ("diary", 0),
        ("diary", 1),
    ]
    assert all('"I never cry."' in p.text and "{" not in p.text for p in prompts)


def test_the_story_prompt_suggests_no_gender() -> None:
    (wording,) = CHAT_PROBES["story"].read_wordings("en", None)
    (prompt,) = make_prompts(ROW, wording)
    assert character(prompt.text.replace('"I never cry."', "")).problem == NO_PRONOUN


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"text": "Write on."}, r"lacks \{sentence\} in its text"),
        ({"language": "de"}, "prompts in de, but not in 'sk'"),
        ({"male": "Men"}, "cannot be read"),
    ],
)
def test_invalid_tables(entry: dict[str, str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "prompts.json"
    path.write_text(json.dumps([{"name": "x", "language": "sk", "text": "{sentence}", **entry}]))
    with pytest.raises(SettingError, match=message):
        read_wordings(Wording, "", "sk", path)


@pytest.mark.parametrize(
    ("answer", "text", "problem"),
    [
        ("<think>\n(a)? No.\n</think>\n\n(b)", "(b)", ""),
        ("(a)? No.\n</think>\n(b)", "(b)", ""),  # the first tag was in the prompt
        ("<THINK>(a)", "", CUT),
        ("<think>(a)</think> ", "", CUT),
        ("I think (b)", "I think (b)", ""),
    ],
)
def test_thoughts(answer: str, text: str, problem: str) -> None:
    left = without_thoughts(Answer(answer, 1, 2))
    assert (left.text, left.problem, left.tokens_out) == (text, problem, 2)
    assert without_thoughts(Answer(answer, 1, 2, FILTERED)).problem == FILTERED
