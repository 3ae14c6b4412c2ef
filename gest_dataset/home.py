"""What a user has added, languages and configs: a folder each, with its facts in one JSON file.

`GEST_HOME` names the place, else it is `$HF_HOME/gest/added`, beside the caches of this package. It is no
cache: what is removed there is gone.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gest_dataset.errors import DataError, OutputError
from gest_dataset.storage import folder_lock

HOME_VARIABLE = "GEST_HOME"
FACTS = "facts.json"
_T = TypeVar("_T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Facts:
    """A JSON object of somebody else; what it lacks, or has of another kind, is a DataError."""

    path: Path
    values: Mapping[str, Any]

    def text(self, name: str) -> str:
        return str(self._of(name, str, "a text"))

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._of(name, list, "a list of texts")
        if not all(isinstance(value, str) for value in values):
            raise self.broken(f"{name!r} is {values!r}, not a list of texts")
        return tuple(values)

    def number(self, name: str) -> int:
        value: int = self._of(name, int, "a number")
        if isinstance(value, bool) or value < 0:
            raise self.broken(f"{name!r} is {value!r}, not a number from 0")
        return value

    def inner(self, name: str) -> Facts:
        return Facts(self.path, self._of(name, dict, "an object"))

    def broken(self, reason: str) -> DataError:
        return DataError(f"{self.path} is not as it was written: {reason}.")

    def _of(self, name: str, kind: type, wanted: str) -> Any:
        value = self.values.get(name)
        if not isinstance(value, kind):
            raise self.broken(
                f"{name!r} is {value!r}, not {wanted}" if name in self.values else f"no {name!r}"
            )
        return value


def home() -> Path:
    """The folder of what is added."""
    named = os.environ.get(HOME_VARIABLE)
    if named:
        return Path(named).expanduser()
    from huggingface_hub.constants import HF_HOME

    return Path(HF_HOME) / "gest" / "added"


def added(kind: str, make: Callable[[str, Facts], _T]) -> tuple[dict[str, _T], dict[str, str]]:
    """All that is added of a kind, by name, and why others that are there cannot be used.

    What is damaged is no hindrance to the rest: a warning names it.
    """
    found: dict[str, _T] = {}
    damaged: dict[str, str] = {}
    for folder in _folders(home() / kind):
        try:
            found[folder.name] = make(folder.name, read_facts(folder / FACTS))
        except DataError as error:
            damaged[folder.name] = f"{error} Add {folder.name} again, or remove {folder}."
            logger.warning("%s cannot be used: %s", folder.name, damaged[folder.name])
    return found, damaged


def _folders(parent: Path) -> list[Path]:
    """The folders there, by name; hidden files are of the system."""
    try:
        return sorted(path for path in parent.iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as error:
        logger.warning("What is added in %s cannot be read: %s", parent, error.strerror)
        return []


def read_facts(path: Path) -> Facts:
    """The facts of one that was added."""
    try:
        values = json.loads(path.read_bytes())
        json.dumps(values, ensure_ascii=False).encode()  # half of a surrogate pair is no letter
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is no JSON ({error}).") from error
    if not isinstance(values, dict):
        raise DataError(f"{path} is no JSON object.")
    return Facts(path, values)


def remove(kind: str, name: str) -> None:
    """Take away what was added under a name."""
    folder = home() / kind / name
    try:
        with folder_lock(home()):
            shutil.rmtree(folder)
    except OSError as error:
        raise OutputError(f"{folder} cannot be removed: {error}.") from error
