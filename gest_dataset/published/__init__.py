"""The papers' numbers, as data: one JSON file a table, each with its source and what to know of it.

standing  the GEST paper's models, on the ratio scale, and where a run stands among them

>>> from gest_dataset import published
>>> table = published.load("winobias")
>>> table["rows"][0]["pearson"]
0.95
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gest_dataset.errors import ConfigError

_DIRECTORY = Path(__file__).parent


def names() -> list[str]:
    """The tables that there are."""
    return sorted(path.stem for path in _DIRECTORY.glob("*.json"))


def load(name: str) -> dict[str, Any]:
    """One table: `source`, `note` and, but for the pair yields, `rows`."""
    if name not in names():
        raise ConfigError(f"There is no published table {name!r}; choose one of {', '.join(names())}.")
    table: dict[str, Any] = json.loads((_DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    return table
