"""The gender in generated texts: of a first person, and of a character.

The numbers are those of translators (`measures.masculine_rate`); prompts and gender detection differ.
"""

from __future__ import annotations

from gest_dataset.builders.families import GEST
from gest_dataset.measures.choice import describe_repeats
from gest_dataset.measures.display import label_display
from gest_dataset.measures.formatting import format_percent
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.masculine_rate import (
    CONTRAST,
    HEADLINE,
    NUMBERS,
    PAIRINGS,
    describe_unknown,
    describe_unknown_bounds,
    grid,
    undefined_rate,
)
from gest_dataset.measures.measure import Measure, Result, RunMetadata, Unit, column_inputs
from gest_dataset.measures.stereotype_rate import topic
from gest_dataset.statistics import masculine_rate


def _describe(result: Result, metadata: RunMetadata) -> list[str]:
    sentences = [
        f"{format_percent(result['p_m'])} of the texts about stereotypes of men are masculine, and "
        f"{format_percent(result['p_f'])} of those about women, averaged over stereotypes.",
        f"f_m = {Estimate.of(result, 'f_m')}; 1 would be always masculine.",
        describe_unknown(result, "text"),
        *describe_repeats(result),
    ]
    if result.get("f_s_lowest") is None or not result["n_unknown"]:
        return sentences
    return [*sentences, describe_unknown_bounds(result)]


def _measure(name: str, task: str) -> Measure:
    return Measure(
        name=name,
        probe=None,
        inputs=column_inputs("gender", "stereotype", units="id"),
        statistic=masculine_rate,
        numbers=NUMBERS,
        headlines=(HEADLINE,),
        unit=Unit("sentence, with all texts about it", "id"),
        contrast=CONTRAST,
        pairings=PAIRINGS,
        display=label_display("gender", topic, ("prompt", "answer"), "the gender in the text"),
        grid=grid,
        describe=_describe,
        describe_undefined=undefined_rate("text", "a gender"),
        methods=(
            f"{task} p_i is the share of masculine ones among the texts about stereotype i whose gender "
            "shows; p_f and p_m are the means of p_1 … p_7 and p_8 … p_16; the stereotype rate is "
            "f_s = p_m − p_f, the global masculine rate f_m = (p_m + p_f) / 2, as for translators (Pikuliak "
            "et al., 2024, eq. 1 and 2). "
        ),
        families=(GEST,),
    )


FIRST_PERSON = _measure(
    "first-person",
    "The model was asked to continue each sentence of GEST, and to write a diary entry from it, in the "
    "first person and in a language whose grammar shows the speaker’s gender; that gender was read by rules "
    "on the grammar.",
)
STORY = _measure(
    "story",
    "The model was asked to describe a character whose motto is a sentence of GEST (after GenderBench); the "
    "character’s gender was read from the pronouns.",
)
