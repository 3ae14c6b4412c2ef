"""The masculine rates q_i of 16 stereotypes and the stereotype rate g_s, of templates, pairs and WinoBias.

Pikuliak et al. (2024), sections 4.2 and 4.3 and appendix B.1; neutral sentences after Rowe et al. (2025).
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from gest_dataset.builders.config import Row
from gest_dataset.measures.grid import Grid, Line, number_lines, stereotype_lines
from gest_dataset.measures.measure import Result, load_measure
from gest_dataset.probes import contrasts, templates
from gest_dataset.statistics import stereotype_rate, winobias_rate
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

_MEANINGS = {"q_f": "about women", "q_m": "about men", "g_s": "q_m / q_f", "d": "ln g_s / SD of the scores"}
# Section 4.2.1
_CAPTION = "the level of q depends on the words and templates; only differences are meaningful"


def log_ratios(scores: pa.Table) -> Floats:
    """The score of each sample."""
    return np.asarray(scores["log_ratio"].to_numpy(), dtype=float)


def topic(scores: Row, row: Row) -> str:
    """The number and name of a sample's stereotype."""
    number = scores["stereotype"]
    return f"{number} {STEREOTYPES[number].name}"


def grid(result: Result) -> Grid:
    """The 16 q_i of one template, then q_f, q_m and g_s."""
    lines: list[Line] = []
    for gender in GENDERS:
        *others, last = stereotype_lines(result, gender, "q")
        lines += [*others, replace(last, ends_section=True)]
    return Grid(("q",), (*lines, *number_lines(result, _MEANINGS, "g_s")), _CAPTION)


_gest_measure = partial(load_measure, statistic=stereotype_rate, value=log_ratios, topic=topic, grid=grid)
TEMPLATES = _gest_measure("templates", probe=templates.PROBE)
PAIRS = _gest_measure("pairs", probe=contrasts.PAIRS)
NEUTRAL = _gest_measure("neutral", probe=contrasts.NEUTRAL)
WINOBIAS = load_measure(
    "winobias",
    probe=contrasts.WINOBIAS,
    statistic=winobias_rate,
    value=log_ratios,
    topic=lambda scores, row: f"{scores['occupation_gender']} occupation",
    grid=lambda result: Grid(("value",), tuple(number_lines(result, _MEANINGS, "g_s"))),
)
