"""How probes in words put their questions: JSON tables, ours or a user's, that a speaker can correct."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from gest_dataset.errors import SettingError
from gest_dataset.probes.prompt import Prompt
from gest_dataset.storage import parse_json

SENTENCE = "{sentence}"
_NEEDED = ("language", "name", "text")


@dataclass(frozen=True)
class Wording:
    """What is said to a model about a sentence, which takes the place of `{sentence}`."""

    name: str
    language: str
    text: str

    def about(self, row: Mapping[str, Any]) -> str:
        """The text about a row."""
        return self.text.replace(SENTENCE, str(row.get("sentence", "")))

    @property
    def quotes(self) -> bool:
        """Whether it is about a sentence, which its text has to have a place for."""
        return True

    def lacking(self) -> list[str]:
        """What has to be there, and is not."""
        gone = [name for name in _NEEDED if not getattr(self, name)]
        return [*gone, f"{SENTENCE} in its text"] if self.quotes and SENTENCE not in self.text else gone


Put = TypeVar("Put", bound=Wording)


def wordings(kind: type[Put], language: str, path: Path) -> tuple[Put, ...]:
    """The wordings of a table in a language."""
    table = _read(kind, path)
    found = tuple(wording for wording in table if wording.language == language)
    if not found:
        there = ", ".join(dict.fromkeys(wording.language for wording in table))
        raise SettingError(
            f"There is no question in {language!r} in {path.name}, only in {there}. Write one into a table "
            f"like it (a JSON list of name, language and text), and give it with --prompts."
        )
    return found


def _read(kind: type[Put], path: Path) -> tuple[Put, ...]:
    try:
        entries = parse_json(path.read_text(encoding="utf-8"))
        table = tuple(kind(**entry) for entry in entries)
    except (OSError, ValueError, TypeError) as error:
        raise SettingError(f"The prompts in {path} cannot be read: {error}") from error
    for wording in table:
        if lacking := wording.lacking():
            told = json.dumps(asdict(wording), ensure_ascii=False)
            raise SettingError(f"A prompt in {path} lacks {', '.join(lacking)}: {told}")
    return table


def prompts(row: Mapping[str, Any], wording: Wording, repeats: int = 1) -> Iterator[Prompt]:
    """The wording about a row, so many times; a variant is its name."""
    for repeat in range(repeats):
        yield Prompt(row["id"], wording.name, wording.about(row), repeat)
