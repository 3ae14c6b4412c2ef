"""Profiles: the 16 stereotypes of several runs, each run relative to its own middle, and how alike they are.

    of models        mean over templates of  ln q_i - (ln q_f + ln q_m) / 2
    of translators   p_i - f_m

Only what a rate is beside the others of its run means something (section 4.2.1 of Pikuliak et al., 2024). Two
runs are as alike as their profiles correlate (Pearson, over 16 stereotypes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

from gest_dataset.measures.measure import Result
from gest_dataset.report.measured import Measured, language_name, short
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import json_value

# Of 16 pairs: below it lies a correlation of nothing at all in 95 of 100 cases (t with 14 degrees of freedom)
CHANCE = 0.497
_WIDEST = 8  # columns of a table that paper has room for


@dataclass(frozen=True)
class Profiles:
    """Runs by stereotypes: `values` has a row for each run, nan where a rate is not there.

    `rows` and `columns` are orders in which neighbours are alike; `likeness` is run by run.
    """

    name: str
    unit: str
    runs: list[Measured]
    values: Floats
    rows: list[int]
    columns: list[int]
    likeness: Floats

    def tables(self) -> Iterator[tuple[str, list[str], list[tuple[str, list[float]]]]]:
        """The numbers of both figures in tables that fit on paper: what they are, headings, a line a run."""
        labels = [run.label for run in self.runs]
        names = [stereotype.name for stereotype in STEREOTYPES.values()]
        for what, headings, values in (
            (self.unit, names, self.values),
            ("Correlations", labels, self.likeness),
        ):
            for first in range(0, len(headings), _WIDEST):
                columns = slice(first, first + _WIDEST)
                own = headings[columns]
                where = f"columns {first + 1} to {first + len(own)} of {len(headings)}"
                yield f"{what}: {where}", own, list(zip(labels, values[:, columns].tolist(), strict=True))

    def packed(self) -> dict[str, Any]:
        """What the page's script draws."""
        places = {row: place for place, row in enumerate(self.rows)}
        rows = [
            {
                "label": run.label,
                "model": short(run.model),
                "language": language_name(run.language),
                "values": json_value(self.values[number].round(4)),
                "place": places[number],
            }
            for number, run in enumerate(self.runs)
        ]
        names = [f"{stereotype.id} {stereotype.name}" for stereotype in STEREOTYPES.values()]
        return {
            "name": self.name,
            "unit": self.unit,
            "stereotypes": names,
            "rows": rows,
            "columns": self.columns,
            "likeness": json_value(self.likeness.round(3)),
        }


def profiles(runs: Sequence[Measured]) -> list[Profiles]:
    """The profiles of models and those of translators, where there are two runs or more of them."""
    found = []
    for symbol, name, unit in (("q", "ln q_i", "ln q_i − its middle"), ("p", "p_i", "p_i − f_m")):
        own = [run for run in runs if all(symbol in part for part in run.templates.values())]
        if len(own) > 1:
            found.append(_profiles(own, symbol, name, unit))
    return found


def _profiles(runs: list[Measured], symbol: str, name: str, unit: str) -> Profiles:
    values = np.array([_centred(list(run.templates.values()), symbol) for run in runs])
    with np.errstate(invalid="ignore", divide="ignore"):
        likeness = np.corrcoef(values).round(12)  # a run is like itself, whatever the last digit says
    return Profiles(name, unit, runs, values, _order(values), _order(values.T), likeness)


def _centred(parts: Sequence[Result], symbol: str) -> Floats:
    """A run's 16 rates around its middle, in the mean over its templates."""

    def rates(part: Result) -> Floats:
        own = np.array(part[symbol], dtype=float)
        sides = np.array([part[f"{symbol}_f"], part[f"{symbol}_m"]], dtype=float)
        if symbol == "q":
            with np.errstate(divide="ignore", invalid="ignore"):
                own, sides = np.log(own), np.log(sides)
        return np.asarray(own - sides.mean())

    values = np.mean([rates(part) for part in parts], axis=0)
    return np.where(np.isfinite(values), values, np.nan)


def _order(values: Floats) -> list[int]:
    """An order of rows in which neighbours are alike: leaves of a tree of average linkage."""
    if len(values) < 3:
        return list(range(len(values)))
    filled = np.nan_to_num(values)
    tree = hierarchy.linkage(pdist(filled), "average", optimal_ordering=True)
    return [int(leaf) for leaf in hierarchy.leaves_list(tree)]
