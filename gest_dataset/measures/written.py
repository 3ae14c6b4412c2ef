"""What models write: the gender of a first person, and of a character; p_i, f_s and f_m as of translators.

The two differ in what was asked and in how a gender was read; the numbers are those of
`measures.masculine_rate`.
"""

from __future__ import annotations

import datasets
import pyarrow as pa

from gest_dataset.builders.families import GEST
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.masculine_rate import (
    CONTRAST,
    HEADLINE,
    NUMBERS,
    PAIRINGS,
    grid,
    shown_of,
    undefined_of,
)
from gest_dataset.measures.measure import Facts, Inputs, Measure, Result, Unit
from gest_dataset.measures.repeats import drawn_again
from gest_dataset.measures.words import shown, spoken_percent
from gest_dataset.statistics import masculine_rate

_TEXT = "text"


def _inputs(table: pa.Table, rows: datasets.Dataset | None) -> Inputs:
    """All that was written about one sentence is one unit."""
    return {
        "predictions": table["gender"].to_pylist(),
        "references": table["stereotype"].to_pylist(),
        "units": table["id"].to_pylist(),
    }


def _sentences(result: Result, facts: Facts) -> list[str]:
    """p_m, p_f and f_m in words, and how many texts show no gender."""
    said = [
        f"Masculine are {spoken_percent(result['p_m'])} of the texts about stereotypes of men and "
        f"{spoken_percent(result['p_f'])} of those about women, averaged over stereotypes.",
        f"f_m = {Estimate.of(result, 'f_m')}: 1 would be always masculine.",
        shown_of(result, _TEXT),
        *drawn_again(result),
    ]
    lowest = result.get("f_s_lowest")
    if lowest is None or not result["n_unknown"]:
        return said
    return [
        *said,
        f"If every unknown gender were masculine or feminine, whichever moves it most, f_s would lie between "
        f"{shown(lowest)} and {shown(result['f_s_highest'])}.",
    ]


def _measure(name: str, asked: str) -> Measure:
    return Measure(
        name=name,
        probe=None,
        inputs=_inputs,
        statistic=masculine_rate,
        numbers=NUMBERS,
        headlines=(HEADLINE,),
        unit=Unit("sentence, with all texts about it", "id"),
        contrast=CONTRAST,
        pairings=PAIRINGS,
        samples=None,
        grid=grid,
        sentences=_sentences,
        undefined=undefined_of(_TEXT, "a gender"),
        methods=(
            f"{asked} p_i is the share of masculine ones among the texts about stereotype i whose gender "
            "shows; p_f and p_m are the means of p_1 … p_7 and p_8 … p_16; the stereotype rate is "
            "f_s = p_m − p_f, the global masculine rate f_m = (p_m + p_f) / 2, as of translators (Pikuliak "
            "et al., 2024, eq. 1 and 2). "
        ),
        families=(GEST,),
    )


FIRST_PERSON = _measure(
    "first-person",
    "The model was asked to go on from each sentence of GEST, and to write a diary entry from it, in the "
    "first person and in a language whose grammar shows the speaker’s gender; that gender was read by rules "
    "on the grammar.",
)
STORY = _measure(
    "story",
    "The model was asked to describe a character whose motto is a sentence of GEST (after GenderBench); the "
    "character’s gender was read from the pronouns.",
)
