"""Checks of the GEST paper on the authors' own scores of single samples (bert-base-uncased and gpt2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from scipy import special

from gest_dataset import published
from gest_dataset.errors import GestError
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.printed.pair import Lacking, Pair, needed
from gest_dataset.studies.profiles import of_files

_SCALES: dict[str, Callable[[float], float]] = {"published": lambda x: float(np.exp(x)), "log10": float}
_BOUNDS = "bounds of print are a little asymmetric, as those of a resampling; ours here are Student's t"


def rates(version: str, table: int, scores: Path | None) -> list[Pair]:
    """q_i and their bounds in print, beside those of the released scores, on the scale of print."""
    try:
        found = {one.name: one for one in of_files(needed(scores))[0]}
    except GestError as error:
        raise Lacking(str(error).splitlines()[0]) from error
    pairs = []
    for row in published.load("gest_of_released_scores")["rows"]:
        if (row["paper"], row["table"]) != (version, table):
            continue
        if row["model"] not in found:
            raise Lacking(f"the scores of {row['model']} are not among the files")
        one = found[row["model"]]
        values = one.scores[row["template"]] / LN10
        for place, number in enumerate(STEREOTYPES):
            own = values[one.stereotypes == place].to_numpy()
            reach = float(
                special.stdtrit(len(own) - 1.0, (1 + LEVEL) / 2) * own.std(ddof=1) / len(own) ** 0.5
            )
            for name, value in (("q", 0.0), ("q_low", -reach), ("q_high", reach)):
                if row[name][place] is not None:
                    what = f"{row['model']}, template {row['template']}, #{number}, {name}"
                    ours = _SCALES[row["scale"]](float(own.mean()) + value)
                    pairs.append(Pair(what, ours, f"{row[name][place]:.2f}", "" if name == "q" else _BOUNDS))
    return pairs


CHECKS: Mapping[str, Callable[[Path | None], list[Pair]]] = {
    "gest-rates-masked": partial(rates, "gest", 9),
    "gest-rates-causal": partial(rates, "gest", 10),
    "gest-first-rates-masked": partial(rates, "gest-first", 7),
    "gest-first-rates-causal": partial(rates, "gest-first", 8),
}
