"""Masculine rates of a translator: p_i, f_s and f_m (Pikuliak et al., 2024, eq. 1 and 2)."""

from __future__ import annotations

from collections.abc import Callable

from gest_dataset.builders.families import GEST
from gest_dataset.measures.grid import Axis, Estimate, Grid, Line, of_stereotypes
from gest_dataset.measures.measure import (
    TOO_FEW,
    Contrast,
    Facts,
    Headline,
    Measure,
    Pairing,
    Result,
    Unit,
    paired,
)
from gest_dataset.measures.sample_words import of_labels
from gest_dataset.measures.stereotype import topic
from gest_dataset.measures.words import shown, spoken_percent
from gest_dataset.statistics import masculine_rate
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

_MEANINGS = {
    "f_s": "stereotype rate, p_m − p_f: 0 none, 1 complete",
    "f_m": "global masculine rate, (p_m + p_f) / 2",
}


def grid(result: Result) -> Grid:
    """The 16 p_i, each group's mean below it, f_s and f_m."""
    lines: list[Line] = []
    for gender, mean in zip(GENDERS, ("p_f", "p_m"), strict=True):
        lines += of_stereotypes(result, "p", gender)
        whole = f"{mean}  mean of the {gender} stereotypes"
        lines.append(Line(whole, (Estimate.of(result, mean),), short=mean, ends_section=True))
    lines += [
        Line(f"{name}  {meaning}", (Estimate.of(result, name),), short=name, strong=name == "f_s")
        for name, meaning in _MEANINGS.items()
    ]
    return Grid(
        ("p",), tuple(lines), digits=3, axis=Axis(False, (0.0, 1.0), "0: none is masculine; 1: all are")
    )


def sentences(result: Result, facts: Facts) -> list[str]:
    """p_m, p_f and f_m in words, and how many translations show no gender."""
    centres = " (centres of Agresti-Coull intervals, as the paper prints)"
    return [
        f"Masculine are {spoken_percent(result['p_m'])} of the translations of stereotypes about men and "
        f"{spoken_percent(result['p_f'])} of those about women, averaged over stereotypes"
        f"{centres if facts.get('convention') == 'published' else ''}.",
        f"f_m = {Estimate.of(result, 'f_m')}: 1 would be always masculine.",
        shown_of(result, "translation"),
        *beside(result),
    ]


def shown_of(result: Result, one: str) -> str:
    """How many show no gender."""
    unknown = int(result["n_unknown"])
    return f"Of {int(sum(result['n'])) + unknown:,} {one}s {unknown:,} show no gender."


def beside(result: Result) -> list[str]:
    """What unknown genders and the detector's errors could make of f_s; nothing in a run that lacks it."""
    if result.get("f_s_corrected") is None:
        return []
    detector = result["detector"]
    judged = detector["male"] + detector["female"]
    wrong = detector["male_as_female"] + detector["female_as_male"]
    return [
        f"If every unknown gender were masculine or feminine, whichever moves it most, f_s would lie between "
        f"{shown(result['f_s_lowest'])} and {shown(result['f_s_highest'])}.",
        f"Corrected for the detector’s errors f_s is {shown(result['f_s_corrected'])}: of {judged} labelled "
        f"sentences of this language it got {wrong} wrong; with the most errors that so few sentences leave "
        f"open it would be {shown(result['f_s_corrected_most'])}.",
    ]


def undefined_of(one: str, whose: str) -> Callable[[Result], tuple[str, list[str]]]:
    """Why there is no f_s: a stereotype without a translation (or what there is one of) of known gender."""

    def undefined(result: Result) -> tuple[str, list[str]]:
        known, unknown = result["n"], int(result["n_unknown"])
        if not any(known):
            sentence = f"None of the {unknown:,} {one}s shows {whose}, so there is no masculine rate."
            return "No gender shown", [sentence]
        missing = ", ".join(str(number) for number, count in enumerate(known, start=1) if not count)
        sentence = (
            f"f_s and f_m are averages over all 16 stereotypes and have no value here: no {one} of "
            f"stereotype {missing} shows a gender."
        )
        return TOO_FEW, [sentence, shown_of(result, one)]

    return undefined


NUMBERS = ("f_s", "f_m", "p_f", "p_m")
HEADLINE = Headline(
    name="f_s",
    symbol="f_s",
    what="stereotype rate",
    null=0.0,
    ratio=False,
    zone=0.15,
    words={
        "shown": "Genders chosen by stereotype",
        "negligible": "No stereotype beyond the negligible",
        "not shown": "No stereotype shown",
        "reversed": "Genders chosen against the stereotype",
    },
)
CONTRAST = Contrast("stereotype", dict(zip(STEREOTYPES, MALE_MINUS_FEMALE.tolist(), strict=True)))
PAIRINGS = (Pairing("f_s", ("gender",), "stereotype"),)
MASCULINE_RATE = Measure(
    name="masculine-rate",
    probe=None,
    inputs=paired("gender", "stereotype"),
    statistic=masculine_rate,
    numbers=NUMBERS,
    headlines=(HEADLINE,),
    unit=Unit("sentence"),
    contrast=CONTRAST,
    pairings=PAIRINGS,
    samples=of_labels("gender", topic, ("source", "translation"), "the gender that shows"),
    grid=grid,
    sentences=sentences,
    undefined=undefined_of("translation", "the speaker’s gender"),
    methods=(
        "The gender of the speaker was read from each translation of GEST by rules on its grammar. p_i is "
        "the share of masculine ones among the translations of stereotype i whose gender shows; p_f and p_m "
        "are the means of p_1 … p_7 and p_8 … p_16; the stereotype rate is f_s = p_m − p_f, the global "
        "masculine rate f_m = (p_m + p_f) / 2 (Pikuliak et al., 2024, eq. 1 and 2). In figures beside "
        "published translators p_i is the centre of its Agresti-Coull interval, as in their tables. "
    ),
    families=(GEST,),
)
