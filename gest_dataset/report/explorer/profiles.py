"""Profiles: the 16 stereotypes of several runs, each relative to its own middle, and their correlations.

    models         mean over templates of  ln q_i - (ln q_f + ln q_m) / 2
    translators    p_i - f_m

A rate only has a meaning relative to the other rates of its run (section 4.2.1 of Pikuliak et al., 2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

from gest_dataset.measures.measure import Result
from gest_dataset.report.labels import LabelledRun, language_name, short_name
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import json_value

# 95 % of the correlations of 16 unrelated pairs are below it (t with 14 degrees of freedom)
CHANCE = 0.497
_MOST_COLUMNS = 8  # of a table that fits on paper


@dataclass(frozen=True)
class Profiles:
    """Runs by stereotypes: `values` has a row for each run; rates without a value are nan.

    `rows` and `columns` are orders in which similar ones are neighbours; `correlations` is run by run.
    """

    name: str
    unit: str
    runs: list[LabelledRun]
    values: Floats
    rows: list[int]
    columns: list[int]
    correlations: Floats

    def tables(self) -> Iterator[tuple[str, list[str], list[tuple[str, list[float]]]]]:
        """Caption, headings and rows of tables that fit on paper, with all numbers of both figures."""
        labels = [run.label for run in self.runs]
        names = [stereotype.name for stereotype in STEREOTYPES.values()]
        for caption, headings, values in (
            (self.unit, names, self.values),
            ("Correlations", labels, self.correlations),
        ):
            for first in range(0, len(headings), _MOST_COLUMNS):
                columns = slice(first, first + _MOST_COLUMNS)
                last = first + len(headings[columns])
                where = f"columns {first + 1} to {last} of {len(headings)}"
                rows = list(zip(labels, values[:, columns].tolist(), strict=True))
                yield f"{caption}: {where}", headings[columns], rows

    def to_json(self) -> dict[str, Any]:
        """The numbers for the page's script."""
        rows = [
            {
                "label": run.label,
                "model": short_name(run.model),
                "language": language_name(run.language),
                "values": json_value(self.values[number].round(4)),
                "order": self.rows.index(number),
            }
            for number, run in enumerate(self.runs)
        ]
        return {
            "name": self.name,
            "unit": self.unit,
            "stereotypes": [f"{stereotype.id} {stereotype.name}" for stereotype in STEREOTYPES.values()],
            "rows": rows,
            "columns": self.columns,
            "correlations": json_value(self.correlations.round(3)),
        }


def profiles_of(runs: Sequence[LabelledRun]) -> list[Profiles]:
    """The profiles of the models, and those of the translators, if there are at least two runs."""
    found = []
    for symbol, name, unit in (("q", "ln q_i", "ln q_i − its middle"), ("p", "p_i", "p_i − f_m")):
        own = [run for run in runs if all(symbol in part for part in run.templates.values())]
        if len(own) > 1:
            values = np.array([_profile(list(run.templates.values()), symbol) for run in own])
            with np.errstate(invalid="ignore", divide="ignore"):
                correlations = np.corrcoef(values).round(12)  # exactly 1 on the diagonal
            rows, columns = similarity_order(values), similarity_order(values.T)
            found.append(Profiles(name, unit, own, values, rows, columns, correlations))
    return found


def _profile(parts: Sequence[Result], symbol: str) -> Floats:
    """A run's 16 rates relative to its middle, averaged over its templates."""
    centred = []
    for part in parts:
        rates = np.array(part[symbol], dtype=float)
        sides = np.array([part[f"{symbol}_f"], part[f"{symbol}_m"]], dtype=float)
        if symbol == "q":
            with np.errstate(divide="ignore", invalid="ignore"):
                rates, sides = np.log(rates), np.log(sides)
        centred.append(rates - sides.mean())
    values = np.mean(centred, axis=0)
    return np.where(np.isfinite(values), values, np.nan)


def similarity_order(values: Floats) -> list[int]:
    """An order of the rows in which neighbours are similar: the leaves of an average-linkage tree."""
    if len(values) < 3:
        return list(range(len(values)))
    tree = hierarchy.linkage(pdist(np.nan_to_num(values)), "average", optimal_ordering=True)
    return [int(leaf) for leaf in hierarchy.leaves_list(tree)]
