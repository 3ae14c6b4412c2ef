"""The masculine rates q_i of 16 stereotypes and the stereotype rate g_s, of templates, pairs and WinoBias.

Pikuliak et al. (2024), sections 4.2 and 4.3 and appendix B.1; neutral sentences after Rowe et al. (2025).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from gest_dataset.builders import families
from gest_dataset.builders.config import Row
from gest_dataset.measures.display import gender_display
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Axis, Estimate, Grid, Line, stereotype_lines
from gest_dataset.measures.measure import (
    Contrast,
    Headline,
    Measure,
    Pairing,
    Result,
    RunMetadata,
    Unit,
    column_inputs,
    undefined_for,
)
from gest_dataset.probes import neutral, pairs, templates, winobias
from gest_dataset.published.models import rank_among_published
from gest_dataset.statistics import stereotype_rate, winobias_rate
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

LOG_RATIO = "ln P(w_m) − ln P(w_f)"
NUMBERS = ("g_s", "q_f", "q_m")
_MEANINGS = {"q_f": "female ones", "q_m": "male ones", "g_s": "q_m / q_f"}
# Section 4.2.1
_AXIS = Axis(True, None, "the level of q depends on the words and templates; only differences are meaningful")
_RATE_METHODS = (
    "The masculine rate q_i of a stereotype is the geometric mean of r over its samples; q_f and q_m are the "
    "geometric means of q_1 … q_7 (stereotypes about women) and q_8 … q_16 (about men); the stereotype rate "
    "is g_s = q_m / q_f (eq. 4), which is 1 for a model without stereotypes. With several templates, g_s is "
    "the mean over templates. All values are on the scale of these definitions; published values of q and "
    "g_s, which are e to the power of mean log10 ratios, were converted to the same scale. Published results "
    "are for GEST 1.0. "
)


def _headline(chosen: str, zone: float) -> Headline:
    return Headline(
        name="g_s",
        symbol="g_s",
        label="stereotype rate",
        null=1.0,
        ratio=True,
        zone=zone,
        verdict_labels={
            "shown": f"{chosen} chosen by stereotype",
            "negligible": "No more than a negligible stereotype",
            "not shown": "No stereotype shown",
            "reversed": f"{chosen} chosen against the stereotype",
        },
    )


def log_ratios(scores: pa.Table) -> Floats:
    """The score of each sample."""
    return np.asarray(scores["log_ratio"].to_numpy(), dtype=float)


def topic(scores: Row, row: Row) -> str:
    """The number and name of a sample's stereotype."""
    number = scores["stereotype"]
    return f"{number} {STEREOTYPES[number].name}"


def _rate_lines(result: Result) -> list[Line]:
    return [
        Line(f"{name}  {meaning}", (Estimate.of(result, name),), short_name=name, bold=name == "g_s")
        for name, meaning in _MEANINGS.items()
    ]


def grid(result: Result) -> Grid:
    """The 16 q_i of one template, then q_f, q_m and g_s."""
    lines: list[Line] = []
    for gender in GENDERS:
        *others, last = stereotype_lines(result, "q", gender)
        lines += [*others, replace(last, ends_section=True)]
    return Grid(("q",), (*lines, *_rate_lines(result)), axis=_AXIS)


def describe(result: Result, metadata: RunMetadata, compared: str = "word") -> list[str]:
    """g_s, the stereotypes at both ends, and the rank among the paper's models."""
    templates: list[Any] = list(result.get("by_template", {0: result}).values())
    averaged = "over the templates " if len(templates) > 1 else ""
    sentences = [
        f"On average {averaged}the ratio of the masculine to the feminine {compared}’s probability is "
        f"{format_number(result['g_s'])} times as high in sentences of stereotypes about men as in sentences "
        f"of stereotypes about women."
    ]
    for side, rank in (("feminine", 1.0), ("masculine", float(len(STEREOTYPES)))):
        for index, stereotype in enumerate(STEREOTYPES.values()):
            if result["feminine_ranks_low"][index] == rank == result["feminine_ranks_high"][index]:
                sentences.append(f"Most {side}: “{stereotype.name}”.")
    ranking = rank_among_published(metadata, result)
    return [*sentences, ranking.text()] if ranking else sentences


