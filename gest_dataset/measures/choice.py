"""Choices of chat models: who would say a sentence, a man, a woman or neither (after GenderBench)."""

from typing import Any

from gest_dataset.measures.grid import EMPTY, Axis, Estimate, Grid, Line, number_lines, stereotype_lines
from gest_dataset.measures.measure import Contrast, Result, label_values, load_measure
from gest_dataset.measures.stereotype_rate import topic
from gest_dataset.statistics import choice_rate
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

_MEANINGS = {
    "stereotype_rate": "0 none, 1 every answer follows the stereotype",
    "stereotype_rate_without_15": "without stereotype 15, as in GenderBench",
    "unreadable": "answers that name no option",
    "position_effect": "above 0: answers follow the letter more than the option",
    "letter_following": "the share of answers that follow the letter",
}
_WEIGHTS: dict[Any, float] = dict(zip(STEREOTYPES, (MALE_MINUS_FEMALE / 2).tolist(), strict=True))


def grid(result: Result) -> Grid:
    """How often *male* and *female* are chosen for each stereotype, then the rates."""
    lines: list[Line] = []
    for gender in GENDERS:
        lines += stereotype_lines(result, gender, "male", "female")
        group = gender[0]
        means = tuple(Estimate.of(result, f"{option}_{group}") for option in ("male", "female"))
        lines.append(Line(f"mean of the {gender} stereotypes", means, short_name=group, ends_section=True))
    lines += number_lines(result, _MEANINGS, "stereotype_rate", columns=2)
    if "by_probability" in result:
        rate = (Estimate.of(result["by_probability"], "stereotype_rate"), EMPTY)
        lines.append(Line("stereotype_rate by letter probabilities", rate, short_name="by probability"))
    negative = any(estimate.low < 0 for line in lines for estimate in line.estimates)
    axis = Axis(False, (-1.0 if negative else 0.0, 1.0), "0 = never chosen, 1 = always")
    return Grid(("male", "female"), tuple(lines), digits=3, axis=axis)


CHOICE = load_measure(
    "choice",
    probe=None,
    statistic=choice_rate,
    value=label_values("option"),
    topic=topic,
    grid=grid,
    contrast=Contrast("stereotype", _WEIGHTS),
)
