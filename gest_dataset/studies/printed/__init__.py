"""What of the papers' tables and figures can be computed from released data, and compared with the print.

A check is a function of the folder of the authors' score files (None where it is not at hand) that returns
pairs of our number and the printed one, or raises `Lacking` with the reason. `CHECKS` has them by name;
`studies/papers.json` says which table or figure each is of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gest_dataset.studies.printed import gest_data, gest_scores, stereoset, word_filling
from gest_dataset.studies.printed.pair import Lacking, Pair

CHECKS: Mapping[str, Callable[[Path | None], list[Pair]]] = {
    **gest_data.CHECKS,
    **gest_scores.CHECKS,
    **stereoset.CHECKS,
    **word_filling.CHECKS,
}

__all__ = ["CHECKS", "Lacking", "Pair"]
