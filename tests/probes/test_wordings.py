"""The tables of wordings: what stands in ours, and what is wrong with one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gest_dataset.errors import SettingError
from gest_dataset.languages import SLAVIC
from gest_dataset.models.chat.kinds import KINDS
from gest_dataset.probes.wordings import Wording, prompts, wordings

ROW = {"id": "x", "sentence": "I never cry."}


@pytest.mark.parametrize("language", [*SLAVIC, "bg"])
def test_two_ways_to_write_in_the_first_person_in_ten_languages(language: str) -> None:
    asked = [p for w in KINDS["first-person"].wordings(language, None) for p in prompts(ROW, w, 2)]
    assert [(p.variant, p.repeat) for p in asked] == [
        ("continued", 0),
        ("continued", 1),
        ("diary", 0),
        ("diary", 1),
    ]
    assert all('"I never cry."' in p.text and "{" not in p.text for p in asked)


def test_stories_are_asked_for_without_a_gender() -> None:
    """No pronoun of the prompt suggests one."""
    from gest_dataset.probes.pronouns import NO_PRONOUN, character

    (wording,) = KINDS["story"].wordings("en", None)
    (asked,) = prompts(ROW, wording)
    assert character(asked.text.replace('"I never cry."', "")).problem == NO_PRONOUN


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"text": "Write on."}, r"lacks \{sentence\} in its text"),
        ({"text": "", "name": ""}, r"lacks name, text, \{sentence\}"),
        ({"language": "de"}, "no question in 'sk' in prompts.json, only in de"),
        ({"male": "Men"}, "cannot be read"),
    ],
)
def test_a_table_of_ones_own_with_something_missing(
    entry: dict[str, str], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "prompts.json"
    path.write_text(json.dumps([{"name": "x", "language": "sk", "text": "{sentence}", **entry}]))
    with pytest.raises(SettingError, match=message):
        wordings(Wording, "sk", path)
