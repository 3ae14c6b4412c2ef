"""run.json: what a run says of itself, the same entries for every kind of run (docs/runs.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from huggingface_hub.dataclasses import type_validator

from gest_dataset.errors import DataError, OutputError
from gest_dataset.measures import MEASURES
from gest_dataset.storage import parse_json

FORMAT = 4
MANIFEST = "run.json"
RUNNING, DONE = "running", "done"
# The files that samples are in: of models, of translators, and of what models said in words
SCORES, DETECTIONS, ANSWERS = "scores.parquet", "detections.parquet", "answers.parquet"
RESULT = "result.json"
_AT_THE_END = ("signature", "metadata", "seconds", "finished", "files")
_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{4,}\b")


@dataclass(frozen=True)
class Manifest:
    """What a run is of, what it was made with, and, when it is done, what is known at the end.

    `measure` is a name in `MEASURES`, `subject` the model or translator as it is named, `config` what
    it was asked, `language` the one that was measured (empty where there is none to tell). Two runs
    are the same one where these, the data and the `settings` agree. `table` is the file of the samples,
    `files` are the run's files with their SHA-256.
    """

    measure: str
    subject: str
    config: str
    language: str
    data_fingerprint: str
    table: str
    command: list[str]
    settings: dict[str, Any]
    versions: dict[str, str]
    machine: dict[str, Any]
    seeds: dict[str, int]
    started: str
    status: str = RUNNING
    signature: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    finished: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return self.status == DONE

    @property
    def about(self) -> str:
        """What was measured: the config and the language that it was translated to; a probe in words."""
        if self.table == ANSWERS:
            return f"{self.measure} ({self.language})"
        return f"{self.config} to {self.language}" if self.table == DETECTIONS else self.config

    def identity(self) -> dict[str, Any]:
        """All that has to agree for two runs to be the same one."""
        names = ("measure", "subject", "config", "language", "data_fingerprint")
        return {**{name: getattr(self, name) for name in names}, **self.settings}

    def to_json(self) -> dict[str, Any]:
        """What run.json holds."""
        told = {"format": FORMAT, **asdict(self)}
        return told if self.done else {name: told[name] for name in told if name not in _AT_THE_END}


def read_manifest(path: Path) -> Manifest:
    """The run.json of a folder, finished or not; an error says what is wrong with it."""
    file = path / MANIFEST
    try:
        told = parse_json(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        what = f"holds no {MANIFEST}" if path.is_dir() else "is no directory"
        raise OutputError(
            f"{path} {what}, so it is no run. Give a directory that `gest score --output` has written."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}. Remove the directory and run again.") from error
    if not isinstance(told, dict) or not isinstance(told.get("format"), int):
        raise OutputError(f"{file} is not of `gest`: it says no format.")
    if told["format"] != FORMAT:
        age = "an older" if told["format"] < FORMAT else "a newer"
        versions = told.get("versions")
        by = versions.get("gest_dataset", "?") if isinstance(versions, dict) else "?"
        raise OutputError(
            f"The run in {path} is of {age} format ({told['format']}, written by gest-dataset {by}; "
            f"this version reads {FORMAT}). Read it with that version, or run again into another directory."
        )
    wrong = _wrong(told)
    if wrong:
        raise OutputError(f"{file} is not of `gest`: {'; '.join(wrong)}.")
    return Manifest(**{entry.name: told[entry.name] for entry in fields(Manifest) if entry.name in told})


def _wrong(told: Mapping[str, Any]) -> list[str]:
    """What is wrong with the entries of a run.json."""
    hints = get_type_hints(Manifest)
    done = told.get("status") == DONE
    needed = [name for name in hints if done or name not in _AT_THE_END]
    missing = [name for name in needed if name not in told]
    wrong = [f"it has no {', '.join(missing)}"] if missing else []
    for name, hint in hints.items():
        if name in told and not _fits(told[name], hint):
            kind = getattr(hint, "__name__", "?") if get_origin(hint) is None else str(hint)
            wrong.append(f"`{name}` is {shown(told[name])}, not of type {kind}")
    if wrong:
        return wrong
    for name, offered in (
        ("measure", tuple(MEASURES)),
        ("table", (SCORES, DETECTIONS, ANSWERS)),
        ("status", (RUNNING, DONE)),
    ):
        if told[name] not in offered:
            wrong.append(f"there is no {name} {told[name]!r}, only {', '.join(offered)}")
    if done:
        wrong += [
            f"`files` says nothing of {name}" for name in (told["table"], RESULT) if name not in told["files"]
        ]
    return wrong


def _fits(value: Any, hint: Any) -> bool:
    if type(value) is int and float in (hint, *get_args(hint)):
        return True  # JSON writes 3.0 as 3 where other tools wrote the file
    try:
        type_validator("", value, hint)
    except TypeError:
        return False
    return True


def differences(there: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """A line for each entry of two tables that is not the same."""
    return [
        f"  {name}: {shown(there.get(name))} there, {shown(now.get(name))} now"
        for name in dict.fromkeys([*there, *now])
        if there.get(name) != now.get(name)
    ]


def shown(value: Any) -> str:
    """An entry as a message says it."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    is_hash = len(text) == 64 and set(text) <= set("0123456789abcdef")
    return f"{text[:12]}…" if is_hash else text


def signature(**parts: Any) -> str:
    """One line to print beside a number: what it was measured on and with; long hashes are cut.

    >>> signature(gest="en", data="8a9aca14711fd3b5e5a3d4f1b7a8c1d0", templates=[1, 3], limit=None)
    'gest:en|data:8a9aca14711f|templates:1+3'
    """
    told = {name: _HASH.sub(r"\1", _joined(value)) for name, value in parts.items() if value is not None}
    return "|".join(f"{name}:{text}" for name, text in told.items() if text)


def _joined(value: Any) -> str:
    if isinstance(value, Mapping):
        return "+".join(f"{name}={part}" for name, part in value.items())
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
