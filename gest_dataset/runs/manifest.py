"""run.json: the description of a run, with the same entries for every kind of run (docs/runs.md)."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from huggingface_hub.dataclasses import type_validator

from gest_dataset.errors import DataError, OutputError
from gest_dataset.measures import MEASURES
from gest_dataset.storage import parse_json, read_bytes

FORMAT = 5
MANIFEST = "run.json"
RUNNING, DONE = "running", "done"
# The table of samples: of models, of translators, of chat models
SCORES, DETECTIONS, ANSWERS = "scores.parquet", "detections.parquet", "answers.parquet"
RESULT = "result.json"
_ADDED_AT_THE_END = ("signature", "metadata", "seconds", "finished", "files")
_LONG_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{4,}\b")


@dataclass(frozen=True)
class Manifest:
    """What a run measures and how; when it is done, also its metadata and the hashes of its files.

    `measure` is a name in `MEASURES`, `model` the model or translation system, `language` the language that
    was measured (empty if unknown), `table` the file of the samples.
    """

    measure: str
    model: str
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
    seconds: float | int = 0.0
    finished: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return self.status == DONE

    @property
    def about(self) -> str:
        """What was measured: a config, a config and the target language, or a chat probe and its language."""
        if self.table == ANSWERS:
            return f"{self.measure} ({self.language})"
        return f"{self.config} to {self.language}" if self.table == DETECTIONS else self.config

    def identity(self) -> dict[str, Any]:
        """The entries that two runs share if they are the same run."""
        names = ("measure", "model", "config", "language", "data_fingerprint")
        return {**{name: getattr(self, name) for name in names}, **self.settings}

    def to_dict(self) -> dict[str, Any]:
        """The content of run.json."""
        content = {"format": FORMAT, **asdict(self)}
        return {name: content[name] for name in content if self.done or name not in _ADDED_AT_THE_END}


def read_manifest(path: Path) -> Manifest:
    """The run.json of a folder, finished or not."""
    file = path / MANIFEST
    try:
        content = parse_json(read_bytes(file))
    except (FileNotFoundError, NotADirectoryError) as error:
        problem = f"has no {MANIFEST}" if path.is_dir() else "is not a directory"
        raise OutputError(
            f"{path} {problem}. Give the folder of a run, such as gest-runs/MODEL/CONFIG."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}. Run the same command again.") from error
    version = content.get("format") if isinstance(content, dict) else None
    if version != FORMAT:
        raise OutputError(
            f"{file} has format {version}, and this version reads {FORMAT}. Read it with the version that "
            f"wrote it, or run again in another directory."
        )
    try:
        names = {entry.name for entry in fields(Manifest)}
        manifest = Manifest(**{name: value for name, value in content.items() if name in names})
        for name, hint in get_type_hints(Manifest).items():
            type_validator(name, getattr(manifest, name), hint)
        allowed = {"measure": MEASURES, "table": (SCORES, DETECTIONS, ANSWERS), "status": (RUNNING, DONE)}
        for name, values in allowed.items():
            if getattr(manifest, name) not in values:
                raise ValueError(f"unknown {name} {getattr(manifest, name)!r}")
        if manifest.done and not {manifest.table, RESULT} <= manifest.files.keys():
            raise ValueError("`files` is incomplete")
    except (TypeError, ValueError) as error:
        raise OutputError(f"{file} was not written by `gest`: {error}.") from error
    return manifest


def differences(existing: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """One line for each entry in which two tables differ."""
    return [
        f"  {name}: {_shorten(existing.get(name))} (existing), {_shorten(new.get(name))} (new)"
        for name in dict.fromkeys([*existing, *new])
        if existing.get(name) != new.get(name)
    ]


def _shorten(value: Any) -> str:
    """An entry for a message; a long hash is cut."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{text[:12]}…" if re.fullmatch(r"[0-9a-f]{64}", text) else text


def signature(**parts: Any) -> str:
    """One line to report beside a number: what it was measured on and with; long hashes are cut.

    >>> signature(gest="en", data="8a9aca14711fd3b5e5a3d4f1b7a8c1d0", templates=[1, 3], limit=None)
    'gest:en|data:8a9aca14711f|templates:1+3'
    """
    texts = {
        name: _LONG_HASH.sub(r"\1", _joined(value)) for name, value in parts.items() if value is not None
    }
    return "|".join(f"{name}:{text}" for name, text in texts.items() if text)


def _joined(value: Any) -> str:
    if isinstance(value, Mapping):
        return "+".join(f"{name}={part}" for name, part in value.items())
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
