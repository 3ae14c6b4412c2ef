"""Outputs: a file never takes an input's place, a directory belongs to one command with the same settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gest_dataset.errors import OutputError
from gest_dataset.files import LOCK, foreign
from gest_dataset.runs.reading import RUNNING, differences

_CHOOSE = "Choose another directory with --output"


def prepare(out: Path, manifest: str, settings: Mapping[str, Any], names: frozenset[str]) -> None:
    """Make a directory, or take one that the same settings have made; any other one is refused.

    `manifest` is the JSON file that holds the settings, `names` all files and folders of such a directory.
    One that says `running` has nothing to lose: what is translated and parsed is kept elsewhere.
    """
    others = foreign(out, {*names, LOCK})
    try:
        found = (
            json.loads((out / manifest).read_text(encoding="utf-8")) if (out / manifest).exists() else None
        )
        left = [path.name for path in sorted(out.iterdir()) if path.name in names]
    except OSError as error:
        raise OutputError(f"{out} cannot be used: {error}. {_CHOOSE}.") from error
    except ValueError as error:
        raise OutputError(
            f"{out / manifest} cannot be read: {error}. {_CHOOSE}, or remove that one."
        ) from error
    if others or (left and found is None):
        raise OutputError(f"{out} holds {(others or left)[0]}, which this command did not write. {_CHOOSE}.")
    if found is None:
        return
    before = found.get("settings") if isinstance(found, dict) else None
    if not isinstance(before, dict):
        raise OutputError(f"{out / manifest} has no settings, so this command did not write it. {_CHOOSE}.")
    if found.get("status") == RUNNING:
        return
    differing = differences(before, json.loads(json.dumps(settings)))
    if differing:
        listed = "\n".join(differing)
        raise OutputError(f"{out} was made with other settings:\n{listed}\n{_CHOOSE}, or remove that one.")


def check_file(out: Path, *inputs: Path) -> None:
    """A file to write is no folder, and none of those that are read: replacing one would lose it."""
    if out.is_dir():
        raise OutputError(f"{out} is a folder. Give the name of a file with --output.")
    if any(out.exists() and path.exists() and out.samefile(path) for path in inputs):
        raise OutputError(f"{out} is read, and would be lost. Choose another file with --output.")
