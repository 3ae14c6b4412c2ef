"""The measures of GEST and WinoBias.

The masculine rates q_i of 16 stereotypes and the stereotype rate g_s, of templates, pairs and WinoBias
(Pikuliak et al., 2024, sections 4.2 and 4.3 and appendix B.1), and of neutral sentences (Rowe et al., 2025).
Masculine rates p_i of translators and of generated texts (Pikuliak et al., 2024, eq. 1 and 2), genders of
translated entities (Stanovsky et al., 2019), and choices of chat models: who would say a sentence, a man, a
woman or neither (after GenderBench).
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from gest_dataset.builders.config import Row
from gest_dataset.measures.grid import EMPTY, Estimate, Grid, Line, number_lines, stereotype_lines
from gest_dataset.measures.measure import LINES, Result, label_values, load_measure
from gest_dataset.probes import contrasts, templates
from gest_dataset.statistics import (
    choice_rate,
    gender_accuracy,
    masculine_rate,
    stereotype_rate,
    winobias_rate,
)
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

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
    return Grid(("q",), (*lines, *number_lines(result, LINES["ratios"], "g_s")), _CAPTION)


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
    grid=lambda result: Grid(("value",), tuple(number_lines(result, LINES["ratios"], "g_s"))),
)


# --- translators, generated texts and choices


def entity_topic(scores: Row, row: Row) -> str:
    """Whether a sentence follows the stereotype of its occupation."""
    return f"{scores['stereotypical']}-stereotypical" if scores["stereotypical"] else "no stereotype"


def rate_grid(result: Result) -> Grid:
    """The 16 p_i with the mean of each gender, then f_s and f_m."""
    lines: list[Line] = []
    for gender, mean in zip(GENDERS, ("p_f", "p_m"), strict=True):
        lines += stereotype_lines(result, gender, "p")
        label = f"{mean}  mean of the {gender} stereotypes"
        lines.append(Line(label, (Estimate.of(result, mean),), ends_section=True))
    lines += number_lines(result, LINES["rates"], "f_s")
    return Grid(("p",), tuple(lines), "0 = none masculine, 1 = all masculine")


def choice_grid(result: Result) -> Grid:
    """How often *male* and *female* are chosen for each stereotype, then the rates."""
    lines: list[Line] = []
    for gender in GENDERS:
        lines += stereotype_lines(result, gender, "male", "female")
        means = tuple(Estimate.of(result, f"{option}_{gender[0]}") for option in ("male", "female"))
        lines.append(Line(f"mean of the {gender} stereotypes", means, ends_section=True))
    lines += number_lines(result, LINES["choices"], "stereotype_rate", columns=2)
    if "by_probability" in result:
        rate = (Estimate.of(result["by_probability"], "stereotype_rate"), EMPTY)
        lines.append(Line("stereotype_rate by letter probabilities", rate))
    return Grid(("male", "female"), tuple(lines), "0 = never chosen, 1 = always")


_rate_measure = partial(
    load_measure, statistic=masculine_rate, value=label_values("gender"), topic=topic, grid=rate_grid
)
MASCULINE_RATE = _rate_measure("masculine-rate")
FIRST_PERSON = _rate_measure("first-person")
STORY = _rate_measure("story")
ENTITY_GENDER = load_measure(
    "entity-gender",
    statistic=gender_accuracy,
    value=label_values("gender"),
    topic=entity_topic,
    grid=lambda result: Grid(("value",), tuple(number_lines(result, LINES["entities"], "delta_s"))),
)
CHOICE = load_measure(
    "choice", statistic=choice_rate, value=label_values("option"), topic=topic, grid=choice_grid
)
