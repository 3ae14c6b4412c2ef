"""A computed number next to the printed one, and whether they agree to the last printed digit."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset import published
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import GestError

SCORES = "GEST_PAPER_SCORES"  # the folder of the authors' score files


class Unavailable(Exception):
    """A check lacks its data; the message is the reason."""


@dataclass(frozen=True)
class Pair:
    """A computed number and the printed text; `why` explains a known difference."""

    label: str
    computed: float
    printed: str
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the computed number rounds to the printed one; a half may be rounded either way.

        >>> Pair("", 0.87281, "0.87").agrees, Pair("", 0.125, "0.13").agrees, Pair("", 0.126, "0.12").agrees
        (True, True, False)
        """
        mantissa, _, exponent = self.printed.lower().partition("e")
        digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
        return abs(self.difference) <= 0.5 * 10.0**-digits * (1 + 1e-9)

    @property
    def difference(self) -> float:
        return self.computed - float(self.printed)


# A check takes the folder of the authors' score files, or None
Checks = Mapping[str, Callable[[Path | None], list[Pair]]]


def score_folder() -> Path | None:
    """The folder of the authors' score files that the environment names, if it exists."""
    path = os.environ.get(SCORES)
    return Path(path) if path and Path(path).is_dir() else None


def required(scores: Path | None) -> Path:
    """The folder of the authors' score files."""
    if scores is None:
        raise Unavailable(f"the authors' score files are missing (--scores FOLDER, or {SCORES})")
    return scores


def load_rows(config: str) -> Any:
    """The rows of a config."""
    try:
        return rows_of(config)
    except GestError as error:
        raise Unavailable(f"the data of {config} are missing: {str(error).splitlines()[0]}") from error


def published_rows(name: str) -> list[dict[str, Any]]:
    """The rows of a published table."""
    rows: list[dict[str, Any]] = published.load(name)["rows"]
    return rows


def printed_numbers(name: str) -> dict[str, Any]:
    """Numbers that the papers print outside of the published tables."""
    content = json.loads(Path(__file__).with_name("numbers.json").read_text(encoding="utf-8"))
    values: dict[str, Any] = content[name]["values"]
    return values
