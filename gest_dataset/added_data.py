"""Languages and configs that a user added: one folder each, with its metadata in a JSON file.

`GEST_HOME` names the parent folder; the default is `$HF_HOME/gest/added`. It is not a cache: deleted files
cannot be recovered.
"""

import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from huggingface_hub import constants

from gest_dataset.storage import folder_lock, parse_json, read_bytes, write_json

METADATA = "facts.json"
_T = TypeVar("_T")
logger = logging.getLogger(__name__)


def gest_home() -> Path:
    """The folder of everything that the user added."""
    default = Path(constants.HF_HOME) / "gest" / "added"
    return Path(os.environ.get("GEST_HOME") or default).expanduser()


def read_all(kind: str, parse: Callable[[Path, dict[str, Any]], _T]) -> tuple[dict[str, _T], dict[str, str]]:
    """The parsed metadata of all entries of one kind, and the errors of damaged entries, by name.

    Each damaged entry is reported in a warning and does not affect the others.
    """
    entries: dict[str, _T] = {}
    damaged: dict[str, str] = {}
    for folder in sorted((gest_home() / kind).glob("[!.]*/")):
        name, path = folder.name, folder / METADATA
        try:
            entries[name] = parse(folder, parse_json(read_bytes(path)))
        except Exception as error:
            damaged[name] = f"{path} is damaged ({error}). Add {name} again, or remove {folder}."
            logger.warning("%s cannot be used: %s", name, damaged[name])
    return entries, damaged


def write(kind: str, name: str, metadata: dict[str, Any]) -> None:
    """Store the metadata of an entry."""
    with folder_lock(gest_home()):
        write_json(gest_home() / kind / name / METADATA, metadata)


def remove(kind: str, name: str) -> None:
    """Remove an entry."""
    with folder_lock(gest_home()):
        shutil.rmtree(gest_home() / kind / name)
