"""A number of ours beside the printed one, and whether the two are the same to the last printed digit."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SCORES = "GEST_PAPER_SCORES"  # names the folder of the authors' score files


class Lacking(Exception):
    """Why a check cannot be made here."""


@dataclass(frozen=True)
class Pair:
    """`ours` beside `printed`, a text with the digits of print; `why` explains a known difference."""

    what: str
    ours: float
    printed: str
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Whether ours, rounded to the printed digits, is what is printed; a half may go either way.

        >>> Pair("", 0.87281, "0.87").agrees, Pair("", 0.125, "0.13").agrees, Pair("", 0.126, "0.12").agrees
        (True, True, False)
        """
        mantissa, _, exponent = self.printed.lower().partition("e")
        digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
        return abs(self.difference) <= 0.5 * 10.0**-digits * (1 + 1e-9)

    @property
    def difference(self) -> float:
        return self.ours - float(self.printed)


def score_folder() -> Path | None:
    """The folder of the authors' score files that the environment names, if it does."""
    named = os.environ.get(SCORES)
    return Path(named) if named and Path(named).is_dir() else None


def needed(scores: Path | None) -> Path:
    """The folder of the authors' score files."""
    if scores is None:
        raise Lacking(f"the authors' score files are not at hand (--scores FOLDER, or {SCORES})")
    return scores