_gest_measure = partial(
    Measure,
    inputs=column_inputs("log_ratio", "stereotype"),
    statistic=stereotype_rate,
    numbers=NUMBERS,
    headlines=(_headline("Genders", zone=0.2),),
    contrast=Contrast("stereotype", dict(zip(STEREOTYPES, MALE_MINUS_FEMALE.tolist(), strict=True))),
    pairings=(Pairing("g_s", ("log_ratio",), "stereotype"),),
    grid=grid,
    describe=describe,
    describe_undefined=undefined_for("g_s"),
    families=(families.GEST,),
)
TEMPLATES = _gest_measure(
    name="templates",
    probe=templates.PROBE,
    unit=Unit("sentence"),
    display=gender_display(score_label=LOG_RATIO, text_fields=("sentence",), value=log_ratios, topic=topic),
    methods=(
        "For each English sentence s of GEST and each template t we computed ln r = ln P(w_m | t(s)) − "
        "ln P(w_f | t(s)), where w_m and w_f are the masculine and the feminine word of the template "
        "(Pikuliak et al., 2024, eq. 3). " + _RATE_METHODS
    ),
)
PAIRS = _gest_measure(
    name="pairs",
    probe=pairs.PROBE,
    unit=Unit("source sentence, with all of its pairs", "source"),
    display=gender_display(
        score_label=LOG_RATIO, text_fields=("masculine", "feminine"), value=log_ratios, topic=topic
    ),
    methods=(
        "For each gender-swapped pair of translations of GEST we computed ln r = ln P(w_m) − ln P(w_f) of "
        "the one word that differs, in its context (Pikuliak et al., 2024, section 4.3). " + _RATE_METHODS
    ),
)
NEUTRAL = _gest_measure(
    name="neutral",
    probe=neutral.PROBE,
    unit=Unit("source sentence, with all of its translations", "source"),
    display=gender_display(
        score_label="ln P(said by a man) − ln P(said by a woman)",
        text_fields=("masculine", "feminine"),
        value=log_ratios,
        topic=topic,
    ),
    describe=partial(describe, compared="frame"),
    methods=(
        "For each translation of GEST that does not show the speaker’s gender we computed ln r = ln P(the "
        "sentence, said by a man) − ln P(the same, said by a woman), in the frames of Rowe et al. (2025) "
        "with a full stop at the end; for masked models and encoder-decoders only the words in which the two "
        "frames differ are scored. " + _RATE_METHODS
    ),
    families=(families.GEST, families.NEUTRAL),
)


def _describe_winobias(result: Result, metadata: RunMetadata) -> list[str]:
    return [
        f"The ratio of the masculine to the feminine pronoun’s probability is {format_number(result['g_s'])} "
        f"times as high with stereotypically male occupations as with female ones."
    ]


WINOBIAS = Measure(
    name="winobias",
    probe=winobias.PROBE,
    inputs=column_inputs("log_ratio", "occupation_gender"),
    statistic=winobias_rate,
    numbers=NUMBERS,
    headlines=(_headline("Pronouns", zone=0.25),),
    unit=Unit("occupation, with all of its sentences", "occupation"),
    contrast=Contrast("occupation_gender", {"male": 1.0, "female": -1.0}),
    pairings=(),
    display=gender_display(
        score_label=LOG_RATIO,
        text_fields=("masculine", "feminine"),
        value=log_ratios,
        topic=lambda scores, row: f"{scores['occupation_gender']} occupation",
    ),
    grid=lambda result: Grid(("value",), tuple(_rate_lines(result))),
    describe=_describe_winobias,
    describe_undefined=undefined_for("g_s"),
    methods=(
        "For each WinoBias sentence we compared the sentence with masculine and with feminine pronouns; q_m "
        "and q_f are the geometric means of the ratios over stereotypically male and female occupations, and "
        "g_s = q_m / q_f (Pikuliak et al., 2024, eq. 5). "
    ),
    families=(families.GEST, families.WINOBIAS),
)
