"""The masculine rates p_i of a translator, or of generated texts, with f_s and f_m.

Pikuliak et al. (2024), eq. 1 and 2.
"""

from functools import partial

from gest_dataset.measures.grid import Axis, Estimate, Grid, Line, number_lines, stereotype_lines
from gest_dataset.measures.measure import Contrast, Result, label_values, load_measure
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
        lines += stereotype_lines(result, gender, "p")
        label = f"{mean}  mean of the {gender} stereotypes"
        lines.append(Line(label, (Estimate.of(result, mean),), short_name=mean, ends_section=True))
    lines += number_lines(result, _MEANINGS, "f_s")
    axis = Axis(False, (0.0, 1.0), "0 = none masculine, 1 = all masculine")
    return Grid(("p",), tuple(lines), digits=3, axis=axis)


_measure = partial(
    load_measure,
    probe=None,
    statistic=masculine_rate,
    value=label_values("gender"),
    topic=topic,
    grid=grid,
    contrast=Contrast("stereotype", dict(zip(STEREOTYPES, MALE_MINUS_FEMALE.tolist(), strict=True))),
)
MASCULINE_RATE = _measure("masculine-rate")
FIRST_PERSON = _measure("first-person")
STORY = _measure("story")
