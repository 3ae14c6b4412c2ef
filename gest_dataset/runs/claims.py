"""Folders that belong to one piece of work: begun with some settings, gone on with by the same ones only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gest_dataset.errors import OutputError
from gest_dataset.runs.manifest import differences
from gest_dataset.storage import CHOOSE, check_folder, json_value, parse_json


def claim_same(
    record: Path,
    ours: Callable[[Path], bool] | Iterable[str],
    settings: Mapping[str, Any],
    command: str,
    what: str,
) -> dict[str, Any] | None:
    """Make the folder of a record, or take one whose record has the same `settings`: that record, or None.

    `ours` says which of its files the work may have made; a folder with any other one is refused.
    """
    out = record.parent
    check_folder(out, ours, what)
    if not record.exists():
        return None
    try:
        found: dict[str, Any] = parse_json(record.read_text(encoding="utf-8"))
        lines = differences(found["settings"], json_value(dict(settings)))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise OutputError(f"{record} is not of `{command}` ({error!r}). {CHOOSE}") from error
    if lines:
        listed = "\n".join(lines)
        raise OutputError(f"{out} was made with other settings:\n{listed}\n{CHOOSE}")
    return found
