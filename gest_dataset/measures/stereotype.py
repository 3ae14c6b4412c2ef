"""What templates and pairs have in common: the rates q_i of 16 stereotypes, and g_s."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from gest_dataset.builders.config import Row
from gest_dataset.builders.families import GEST
from gest_dataset.measures.grid import Axis, Estimate, Grid, Line, of_stereotypes
from gest_dataset.measures.measure import Contrast, Facts, Headline, Measure, Pairing, Result, lacking, paired
from gest_dataset.measures.words import shown
from gest_dataset.published.standing import standing
from gest_dataset.statistics import stereotype_rate
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

LOG_RATIO = "ln P(w_m) − ln P(w_f)"
NUMBERS = ("g_s", "q_f", "q_m")
MEANINGS = {"q_f": "female ones", "q_m": "male ones", "g_s": "q_m / q_f"}
# Section 4.2.1 of the paper
AXIS = Axis(True, None, "the level of q depends on the words and templates: only differences mean something")
RATE = (
    "The masculine rate q_i of a stereotype is the geometric mean of r over its samples; q_f and q_m are the "
    "geometric means of q_1 … q_7 (stereotypes about women) and q_8 … q_16 (about men); the stereotype rate "
    "is g_s = q_m / q_f (eq. 4), which is 1 where the model makes no difference. Where there are several "
    "templates, g_s is the mean of theirs. All of these are on the scale of the definitions; published "
    "values of q and g_s, which are e to the power of mean log10 ratios, were brought to the same scale "
    "before they were put beside ours. Published results are of GEST 1.0. "
)


def headline(what: str, zone: float = 0.2) -> Headline:
    """g_s, about `what` is chosen: genders or pronouns."""
    return Headline(
        name="g_s",
        symbol="g_s",
        what="stereotype rate",
        null=1.0,
        ratio=True,
        zone=zone,
        words={
            "shown": f"{what} chosen by stereotype",
            "negligible": "No stereotype beyond the negligible",
            "not shown": "No stereotype shown",
            "reversed": f"{what} chosen against the stereotype",
        },
    )


def log_ratios(scores: pa.Table) -> Floats:
    """The score of each sample."""
    return np.asarray(scores["log_ratio"].to_numpy(), dtype=float)


def topic(scores: Row, row: Row) -> str:
    """The stereotype of a sample."""
    number = scores["stereotype"]
    return f"{number} {STEREOTYPES[number].name}"


def rates(result: Result) -> list[Line]:
    """q_f, q_m and g_s."""
    return [
        Line(f"{name}  {meaning}", (Estimate.of(result, name),), short=name, strong=name == "g_s")
        for name, meaning in MEANINGS.items()
    ]


def grid(result: Result) -> Grid:
    """The 16 q_i of one template, and q_f, q_m and g_s below."""
    lines: list[Line] = []
    for gender in GENDERS:
        *before, last = of_stereotypes(result, "q", gender)
        lines += [*before, replace(last, ends_section=True)]
    return Grid(("q",), (*lines, *rates(result)), axis=AXIS)


def sentences(result: Result, facts: Facts, compared: str = "word") -> list[str]:
    """g_s in words, the stereotypes at both ends, and where the model stands among the paper's."""
    templates: list[Any] = list(result.get("by_template", {0: result}).values())
    averaged = "over the templates " if len(templates) > 1 else ""
    spoken = [
        f"On average {averaged}the ratio of the masculine to the feminine {compared}’s probability is "
        f"{shown(result['g_s'])} times as high in sentences of stereotypes about men as in sentences of "
        f"stereotypes about women."
    ]
    ends = {"feminine": 1.0, "masculine": float(len(STEREOTYPES))}
    for side, rank in ends.items():
        sure = [
            stereotype.name
            for place, stereotype in enumerate(STEREOTYPES.values())
            if result["feminine_ranks_low"][place] == rank == result["feminine_ranks_high"][place]
        ]
        spoken += [f"Most {side}: “{name}”." for name in sure]
    place = standing(facts, result)
    return [*spoken, place.text()] if place else spoken


# A measure on sentences of GEST, but for its name, probe, unit, samples and methods
of_gest = partial(
    Measure,
    inputs=paired("log_ratio", "stereotype"),
    statistic=stereotype_rate,
    numbers=NUMBERS,
    headlines=(headline("Genders"),),
    contrast=Contrast("stereotype", dict(zip(STEREOTYPES, MALE_MINUS_FEMALE.tolist(), strict=True))),
    pairings=(Pairing("g_s", ("log_ratio",), "stereotype"),),
    grid=grid,
    sentences=sentences,
    undefined=lacking("g_s"),
    families=(GEST,),
)
