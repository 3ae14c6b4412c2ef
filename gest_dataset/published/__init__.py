"""The papers' numbers as data: one JSON file per table, with its source and notes.

>>> from gest_dataset import published
>>> table = published.load("winobias")
>>> table["rows"][0]["pearson"]
0.95
"""

import json
from pathlib import Path
from typing import Any

from gest_dataset.errors import ConfigError

_DIRECTORY = Path(__file__).parent


def names() -> list[str]:
    """The names of all tables."""
    return sorted(path.stem for path in _DIRECTORY.glob("*.json"))


def load(name: str) -> dict[str, Any]:
    """One table, with `source`, `note` and `rows`."""
    if name not in names():
        raise ConfigError(f"There is no published table {name!r}; choose one of {', '.join(names())}.")
    table: dict[str, Any] = json.loads((_DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    return table
