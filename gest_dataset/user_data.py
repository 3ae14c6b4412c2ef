"""Languages and configs that a user added: one folder each, with its metadata in a JSON file.

`GEST_HOME` names the parent folder; the default is `$HF_HOME/gest/added`. It is not a cache: deleted files
cannot be recovered.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from huggingface_hub import constants

from gest_dataset.errors import OutputError
from gest_dataset.storage import folder_lock

HOME_VARIABLE = "GEST_HOME"
METADATA = "facts.json"
_T = TypeVar("_T")
logger = logging.getLogger(__name__)


def user_data_folder() -> Path:
    """The folder of everything that the user added."""
    named = os.environ.get(HOME_VARIABLE)
    return Path(named).expanduser() if named else Path(constants.HF_HOME) / "gest" / "added"


def read_all(kind: str, parse: Callable[[Path, dict[str, Any]], _T]) -> tuple[dict[str, _T], dict[str, str]]:
    """Parse the metadata of everything of one kind, by name; also the errors of what is damaged.

    Each damaged entry is reported in a warning and does not affect the others.
    """
    entries: dict[str, _T] = {}
    damaged: dict[str, str] = {}
    for folder in sorted((user_data_folder() / kind).glob("[!.]*/")):
        try:
            entries[folder.name] = parse(folder, read_metadata(folder))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            path = folder / METADATA
            damaged[folder.name] = (
                f"{path} is damaged ({error}). Add {folder.name} again, or remove {folder}."
            )
            logger.warning("%s cannot be used: %s", folder.name, damaged[folder.name])
    return entries, damaged


def read_metadata(folder: Path) -> dict[str, Any]:
    """The metadata of one entry."""
    metadata: dict[str, Any] = json.loads((folder / METADATA).read_bytes())
    return metadata


def remove(kind: str, name: str) -> None:
    """Remove an entry."""
    folder = user_data_folder() / kind / name
    try:
        with folder_lock(user_data_folder()):
            shutil.rmtree(folder)
    except OSError as error:
        raise OutputError(f"{folder} cannot be removed: {error}.") from error
