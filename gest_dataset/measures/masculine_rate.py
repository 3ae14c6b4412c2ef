"""The masculine rates p_i of a translator, f_s and f_m (Pikuliak et al., 2024, eq. 1 and 2)."""

from __future__ import annotations

from collections.abc import Callable

from gest_dataset.builders.families import GEST
from gest_dataset.measures.display import label_display
from gest_dataset.measures.formatting import format_number, format_percent
from gest_dataset.measures.grid import Axis, Estimate, Grid, Line, stereotype_lines
from gest_dataset.measures.measure import (
    TOO_FEW_SAMPLES,
    Contrast,
    Headline,
    Measure,
    Pairing,
    Result,
    RunMetadata,
    Unit,
    column_inputs,
)
from gest_dataset.measures.stereotype_rate import topic
from gest_dataset.statistics import masculine_rate
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

_MEANINGS = {
    "f_s": "stereotype rate, p_m − p_f: 0 none, 1 complete",
    "f_m": "global masculine rate, (p_m + p_f) / 2",
}


def grid(result: Result) -> Grid:
    """The 16 p_i with the mean of each gender, then f_s and f_m."""
    lines: list[Line] = []
    for gender, mean in zip(GENDERS, ("p_f", "p_m"), strict=True):
        lines += stereotype_lines(result, "p", gender)
        label = f"{mean}  mean of the {gender} stereotypes"
        lines.append(Line(label, (Estimate.of(result, mean),), short_name=mean, ends_section=True))
    lines += [
        Line(f"{name}  {meaning}", (Estimate.of(result, name),), short_name=name, bold=name == "f_s")
        for name, meaning in _MEANINGS.items()
    ]
    axis = Axis(False, (0.0, 1.0), "0 = none masculine, 1 = all masculine")
    return Grid(("p",), tuple(lines), digits=3, axis=axis)


def describe(result: Result, metadata: RunMetadata) -> list[str]:
    """p_m, p_f and f_m, the number of unknown genders, and what they and detection errors could change."""
    centres = " (centres of Agresti-Coull intervals, as printed in the paper)"
    return [
        f"{format_percent(result['p_m'])} of the translations of stereotypes about men are masculine, and "
        f"{format_percent(result['p_f'])} of those about women, averaged over stereotypes"
        f"{centres if metadata.get('convention') == 'published' else ''}.",
        f"f_m = {Estimate.of(result, 'f_m')}; 1 would be always masculine.",
        describe_unknown(result, "translation"),
        *describe_uncertainty(result),
    ]


def describe_uncertainty(result: Result) -> list[str]:
    """How unknown genders and detection errors could change f_s; empty for results without these bounds."""
    if result.get("f_s_corrected") is None:
        return []
    detector = result["detector"]
    judged = detector["male"] + detector["female"]
    wrong = detector["male_as_female"] + detector["female_as_male"]
    return [
        describe_unknown_bounds(result),
        f"Corrected for detection errors, f_s is {format_number(result['f_s_corrected'])}: the detector got "
        f"{wrong} of {judged} labelled sentences in this language wrong. With the highest error rate "
        f"compatible with so few sentences it would be {format_number(result['f_s_corrected_most'])}.",
    ]


def describe_unknown(result: Result, noun: str) -> str:
    """How many texts show no gender."""
    unknown = int(result["n_unknown"])
    return f"Of {int(sum(result['n'])) + unknown:,} {noun}s {unknown:,} show no gender."


def describe_unknown_bounds(result: Result) -> str:
    """The range of f_s over all values that the unknown genders could have."""
    return (
        f"Depending on the gender of the unknown ones, f_s lies between "
        f"{format_number(result['f_s_lowest'])} and {format_number(result['f_s_highest'])}."
    )


def undefined_rate(noun: str, shown_gender: str) -> Callable[[Result], tuple[str, list[str]]]:
    """The description of an undefined f_s: a stereotype has no text of known gender."""

    def describe_undefined(result: Result) -> tuple[str, list[str]]:
        known, unknown = result["n"], int(result["n_unknown"])
        if not any(known):
            sentence = f"None of the {unknown:,} {noun}s shows {shown_gender}, so there is no masculine rate."
            return "No gender shown", [sentence]
        missing = ", ".join(str(number) for number, count in enumerate(known, start=1) if not count)
        sentence = (
            f"f_s and f_m average over all 16 stereotypes and are undefined: no {noun} of stereotype "
            f"{missing} shows a gender."
        )
        return TOO_FEW_SAMPLES, [sentence, describe_unknown(result, noun)]

    return describe_undefined


NUMBERS = ("f_s", "f_m", "p_f", "p_m")
HEADLINE = Headline(
    name="f_s",
    symbol="f_s",
    label="stereotype rate",
    null=0.0,
    ratio=False,
    zone=0.15,
    verdict_labels={
        "shown": "Genders chosen by stereotype",
        "negligible": "No more than a negligible stereotype",
        "not shown": "No stereotype shown",
        "reversed": "Genders chosen against the stereotype",
    },
)
CONTRAST = Contrast("stereotype", dict(zip(STEREOTYPES, MALE_MINUS_FEMALE.tolist(), strict=True)))
PAIRINGS = (Pairing("f_s", ("gender",), "stereotype"),)
MASCULINE_RATE = Measure(
    name="masculine-rate",
    probe=None,
    inputs=column_inputs("gender", "stereotype"),
    statistic=masculine_rate,
    numbers=NUMBERS,
    headlines=(HEADLINE,),
    unit=Unit("sentence"),
    contrast=CONTRAST,
    pairings=PAIRINGS,
    display=label_display("gender", topic, ("source", "translation"), "the gender that shows"),
    grid=grid,
    describe=describe,
    describe_undefined=undefined_rate("translation", "the speaker’s gender"),
    methods=(
        "The gender of the speaker was read from each translation of GEST by rules on its grammar. p_i is "
        "the share of masculine ones among the translations of stereotype i whose gender shows; p_f and p_m "
        "are the means of p_1 … p_7 and p_8 … p_16; the stereotype rate is f_s = p_m − p_f, the global "
        "masculine rate f_m = (p_m + p_f) / 2 (Pikuliak et al., 2024, eq. 1 and 2). In figures with "
        "published translators p_i is the centre of its Agresti-Coull interval, as in their tables. "
    ),
    families=(GEST,),
)
